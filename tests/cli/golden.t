#!/usr/bin/env bash
# The golden files, by an independent writer: read, shown, and written again to the byte
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

GOLDEN=$TOP/tests/golden
count=0
for file in "$GOLDEN"/*.bloom "$GOLDEN"/*.cuckoo; do
	name=${file##*/}
	name=${name%.*}
	keys=$GOLDEN/$name.keys
	count=$((count + 1))
	run bloom-query "$file" "$keys"
	same "$keys" "$OUT" "$name: every key is found"
	is "$(cat "$ERR")" "" "$name: quietly"
	run bloom-query "$file" "$GOLDEN/$name.absent"
	is "$(wc -c <"$OUT")" 0 "$name: none that is absent"
	run bloom-query -v "$file" "$GOLDEN/$name.false"
	is "$(wc -c <"$OUT")" 0 "$name: and every false positive, for it is the same rule"
	run bash -c "bloom-query - '$keys' <'$file'"
	same "$keys" "$OUT" "$name: through stdin"
	quietly "$name: sketch-info" sketch-info "$file"
done
ok "there are golden files" test $count -ge 10

checks golden.py

done_testing
