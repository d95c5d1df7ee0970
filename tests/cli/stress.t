#!/usr/bin/env bash
# Many processes on one file: nothing is lost, and whoever reads sees a whole file
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

if long; then
	checks stress.py 25 25 "${STRESS_SECONDS:-60}"
else
	checks stress.py 5 4 3
fi

done_testing
