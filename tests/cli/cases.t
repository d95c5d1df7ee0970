#!/usr/bin/env bash
# Real files, where they lie beside the source tree; their essence is in the other tests
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

if [ ! -d "$CASES/gen" ]; then
	skip "real files" "none beside the source tree"
	done_testing
fi

# ---- each file goes in and comes out; records and distinct lines are counted
for file in "$CASES"/domains/* "$CASES"/unicode/* "$CASES"/gen/*; do
	name=${file##*/}
	# A final newline is added where it is missing.
	cp "$file" whole
	chmod u+w whole
	[ ! -s whole ] || [ "$(tail -c 1 whole | od -An -tx1)" = " 0a" ] || echo >>whole
	records=$(wc -l <whole)
	n=$((records + 1))
	for layout in classic blocked; do
		quietly "$name: $layout: built" bloom-build -L $layout -n $n -p 1e-6 -o f "$file"
		is "$(info f records)" "$records" "$name: $layout: $records records"
		run bloom-query f "$file"
		same whole "$OUT" "$name: $layout: every record is found"
		run bloom-query -v f "$file"
		is "$status $(wc -c <"$OUT")" "1 0" "$name: $layout: none is not"
	done
	# shellcheck disable=SC2002 # a pipe is what is tested
	cat "$file" | bloom-build -L blocked -n $n -p 1e-6 -o g
	same f g "$name: the same from a pipe"
	env -i PATH=/usr/bin:/bin LC_ALL=en_US.UTF-8 "$BIN/bloom-build" -L blocked -n $n -p 1e-6 \
		-o g "$file"
	same f g "$name: the same in another locale and environment"
	LC_ALL=C sort -u "$file" | bloom-build -L blocked -n $n -p 1e-6 -o g
	is "$(cmp -l f g | awk '$1 > 128' | wc -l)" 0 \
		"$name: the same bits from its sorted, distinct lines"
done
for name in boundary_4096.txt long_64k_plus1.txt; do
	bloom-build -n 100 -o f "$CASES/gen/$name"
	dd if="$CASES/gen/$name" bs=1 2>/dev/null | bloom-build -n 100 -o g
	same f g "$name: byte by byte"
done
bloom-build -n 10 -z -o f "$CASES/gen/nul_records.bin"
run bloom-query -z f "$CASES/gen/nul_records.bin"
is "$(tr '\0\n' '|^' <"$OUT")" 'a^b|a^c|a^b||x|' "nul_records.bin: -z"
bloom-build -n 10 -p 1e-9 --crlf -o f "$CASES/gen/crlf_mixed.txt"
ok "crlf_mixed.txt: --crlf: every record found" test \
	"$(bloom-query -v -c --crlf f "$CASES/gen/crlf_mixed.txt")" -eq 0

# ---- a list of one kind against another
bloom-build -n 8335 -p 1e-6 -o mail "$CASES/domains/disposable_email_blocklist.conf"
LC_ALL=C sort "$CASES/domains/adservers.txt" >ads
LC_ALL=C sort -u "$CASES/domains/disposable_email_blocklist.conf" >mails
run bloom-query mail ads
LC_ALL=C join ads mails >want
ok "adservers against the list of mail domains: as join" \
	test "$(cmp -s "$OUT" want; echo $?)" -eq 0 -o "$(diff "$OUT" want | wc -l)" -le 2

# ---- foreign files; those of DCSO that are whole are read (dcso.t)
for file in "$CASES"/golden/*; do
	[ "${file##*/}" != dcso_test.bloom ] || continue
	clean_error "bloom-query ${file##*/}" "${file##*/}" bloom-query "$file" -e x
	clean_error "sketch-info ${file##*/}" "${file##*/}" sketch-info "$file"
	clean_error "sketch-info <${file##*/}" "" bash -c "exec sketch-info - <'$file'"
done

done_testing
