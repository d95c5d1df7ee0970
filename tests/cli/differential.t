#!/usr/bin/env bash
# Random records and options, through all tools that have keys, beside an exact model
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# Rounds of a long run begin where those of every run end: ROUNDS, FIRST.
if long; then
	checks differential.py "${ROUNDS:-5000}" "${FIRST:-21}"
else
	checks differential.py 20
fi

done_testing
