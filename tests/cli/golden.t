#!/usr/bin/env bash
# The golden files, by an independent writer: read, shown, and written again to the byte
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

GOLDEN=$TOP/tests/golden
install -m 600 "$GOLDEN/keyed.key" secret.key
count=0
for file in "$GOLDEN"/*.bloom "$GOLDEN"/*.cuckoo; do
	name=${file##*/}
	name=${name%.*}
	keys=$GOLDEN/$name.keys
	count=$((count + 1))
	key=()
	case $name in *keyed*) key=(--key-file "$PWD/secret.key") ;; esac
	run bloom-query "${key[@]}" "$file" "$keys"
	same "$keys" "$OUT" "$name: every key is found"
	is "$(cat "$ERR")" "" "$name: quietly"
	run bloom-query "${key[@]}" "$file" "$GOLDEN/$name.absent"
	is "$(wc -c <"$OUT")" 0 "$name: none that is absent"
	run bloom-query "${key[@]}" -v "$file" "$GOLDEN/$name.false"
	is "$(wc -c <"$OUT")" 0 "$name: and every false positive, for it is the same rule"
	run bash -c "bloom-query ${key[*]} - '$keys' <'$file'"
	same "$keys" "$OUT" "$name: through stdin"
	quietly "$name: sketch-info" sketch-info "$file"
done
ok "there are golden files" test $count -ge 10

checks golden.py

done_testing
