#!/usr/bin/env bash
# cms-top: the heaviest keys of a stream and of saved sketches
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# The keys 1, 2, ... 2000 of a Zipf stream, its exact counts, and it in any order.
awk 'BEGIN { for (i = 1; i <= 2000; i++) printf "%d\tkey%04d\n", 20000 / i, i }' >zipf.counts
awk -F'\t' 'BEGIN { srand(3) } { for (i = 0; i < $1; i++) print rand() "\t" $2 }' zipf.counts |
	sort | cut -f 2 >zipf
# Keys that come once, and a heavy one that comes last.
{
	seq -f 'once%05.0f' 1 20000
	seq -f 'more%05.0f' 1 20000
	for ((i = 0; i < 500; i++)); do echo late; done
} >churn
for letter in {z..a}; do printf '%s\n%s\n%s\n' "$letter" "$letter" "$letter"; done >ties

# true_bounds FILE STREAM: no line of COUNT LOW HIGH KEY is wrong about the stream
# shellcheck disable=SC2317 # a test runs it
true_bounds()
{
	awk -F'\t' 'NR == FNR { n[$0]++; next }
		$2 > n[$4] || n[$4] > $3 || $1 != $3 {
			print "wrong: " $0 ", truth " n[$4]
			bad = 1
		}
		seen[$4]++ { print "twice: " $4; bad = 1 }
		END { exit bad }' "$2" "$1"
}

# ---- the field's cases
for file in zipf "$CASES/gen/zipf_2000keys.txt"; do
	if [ ! -e "$file" ]; then skip "${file##*/}" "no such file"; continue; fi
	sort "$file" | uniq -c | sort -k1,1nr -k2 | head -n 20 | awk '{ print $1 "\t" $2 }' >want
	run cms-top -k 20 "$file"
	is "$status $(cut -f 2 "$OUT" | sort -u | wc -l)" "0 20" \
		"${file##*/}: twenty different keys"
	is "$(cut -f 2 "$OUT")" "$(cut -f 2 want)" "${file##*/}: the heaviest twenty, in order"
	is "$(paste "$OUT" want | awk '$1 < $3')" "" "${file##*/}: no count below the truth"
	same want "$OUT" "${file##*/}: and at 1 MiB exactly the truth"
	cms-top --size 4KiB --bounds -k 1000 "$file" >bounds
	ok "${file##*/}: in 4 KiB the bounds are true" true_bounds bounds "$file"
done
for file in ties "$CASES/gen/ties.txt"; do
	if [ ! -e "$file" ]; then skip "${file##*/}" "no such file"; continue; fi
	for ((i = 0; i < 10; i++)); do cms-top -k 5 "$file"; done >tens
	is "$(sort -u tens | tr '\n' ' ')" "3	a 3	b 3	c 3	d 3	e " \
		"ties in the order of their bytes, ten times"
done
for file in churn "$CASES/gen/churn_then_heavy.txt"; do
	if [ ! -e "$file" ]; then skip "${file##*/}" "no such file"; continue; fi
	run cms-top -k 10 "$file"
	like "$(head -n 1 "$OUT")" "^[0-9]+	late$" "${file##*/}: the late key is found"
	run cms-top --bounds -k 1000 "$file"
	ok "${file##*/}: its bounds are true" true_bounds "$OUT" "$file"
	cms-top --size 2KiB --bounds -k 1000 "$file" >bounds
	ok "${file##*/}: also in 2 KiB" true_bounds bounds "$file"
	ok "${file##*/}: where it is found, too" grep -q '	late$' bounds
done
printf '%s\n' X X Y Z A B C X X A A A 1 2 3 4 5 6 >mixed
run cms-top -k 3 --bounds mixed
ok "late rare keys: bounds hold" true_bounds "$OUT" mixed
is "$(cut -f 1,4 "$OUT" | tr '\t\n' ': ')" "4:A 4:X 1:1 " "and all is exact"
expect 0 '1\tab\tc\n1\ta\tbc\n' "two fields are not glued together" \
	bash -c "printf 'ab\tc\na\tbc\n' | cms-top -d '\t' -f 1,2 | sort -r"

# ---- how many, in which form
seq 1 12 >twelve
is "$(cms-top twelve | wc -l)" 10 "ten keys by default"
like "$(cms-top --help)" '\[10\]' "as --help says"
is "$(cms-top -k 100 twelve | wc -l)" 12 "all of fewer"
expect 0 '' "-k 0 prints none" cms-top -k 0 twelve
expect 0 '' "nothing of nothing" cms-top
clean_error "-k -1" -1 cms-top -k -1 twelve
clean_error "-k x" x cms-top -k x twelve
clean_error "-n, as head has it: the hint" "'-n' (did you mean '-k'" cms-top -n 20 twelve
clean_error "-k beyond what can be kept" 1e12 cms-top -k 1e12 twelve
expect 0 '1\t\n' "the empty record is a key" bash -c 'echo | cms-top'
expect 0 '2\ta\n' "a last record without its newline counts" bash -c "printf 'a\na' | cms-top"
expect 0 '2\t\377\200\n1\t\001\000\n' "any bytes" \
	bash -c "printf '\377\200\n\001\000\n\377\200\n' | cms-top"
expect 0 '2\ta\n\0001\tb\000' "records that end in NUL" \
	bash -c "printf 'a\n\000b\000a\n\000' | cms-top -z"
expect 0 '2\ta\n' "folded" bash -c "printf 'A\na\n' | cms-top -i"
expect 0 '2\tx\n1\ty\n' "by field; a record without it is skipped" \
	bash -c "printf 'A x\nb x\nc y\nnone\n' | cms-top -f 2"
is "$(cms-top -f 5 twelve 2>&1 | wc -l)" 1 "one message where no record has the field"
awk 'BEGIN { for (i = 0; i < 30000; i++) print i * i % 997 }' >many
sort many | uniq -c | sort -k1,1nr -k2 >want
run cms-top --pad -k 1000 many
same want "$OUT" "--pad is sort | uniq -c | sort -k1,1nr -k2 on exact data"
expect 0 '3\t3\t3\ta\n1\t1\t1\tb\n' "--bounds: COUNT LOW HIGH KEY" \
	bash -c "printf 'a\nb\na\na\n' | cms-top --bounds"
expect 0 '3\ta\n' "--min-share" bash -c "printf 'a\nb\na\na\n' | cms-top --min-share 26%"
expect 0 '3\ta\n1\tb\n' "--min-share: what has it is in" \
	bash -c "printf 'a\nb\na\na\n' | cms-top --min-share 0.25"
clean_error "--min-share 2" 2 cms-top --min-share 2 twelve
# RFC 3629: the first and last of each length; overlong forms, halves of a pair, beyond U+10FFFF.
for bytes in '\302\200' '\337\277' '\340\240\200' '\355\237\277' '\356\200\200' \
	'\357\277\277' '\360\220\200\200' '\364\217\277\277'; do
	# shellcheck disable=SC2059 # a format, for its escapes
	not_ok "$bytes is UTF-8" grep -q key_hex <(printf "$bytes\n" | cms-top --json)
done
for bytes in '\300\200' '\301\277' '\340\237\277' '\355\240\200' '\355\277\277' \
	'\360\217\277\277' '\364\220\200\200' '\365\200\200\200' \
	'\200' '\303' '\343\201' '\360\237\230' '\303a'; do
	# shellcheck disable=SC2059 # a format, for its escapes
	ok "$bytes is not" grep -q key_hex <(printf "$bytes\n" | cms-top --json)
done
like "$(printf '\177\001\n' | cms-top --json)" '"key":"\\u007f\\u0001"' "control bytes are escaped"
clean_error "--json and --pad" exclude cms-top --json --pad twelve
printf 'a"\\\na"\\\n\377\n\303\244\n' | cms-top --json -k 3 >json
# shellcheck disable=SC2016 # the dollars are Python's
ok "--json: an object a line, key or key_hex" "$PYTHON" -c '
import json
rows = [json.loads(line) for line in open("json", encoding="utf-8")]
assert [row["count"] for row in rows] == [2, 1, 1], rows
assert rows[0]["key"] == "a\"\\" and rows[0]["share"] == 0.5, rows
assert rows[0]["low"] == rows[0]["high"] == 2, rows
assert rows[1]["key"] == "\u00e4" and "key_hex" not in rows[1], rows
assert rows[2]["key_hex"] == "ff" and "key" not in rows[2], rows'
expect 0 '10\ta\n7\tb\n' "weights" bash -c "printf 'a 3\nb 7\na 7\nc\nd -\n' | cms-top -f 1 -W 2"
clean_error "a bad weight is named with its record" "record 2" \
	bash -c "printf 'a 3\nb -7\n' | exec cms-top -f 1 -W 2 -o u"
run cms-top --stats many
like "$(cat "$ERR")" "every count exact" "--stats says what is exact"
run cms-top --stats churn
like "$(cat "$ERR")" "any key that counts more than [0-9]+ is among them" "and the floor"

# Every key above the printed floor is listed, whatever the size.
for size in 1KiB 16KiB; do
	for depth in 1 3 7; do
		cms-top -k 1000000 --size $size --depth $depth --stats zipf \
			>listed 2>stats
		floor=$(sed -n 's/.*counts more than \([0-9]*\) is.*/\1/p' stats)
		# More may be tracked than here are keys.
		floor=${floor:-0}
		awk -v floor="$floor" '$1 > floor { print $2 }' zipf.counts | sort >must
		cut -f 2 listed | sort >are
		is "$(comm -23 must are | wc -l)" 0 \
			"$size, $depth rows: every key above $floor is listed"
	done
done
cms-top --size 1KiB --stats churn >.tap/x 2>stats
floor=$(sed -n 's/.*counts more than \([0-9]*\) is.*/\1/p' stats)
ok "churn: a floor below the heavy key's count" test "${floor:-9999}" -lt 500

# ---- saved and asked
expect 0 '2\ta\n1\tb\n' "-o saves, and the list is printed" \
	bash -c "printf 'a\nb\na\n' | cms-top -o s.cms"
expect 0 '2\ta\n1\tb\n' "--query prints it again" cms-top --query s.cms
expect 0 '2\ta\n' "with -k" cms-top -k 1 --query s.cms
expect 0 '2\ta\n1\tb\n' "from standard input" bash -c 'cms-top --query - <s.cms'
expect 0 '2\ta\n' "cms-count reads it" cms-count --query s.cms -e a
cms-count -o count.cms many
run cms-top --pad -k 1000 --query count.cms
same want "$OUT" "and what cms-count saved is listed"
printf 'a\nc\n' | cms-top --append s.cms >.tap/x
is "$(tr '\t\n' ': ' <.tap/x)" "3:a 1:b 1:c " "--append lists the whole"
expect 0 '3\ta\n1\tb\n1\tc\n' "and saves it" cms-top --query s.cms
printf 'a\na\nd\n' | cms-top -o other.cms >.tap/x
expect 0 '5\ta\n1\tb\n1\tc\n1\td\n' "--query twice: their sum" \
	cms-top --query s.cms --query other.cms
clean_error "--query of one twice" "named twice" cms-top --query s.cms --query s.cms
clean_error "-o - has no room for it" "standard output" cms-top -o - many
clean_error "--query takes no operands" query cms-top --query s.cms many
like "$(cat "$ERR")" 'for several, repeat --query, or join them with sketch-merge' "and what helps"
clean_error "nor --files0-from" query cms-top --query s.cms --files0-from many
for option in "-f 1" "-Qf 1" -i --crlf --progress; do
	# shellcheck disable=SC2086 # words
	clean_error "nor $option" "none of their options" cms-top --query s.cms $option
done
quietly "but -z, which ends lines of output" cms-top --query s.cms -z
clean_error "nor a weight" weight cms-top --query s.cms -W 1
clean_error "nor a size" size cms-top --query s.cms --size 1MB
clean_error "nor -o" query cms-top --query s.cms -o u
cms-count --plain -o plain.cms many
clean_error "a plain sketch is refused" plain.cms cms-top --query plain.cms
like "$(cat "$ERR")" "cms-count --query" "with a pointer to cms-count"
clean_error "also to append to" plain.cms cms-top --append plain.cms many
cms-top --width 10 -o ten.cms many >.tap/x
clean_error "sketches that differ" "w differs" cms-top --query s.cms --query ten.cms
bloom-build -n 20 -o b.bloom twelve
clean_error "a filter" "Bloom filter" cms-top --query b.bloom
trouble "a full device" "standard output" bash -c 'cms-top twelve >/dev/full'
cms-top -k 0 -o u twelve
cp u before
trouble "with --append" "standard output" bash -c 'cms-top --append u twelve >/dev/full'
same u before "nothing is counted that nobody saw"
rm u
trouble "an input that is not there: status 2" nowhere cms-top twelve nowhere
is "$(wc -l <"$OUT")" 10 "and the list of the others"
trouble "but nothing is saved" nowhere cms-top -o u twelve nowhere
not_ok "nor made" test -e u

# ---- many runs, one result
sort zipf >sorted
run cms-top -k 50 --size 16KiB --bounds zipf
cp "$OUT" first
run cms-top -k 50 --size 16KiB --bounds zipf
same first "$OUT" "the same input gives the same output"
cms-top -k 50 --size 16KiB --bounds sorted >bounds
ok "in sorted order the bounds are true" true_bounds bounds sorted
is "$(head -n 20 bounds | cut -f 4)" "$(head -n 20 zipf.counts | cut -f 2)" \
	"and the heaviest the same"

# ---- against awk, on the samples
for sample in "$TOP"/samples/*.log; do
	for field in 1 7; do
		awk -v f=$field 'NF >= f { n[$f]++ } END { for (key in n) print n[key] "\t" key }' \
			"$sample" | sort -k1,1nr -k2 | head -n 10 >want
		cms-top -f $field "$sample" >got 2>.tap/x
		is "$(cut -f 1 got)" "$(cut -f 1 want)" \
			"${sample##*/}, field $field: the counts of awk"
		awk -F'\t' 'NR == FNR { n[$2] = $1; next } $2 in n && n[$2] != $1' got want >wrong
		is "$(cat wrong)" "" "${sample##*/}, field $field: and of the same keys"
	done
done

# ---- memory does not grow with the stream
records=1000000 most=60000
! long || records=10000000
sanitized && most=600000
run bash -c "seq $records | command time -f %M cms-top -k 1 2>&1 >.tap/x"
if grep -Eqx "[0-9]+" "$OUT"; then
	ok "$records distinct keys in less than $((most / 1000)) MB" \
		test "$(cat "$OUT")" -lt "$most"
else
	skip "memory" "no time(1)"
fi

done_testing
