#!/usr/bin/env bash
# The recipes of sketch(7) and the examples of the other pages, run as they stand there
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

checks recipes.py
done_testing
