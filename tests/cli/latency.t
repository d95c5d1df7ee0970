#!/usr/bin/env bash
# A record goes out before the next one is waited for
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

checks latency.py

done_testing
