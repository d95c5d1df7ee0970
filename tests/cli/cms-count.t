#!/usr/bin/env bash
# cms-count: running counts, what passes, what is saved and asked, weights, sizes
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

printf 'a\nb\na\n\na\nb\n\n' >list

# ---- annotating, the default
expect 0 '1\ta\n1\tb\n2\ta\n1\t\n3\ta\n2\tb\n2\t\n' "each record with its count" cms-count list
expect 0 '1\ta\n1\tb\n2\ta\n1\t\n3\ta\n2\tb\n2\t\n' "from standard input" \
	bash -c 'cms-count <list'
expect 0 '' "of nothing, nothing" cms-count
expect 0 'a 2\nb 1\nc 3\n' "a count for each different line, in one pass" \
	bash -c "printf 'a\nb\nc\na\nc\nc\n' | cms-count | awk -F'\t' '{ n[\$2] = \$1 }
		END { for (key in n) print key, n[key] }' | sort"
expect 0 '1\ta\n2\ta\n' "a last record without its newline counts and gets one" \
	bash -c 'printf "a\na" | cms-count'
expect 0 '1\ta\377\200b\n1\t\001\000\n2\ta\377\200b\n' "any bytes" \
	bash -c "printf 'a\\377\\200b\n\\001\\000\na\\377\\200b\n' | cms-count"
expect 0 '1\ta\n2\ta\n' "two inputs are two inputs" \
	bash -c 'printf a >one; printf a >two; cms-count one two'
expect 0 '1\ta\0001\tb\0002\ta\000' "records that end in NUL" \
	bash -c "printf 'a\\000b\\000a\\000' | cms-count -z"
printf 'A x\nb x\na y\nnone\n' >fields
expect 0 '1\tA x\n2\tb x\n1\ta y\n0\tnone\n' "by field: a record without it gets 0" \
	cms-count -f 2 fields
expect 0 '1\tA x\n1\tb x\n2\ta y\n1\tnone\n' "folded, the record as it came" \
	cms-count -i -f 1 fields
expect 0 '1\tab\tc\n1\ta\tbc\n' "two fields are not glued together" \
	bash -c "printf 'ab\tc\na\tbc\n' | cms-count -f 1,2"
expect 0 '1\ta\r\n2\ta\n' "--crlf" bash -c "printf 'a\\r\na\n' | cms-count --crlf"
awk 'BEGIN { for (i = 0; i < 30000; i++) print i * i % 997 }' >many
awk '{ print ++n[$0] "\t" $0 }' many >many.want
run cms-count many
same many.want "$OUT" "as awk counts, while there are at most 1000 keys"
run cms-count --stats many
like "$(cat "$ERR")" "every count exact" "and --stats says so"
seq 1 3000 >distinct
run cms-count --stats distinct
like "$(cat "$ERR")" "confidence" "beyond it tells the confidence"
is "$(grep -c exact "$ERR")" 0 "and claims no exactness"

# ---- passing on by count
expect 0 'a\nb\na\n\nb\n\n' "--at-most 2" cms-count --at-most 2 list
expect 0 'a\na\nb\n\n' "--at-least 2" cms-count --at-least 2 list
expect 0 'a\nb\n\n' "both: those between" cms-count --at-least 2 --at-most 2 list
expect 0 '2\ta\n2\tb\n2\t\n' "with the count before" \
	cms-count --at-least 2 --at-most 2 --annotate list
expect 0 'A x\nb x\na y\nnone\n' "a record without the field passes --at-most" \
	cms-count -f 2 --at-most 2 fields
expect 0 'none\n' "also where none may pass" cms-count -f 2 --at-most 0 fields
expect 0 'b x\n' "but does not reach --at-least" cms-count -f 2 --at-least 2 fields
awk 'n[$0]++ < 3' many >want
run cms-count --at-most 3 many
same want "$OUT" "at most three of each, as awk has them"
is "$(cms-count -f 3 list 2>&1 >.tap/x | wc -l)" 1 "one message where no record has the field"

# ---- saving
expect 0 '' "-o is silent" cms-count -o s.cms list
ok "and makes the file" test -s s.cms
expect 0 '1\ta\n1\tb\n2\ta\n1\t\n3\ta\n2\tb\n2\t\n' "with --annotate it is not" \
	cms-count -o t.cms --annotate list
same s.cms t.cms "the file is the same"
expect 0 'a\nb\na\n\nb\n\n' "nor with --at-most" cms-count -o t.cms --at-most 2 list
same s.cms t.cms "which saves every record"
expect 0 'a\na\nb\n\n' "nor with --at-least" cms-count -o t.cms --at-least 2 list
same s.cms t.cms "nor does that change the file"
cms-count -o t.cms <list
same s.cms t.cms "the name of the input is not in it"
is "$(info s.cms records) $(info s.cms total) $(info s.cms exact)" "7 7 true" "sketch-info shows it"
run bash -c 'cms-count -o - list | cat >piped.cms'
same s.cms piped.cms "-o - writes it to standard output"
run cms-count -o s.cms list
for option in --annotate --at-most=3 --at-least=1; do
	clean_error "-o - and $option" "standard output" cms-count -o - "$option" list
done
clean_error "-o - to a full device" "standard output" bash -c 'exec cms-count -o - list >/dev/full'
clean_error "-o and --append" exclude cms-count -o u --append u list
clean_error "an input that is not there" nowhere cms-count -o u list nowhere
cp list own
trouble "the output among the inputs" own cms-count -o own own
same list own "which is not emptied"

# ---- asking
expect 0 '3\ta\n0\tz\n2\t\n' "--query: each key of the input in order" \
	bash -c "printf 'a\nz\n\n' | cms-count --query s.cms"
expect 0 '3\ta\n2\tb\n' "-e, and standard input is not read" \
	bash -c 'cms-count --query s.cms -e a -e b <list'
expect 0 '3\ta\n1\tq\n' "-e and an input" bash -c 'echo q >q; cms-count -o q.cms q;
	cms-count --query s.cms --query q.cms -e a q'
expect 0 '6\ta\n4\tb\n1\tq\n' "several sketches: their sum" bash -c 'cms-count -o 3.cms list;
	cms-count --query s.cms --query 3.cms --query q.cms -e a -e b -e q'
expect 0 '3\t3\t3\ta\n0\t0\t0\tz\n' "--bounds: COUNT LOW HIGH KEY" \
	cms-count --query s.cms --bounds -e a -e z
expect 0 '3\ta\n' "--at-least selects" \
	bash -c 'cms-count --query s.cms --at-least 3 list | uniq | head -1'
expect 0 '3\ta\n' "from standard input" bash -c 'cms-count --query - -e a <s.cms'
expect 0 '1\ta\n' "the saved keys are folded: so are those asked for" \
	bash -c 'echo A | cms-count -i -o f.cms; cms-count --query f.cms -e a'
expect 0 '1\ta\n' "as said by the file, not by -i" bash -c 'cms-count --query f.cms -e A'
cp s.cms copy.cms
ln -s s.cms link.cms
echo 18446744073709551615 | cms-count -W 1 -o most.cms
cp most.cms most2.cms
expect 0 '18446744073709551615\t18446744073709551615\n' "a sum beyond 64 bits is the most" \
	cms-count --query most.cms --query most2.cms -e 18446744073709551615
clean_error "a sketch named twice" "named twice" cms-count --query s.cms --query link.cms -e a
expect 0 '6\ta\n' "but not its copy" cms-count --query s.cms --query copy.cms -e a
clean_error "-i against a sketch that does not fold" ignore-case cms-count -i --query s.cms -e a
clean_error "sketches that fold and do not" ignore-case cms-count --query s.cms --query f.cms -e a
cms-count -s 3 -o seeded.cms list
clean_error "sketches of other seeds" seed cms-count --query s.cms --query seeded.cms -e a
expect 0 '3\ta\n' "a seed comes from the file" cms-count --query seeded.cms -e a
cms-count --plain --width 20 --depth 2 -o p.cms list
expect 0 '6\ta\n' "other sizes and plain ones can be asked together" \
	cms-count --query s.cms --query p.cms -e a
bloom-build -n 10 -o b.bloom list
clean_error "a filter is no sketch of counts" "Bloom filter" cms-count --query b.bloom -e a
clean_error "and counts are no filter" "count-min sketch" bloom-query s.cms list
clean_error "what no count can be" "--at-least 5 and --at-most 3" \
	cms-count --at-least 5 --at-most 3 list
expect 0 'a\nb\n\n' "equal they may be" cms-count --at-most 2 --at-least 2 list
printf '1 "GET /x y" 200 17\n' >quoted
clean_error "a field moved by quotes is no weight" '(fields in quotes? see -Q)' \
	cms-count -f 1 -W 3 -o u quoted
expect 0 '17\t1\n' "-Q is what helps" bash -c 'cms-count -Qf 1 -W 4 quoted | cut -c 1-4'
clean_error "with -Q there is no hint" "'200a' is no weight from 0 to 2^64 - 1" \
	bash -c 'cms-count -Qf 1 -W 3 -o u < <(sed s/200/200a/ quoted)'
not_ok "of any kind" grep -q 'see -Q' "$ERR"
clean_error "--query and -o, which joins" sketch-merge cms-count --query s.cms -o u list
cms-count -Qf 2 -o requests.cms quoted
expect 0 '1\t"GET /x y"\n' "a key in quotes is asked for with them" \
	cms-count --query requests.cms -e '"GET /x y"'
clean_error "--query and -o" query cms-count --query s.cms -o u list
clean_error "--query and --append" query cms-count --query s.cms --append u list
clean_error "--query and --annotate" annotate cms-count --query s.cms --annotate list
clean_error "--query and --at-most" at-most cms-count --query s.cms --at-most 3 list
clean_error "--query and --plain" plain cms-count --query s.cms --plain list
clean_error "--query and -W" weight cms-count --query s.cms -W 1 list
clean_error "--query and a size" size cms-count --query s.cms --width 3 list
clean_error "--query and a seed" seed cms-count --query s.cms -s 3 list
clean_error "-e without --query" key cms-count -e a
clean_error "--bounds without --query" bounds cms-count --bounds list

# ---- sizes
shape() # NAME W D OPTION...
{
	local name=$1 w=$2 d=$3
	shift 3
	run cms-count "$@" -o shape.cms list
	is "$status $(cat "$ERR") $(info shape.cms w) $(info shape.cms d)" "0  $w $d" "$name"
}
shape "1 MiB of three rows is the default" 87381 3
shape "--size" 5461 3 --size 64KiB
shape "--size in decimal" 833333 3 --size 10MB
shape "--size and --depth" 3276 5 --size 64KiB --depth 5
shape "--width and --depth" 7 64 --width 7 --depth 64
shape "--width alone has three rows" 1000 3 --width 1k
shape "--epsilon alone has three rows" 2719 3 --epsilon 0.1%
shape "--delta alone has one MiB" 37449 7 --delta 0.001
while IFS=, read -r epsilon delta w d; do
	shape "--epsilon $epsilon --delta $delta" "$w" "$d" --epsilon "$epsilon" --delta "$delta"
done <<'END'
0.001,0.001,2719,7
0.05,0.01,55,5
0.001,0.002,2719,7
0.01,0.05,272,3
0.2,0.317310508,14,2
0.1,0.045500264,28,4
0.05,0.002699796,55,6
0.01,0.01,272,5
0.0001,0.00001,27183,12
0.5,0.5,6,1
0.999999999,0.999999,3,1
END
clean_error "--size and --epsilon" size cms-count --size 1MB --epsilon 0.1 list
clean_error "--size and --width" size cms-count --size 1MB --width 10 list
clean_error "--epsilon and --width" epsilon cms-count --epsilon 0.1 --width 10 list
clean_error "--delta and --depth" delta cms-count --delta 0.1 --depth 10 list
clean_error "--size below a cell a row" size cms-count --size 8B list
clean_error "--depth 65" 65 cms-count --depth 65 list
clean_error "--depth 0" 0 cms-count --depth 0 list
clean_error "--width 0" 0 cms-count --width 0 list
clean_error "--epsilon 1" 1 cms-count --epsilon 1 list
clean_error "--delta 0" 0 cms-count --delta 0 list
clean_error "--size 6M has two meanings" 6M cms-count --size 6M list
clean_error "a table beyond any memory" "" cms-count --width 4294967296 --depth 1073741824 list
clean_error "a table beyond this machine" bytes cms-count --width 1e15 --depth 64 list
clean_error "a product beyond 2^64" bytes cms-count --width 1e18 --depth 64 list

# ---- weights
printf 'a 4294967295\na 1\n' >w
expect 0 '4294967295\ta 4294967295\n4294967296\ta 1\n' "a count beyond 32 bits" \
	cms-count -f 1 -W 2 w
expect 0 '4294967295\ta 4294967295\n4294967296\ta 1\n' "in a plain table, too" \
	cms-count --plain -f 1 -W 2 w
expect 0 '4294967294\ta 4294967294\n4294967296\ta 2\n' "a step of two across the largest" \
	bash -c "printf 'a 4294967294\na 2\n' | cms-count --plain --width 3 -f 1 -W 2"
cms-count --plain --width 3 -f 1 -W 2 -o full.cms <<<'a 4294967295'
is "$(info full.cms cell) $(cms-count --query full.cms -e a)" "32 4294967295	a" \
	"a cell at its largest is no error"
cms-count --append full.cms <<<a
is "$(info full.cms cell) $(cms-count --query full.cms -e a)" "64 4294967296	a" \
	"one more widens all"
for plain in "" --plain; do
	run bash -c "printf 'foo 10\nbar 42\n' |
		cms-count $plain --width 2 --depth 2 -f 1 -W 2 -o 22.cms --annotate"
	is "$(awk -F'\t' '{ split($2, f, " "); if ($1 < f[2]) print }' "$OUT")" "" \
		"width 2, depth 2 $plain: no echo below the truth"
	is "$(tail -n 1 "$OUT" | cut -f 1)" "$(cms-count --query 22.cms -e bar | cut -f 1)" \
		"width 2, depth 2 $plain: the echo is what a query says"
done
expect 0 '3000000000\tx 3000000000\n6000000000\tx 3000000000\n' "a total beyond 2^31 and 2^32" \
	bash -c "printf 'x 3000000000\nx 3000000000\n' | cms-count -f 1 -W 2 -o big.cms --annotate"
is "$(info big.cms total)" 6000000000 "which sketch-info shows"
printf 'a 9223372036854775808\nb 9223372036854775808\n' >w
clean_error "2^63 twice is refused with its record" "record 2" cms-count -o u -f 1 -W 2 w
cms-count -f 1 -W 2 -o half.cms <<<'a 9223372036854775808'
cms-count -f 1 -W 2 -o half2.cms <<<'b 9223372036854775808'
clean_error "and when sketches are added up" "2^64" sketch-merge -o u half.cms half2.cms
for bad in x 1x -1 +1 1.5 1e3 0x10 18446744073709551616 nan; do
	printf 'a 1\n\na 1\na %s\na 1\n' "$bad" >w
	clean_error "the weight $bad: record 4, and nothing is saved" "record 4" \
		cms-count -o u -f 1 -W 2 w
	ok "the weight $bad is shown" grep -qF "'$bad'" "$ERR"
done
cms-count -o kept.cms list
cp kept.cms kept.before
clean_error "a bad weight leaves the file of --append" "record 4" \
	cms-count --append kept.cms -f 1 -W 2 w
same kept.before kept.cms "as it was"
expect 0 '5\ta 5\n5\ta -\n5\ta 0\n0\ta\n6\ta 1\n' "'-' is 0, no weight no record" \
	bash -c "printf 'a 5\na -\na 0\na\na 1\n' | cms-count -f 1 -W 2"
expect 0 '18446744073709551615\ta 18446744073709551615\n' "the largest weight" \
	bash -c 'echo a 18446744073709551615 | cms-count -f 1 -W 2'
expect 0 '7\ta:7\n9\ta:2\n' "by the same delimiter" \
	bash -c "printf 'a:7\na:2\n' | cms-count -d : -f 1 -W 2"
expect 0 '7\ta 7\n2\ta 2\n14\ta 7\n' "without -f the key is the record" \
	bash -c "printf 'a 7\na 2\na 7\n' | cms-count -W 2"
clean_error "-W 0" 0 cms-count -W 0 list

# ---- appending
split -n r/3 many part.
cms-count --plain -o whole.cms many
for part in part.??; do cms-count --plain --append parts.cms "$part"; done
same whole.cms parts.cms "plain: three runs make the file of one"
awk 'BEGIN { srand(5); for (i = 0; i < 40000; i++) print int(4000 * rand() ^ 3) }' >skewed
split -n l/4 skewed piece.
for piece in piece.??; do cms-count --width 500 --append c.cms "$piece"; done
is "$(info c.cms total) $(info c.cms records)" "40000 40000" \
	"conservative: the total is that of all"
sort skewed | uniq -c | awk '{ print $2 "\t" $1 }' >truth
cut -f 1 truth | cms-count --query c.cms --bounds >bounds
is "$(paste truth bounds | awk '$3 < $2 || $5 < $2' | wc -l)" 0 "and no count is below the truth"
clean_error "--append against the file's w" w cms-count --append c.cms --width 501 list
cms-count --depth 5 --width 1000 -o five.cms list
quietly "--append: what was not asked for is the file's" \
	cms-count --append five.cms --width 1000 list
quietly "--append: nor the width, where the depth is given" \
	cms-count --append five.cms --depth 5 list
clean_error "--append against the file's d" d cms-count --append five.cms --depth 4 list
clean_error "against its d" d cms-count --append c.cms --depth 2 list
clean_error "against its seed" seed cms-count --append c.cms -s 1 list
clean_error "against its update rule" plain cms-count --append c.cms --plain list
clean_error "against its folding" ignore-case cms-count --append c.cms -i list
cp parts.cms plain2.cms
quietly "a plain file stays plain" cms-count --append plain2.cms list
is "$(info plain2.cms update)" plain "as it says"
: >fresh.cms
quietly "an empty file is one to be made" cms-count --append fresh.cms list
same s.cms fresh.cms "as if it was not there"
clean_error "--no-wait needs --append" no-wait cms-count --no-wait list
pids=()
for _ in 1 2 3 4; do
	cms-count --append many.cms <(seq 1 500) &
	pids+=($!)
done
wait "${pids[@]}"
seq 1 500 | cms-count --query many.cms | cut -f 1 | sort -u >got
is "$(info many.cms total) $(cat got)" "2000 4" \
	"four appenders at a time lose nothing"

# ---- signals, damage, disks
mkfifo pipe
cms-count --append sig.cms <pipe >.tap/x 2>&1 &
pid=$!
{ printf 'a\na\n'; sleep 0.3; kill -TERM "$pid"; sleep 0.2; } >pipe
wait "$pid"
is "$? $(cms-count --query sig.cms -e a)" "143 2	a" "TERM: what was counted is saved"
cp s.cms damaged.cms
printf '\377' | dd of=damaged.cms bs=1 seek=9000 conv=notrunc 2>/dev/null
head -c 5000 s.cms >short.cms
{ cat s.cms; echo; } >long.cms
for file in damaged.cms short.cms long.cms list; do
	clean_error "$file: --query" "$file" cms-count --query "$file" -e a
	clean_error "$file: --append" "$file" cms-count --append "$file" list
	clean_error "$file: cms-top" "$file" cms-top --query "$file"
	clean_error "$file: sketch-merge" "$file" sketch-merge -o u s.cms "$file"
	clean_error "$file: sketch-info" "$file" sketch-info "$file"
done
trouble "a full device" "standard output" bash -c 'cms-count list >/dev/full'
trouble "a closed standard output" "standard output" bash -c 'cms-count list >&-'
mkdir small
cp s.cms small/f
starved 100 cms-count --append small/f list
is "$status $(wc -l <"$ERR") $(find small -mindepth 1)" "2 1 small/f" \
	"a limit of file size: one message, nothing left"
same s.cms small/f "and the old file"
run bash -c 'yes | cms-count | head -n 1'
is "$status $(cat "$OUT" "$ERR")" "0 1	y" "a reader that leaves ends it quietly"

# ---- memory does not grow with the stream
records=1000000 most=60000
! long || records=10000000
sanitized && most=600000
run bash -c "seq $records | command time -f %M cms-count --at-least 1000000 2>&1"
if grep -Eqx "[0-9]+" "$OUT"; then
	ok "$records distinct keys in less than $((most / 1000)) MB" \
		test "$(cat "$OUT")" -lt "$most"
else
	skip "memory" "no time(1)"
fi

checks cms.py

done_testing
