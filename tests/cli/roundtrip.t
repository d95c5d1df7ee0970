#!/usr/bin/env bash
# Every key that went in is found after saving and loading, in another process
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

for count in 0 1 1000000; do
	seq 1 $count >keys
	for layout in classic blocked; do
		quietly "$layout: $count keys are built" \
			bloom-build -L $layout -n 1M -o f.bloom keys
		run bloom-query f.bloom keys
		same keys "$OUT" "$layout: all $count are found"
		is "$(info f.bloom records)" "$count" "$layout: and counted"
	done
done

checks roundtrip.py

done_testing
