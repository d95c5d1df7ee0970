#!/usr/bin/env bash
# kill -9 at random moments of all that saves: the old file or the new one, whole
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

checks kill.py

done_testing
