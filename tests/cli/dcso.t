#!/usr/bin/env bash
# Filters that DCSO's bloom writes: asked without conversion, never written
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

checks dcso.py

golden=$CASES/golden
if [ -e "$golden/dcso_test.bloom" ]; then
	expect 0 'foo\nbar\nbaz\n' "a published file: its keys" \
		bloom-query "$golden/dcso_test.bloom" "$golden/dcso_test-input.txt"
	expect 1 '' "and no others" bash -c "seq 20000 | bloom-query '$golden/dcso_test.bloom'"
	trouble "the same compressed" "gzip -dc" bloom-query "$golden/dcso_test.bloom.gz" -e foo
	expect 0 'foo\n' "and through gzip" \
		bash -c "gzip -dc '$golden/dcso_test.bloom.gz' | bloom-query - -e foo -e fo"
else
	skip "a published file" "it is not there"
fi

done_testing
