#!/usr/bin/env bash
# hll-count: the number, its bounds, what is saved, added to, asked and joined
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

printf 'a\nb\na\n\na\nb\n\n' >list

# ---- counting
expect 0 '3\n' "distinct records, the empty one among them" hll-count list
expect 0 '3\n' "from standard input" bash -c 'hll-count <list'
expect 0 '0\n' "of nothing, none" hll-count
expect 0 '1\n' "an empty record is one" bash -c 'echo | hll-count'
expect 0 '1\n' "a last record without its newline is the same" bash -c 'printf "a\na" | hll-count'
expect 0 '2\n' "any bytes" bash -c "printf 'a\\377\\000b\na\\377\\000c\na\\377\\000b\n' | hll-count"
expect 0 '1\n' "several inputs are one stream, and records do not span them" \
	bash -c 'printf a >one; printf a >two; hll-count one two'
expect 0 '3\n' "--files0-from" bash -c "printf 'list\\0one\\0' | hll-count --files0-from=-"
expect 0 '2\n' "records that end in NUL" \
	bash -c "printf 'a\\000b\na\\000a\\000' | hll-count -z"
printf 'A x\nb x\na y\nnone\n' >fields
expect 0 '2\n' "by field: a record without it is no key" hll-count -f 2 fields
expect 0 '4\n' "the first field" hll-count -f 1 fields
expect 0 '3\n' "folded" hll-count -i -f 1 fields
expect 0 '1\n' "--crlf" bash -c "printf 'a\\r\na\n' | hll-count --crlf"
expect 0 '2\n' "by a delimiter" bash -c "printf 'a:1\nb:2\nb:3\n' | hll-count -d : -f 1"
is "$(hll-count -f 3 list 2>&1 >.tap/x)" "hll-count: no record has field 3" \
	"one message where no record has the field"
for n in 1 10 1000 2047 2048; do
	expect 0 "$n\n" "$n distinct lines, each twice" bash -c "{ seq $n; seq $n; } | hll-count"
done
while read -r file; do
	[ -e "$CASES/$file" ] || continue
	is "$(hll-count "$CASES/$file")" "$(sort -u "$CASES/$file" | wc -l)" \
		"$file: as sort -u says"
done <<'END'
gen/case.txt
gen/bom.txt
gen/ties.txt
gen/crlf_mixed.txt
gen/latin1_vs_utf8.bin
gen/zipf_2000keys.txt
unicode/blns.txt
END

# ---- the estimate: no farther than five standard errors, and its bounds around it
within() # NAME TRUTH ERROR OPTION...
{
	local name=$1 truth=$2 error=$3 got low high
	shift 3
	run bash -c "seq $truth | hll-count --bounds $*"
	read -r got low high <"$OUT"
	ok "$name" awk -v n="$truth" -v g="$got" -v l="$low" -v h="$high" -v e="$error" 'BEGIN {
		off = g / n - 1
		exit !((off < 0 ? -off : off) < 5 * e && l < g && g < h &&
			h / l > exp(2 * e) && h / l < exp(4.1 * e)) }'
}
within "100000 lines" 100000 0.0081
within "a million lines" 1000000 0.0081
within "--precision 10" 100000 0.0324 --precision 10
within "--precision 4" 10000 0.26 --precision 4
within "--precision 18" 300000 0.0017 --precision 18
within "--error 0.5%" 300000 0.0041 --error 0.5%
within "another seed" 100000 0.0081 --seed 9
expect 0 '2\t2\t2\n' "--bounds of what is exact" bash -c 'seq 2 | hll-count --bounds'
run bash -c 'seq 5000 | hll-count --json'
ok "--json" "$PYTHON" -c '
import json, sys
facts = json.load(open(sys.argv[1]))
names = "distinct low high confidence error exact records precision"
assert list(facts) == names.split(), facts
assert facts["low"] < facts["distinct"] < facts["high"] and facts["confidence"] == 0.95, facts
assert 0.005 < facts["error"] < 0.0081 and facts["exact"] is False, facts
assert facts["records"] == 5000 and facts["precision"] == 14, facts' "$OUT"
is "$(seq 2 | hll-count --json | cut -d , -f 1-6)" \
	'{"distinct":2,"low":2,"high":2,"confidence":0.95,"error":0,"exact":true' \
	"--json of what is exact"
seq 2 >two
is "$(hll-count --stats two 2>&1 >.tap/x)" "hll-count: 2 records, 4 bytes, 1 input, 0 without key
hll-count: 2 distinct keys, exact" "--stats"
seq 5000 | hll-count --stats 2>stats >.tap/x
like "$(cat stats)" "about [0-9]+ distinct keys, standard error 0\.[0-9]* %," "--stats"
like "$(cat stats)" "with confidence 0\.95 from [0-9]+ to [0-9]+$" \
	"--stats of an estimate has its error and bounds"

# ---- sizes
shape() # OPTION PRECISION
{
	run hll-count "$1" -o shape.hll list
	is "$status $(cat "$ERR") $(info shape.hll precision)" "0  $2" "$1: precision $2"
}
shape --precision=4 4
shape --precision=21 21
shape --error=1% 14
shape --error=0.01 14
shape --error=0.8% 15
shape --error=2% 12
shape --error=30% 4
shape --error=0.1% 21
clean_error "--precision 3" 3 hll-count --precision 3 list
clean_error "--precision 22" 22 hll-count --precision 22 list
clean_error "--precision 14x" 14x hll-count --precision 14x list
clean_error "--error 0" 0 hll-count --error 0 list
clean_error "--error 1 is no percent" 1 hll-count --error 1 list
clean_error "--error 0.01% cannot be kept, and what can is said" 0.0716 hll-count --error 0.01% list
clean_error "--error and --precision" precision hll-count --error 1% --precision 14 list

# ---- saving
expect 0 '3\n' "-o prints the number, too" hll-count -o s.hll list
expect 0 '' "-q does not" hll-count -q -o t.hll list
same s.hll t.hll "the file is the same"
is "$(info s.hll records) $(info s.hll distinct) $(info s.hll exact)" "7 3 true" \
	"sketch-info shows it"
hll-count -q -o t.hll <list
same s.hll t.hll "the name of the input is not in it"
run bash -c 'hll-count -o - list | cat >piped.hll'
same s.hll piped.hll "-o - writes it to standard output, and no number"
for option in --bounds --json; do
	clean_error "-o - and $option" "standard output" hll-count -o - "$option" list
done
clean_error "-q alone" quiet hll-count -q list
clean_error "-q and --json" quiet hll-count -q --json -o u list
clean_error "--bounds and --json" bounds hll-count --bounds --json list
clean_error "-o and --append" exclude hll-count -o u --append u list
clean_error "-o to a full device" "standard output" bash -c 'exec hll-count -o - list >/dev/full'
clean_error "an input that is not there" nowhere hll-count -o u list nowhere
clean_error "nor is the number of a part printed" nowhere hll-count list nowhere
cp list own
trouble "the output among the inputs" own hll-count -o own own
same list own "which is not emptied"
run hll-count -o deep/x list
is "$status" 2 "a folder that is not there"

# ---- however it was cut, ordered, merged: one file
for n in 500 2048 2049 60000; do
	seq $n | awk 'BEGIN { srand(3) } { print; if (rand() < 0.4) print }' >stream
	hll-count -q -o whole.hll stream
	sort -r stream | hll-count -q -o other.hll
	same whole.hll other.hll "$n keys: in another order the same file"
	split -n r/5 stream part.
	rm -f parts.hll
	for part in part.a?; do
		hll-count -q --append parts.hll "$part"
		hll-count -q -o "$part.hll" "$part"
	done
	same whole.hll parts.hll "$n keys: five runs of --append make the file of one"
	quietly "$n keys: five shards" sketch-merge -o sum.hll part.a?.hll
	same whole.hll sum.hll "are the file of the whole, byte for byte"
	run sketch-merge -o sum.hll part.ad.hll part.aa.hll part.ae.hll part.ac.hll part.ab.hll
	same whole.hll sum.hll "in any order"
	run bash -c 'sketch-merge part.aa.hll - part.a[cde].hll <part.ab.hll >sum.hll'
	same whole.hll sum.hll "through pipes"
	queries=(--query part.aa.hll --query part.ab.hll --query part.ac.hll --query part.ad.hll)
	is "$(hll-count --bounds "${queries[@]}" --query - <part.ae.hll)" \
		"$(hll-count --bounds --query whole.hll)" \
		"--query of all gives the number of the whole"
	rm -f part.a*
done
seq 100 >hundred
hll-count -q -o a.hll hundred
hll-count -q -o b.hll <(seq 51 150)
expect 0 '150\n' "what both have is one key" hll-count --query a.hll --query b.hll
expect 0 '100\n' "a sketch named twice is one" hll-count --query a.hll --query a.hll
quietly "sketch-merge of a file with itself" sketch-merge -o a2.hll a.hll a.hll
is "$(info a2.hll distinct) $(info a2.hll records)" "100 200" "has its keys, and twice its records"
quietly "sketch-merge onto an input" sketch-merge -o a2.hll a2.hll b.hll
is "$(info a2.hll distinct)" 150 "is right"
run sketch-merge --stats -o u.hll a.hll b.hll
like "$(cat "$ERR")" "2 files, 200 records" "--stats: the files"
like "$(cat "$ERR")" "150 distinct keys, exact" "--stats: the number"
rm u.hll

# ---- asking
expect 0 '3\n' "--query" hll-count --query s.hll
expect 0 '3\t3\t3\n' "with --bounds" hll-count --bounds --query s.hll
expect 0 '3\n' "from standard input" bash -c 'hll-count --query - <s.hll'
clean_error "--query and an input" inputs hll-count --query s.hll list
like "$(cat "$ERR")" 'for several, repeat --query, or join them with sketch-merge' "and what helps"
clean_error "--query and -o, which joins" sketch-merge hll-count --query s.hll -o u
clean_error "--query and --files0-from" inputs hll-count --query s.hll --files0-from=list
clean_error "--query and -f" inputs hll-count --query s.hll -f 1
clean_error "--query and -i" inputs hll-count --query s.hll -i
clean_error "--query and -o" query hll-count --query s.hll -o u
clean_error "--query and --append" query hll-count --query s.hll --append u
clean_error "--query and a precision" precision hll-count --query s.hll --precision 14
clean_error "--query and a seed" seed hll-count --query s.hll -s 0
hll-count -q -o p12.hll --precision 12 list
hll-count -q -o seeded.hll -s 3 list
hll-count -q -o folded.hll -i list
cms-count -o c.cms list
bloom-build -n 10 -o f.bloom list
for case in "p12.hll precision" "seeded.hll seed" "folded.hll ignore-case" \
	"c.cms count-min" "f.bloom Bloom"; do
	clean_error "another ${case#* }: --query" "${case#* }" \
		hll-count --query s.hll --query "${case% *}"
	clean_error "another ${case#* }: sketch-merge" "${case#* }" \
		sketch-merge -o u s.hll "${case% *}"
done
clean_error "a filter cannot be asked with one" HyperLogLog bloom-query s.hll list
clean_error "nor counts" HyperLogLog cms-count --query s.hll -e a
clean_error "nor be merged with it" HyperLogLog sketch-merge -o u f.bloom s.hll

# ---- appending
quietly "--append: precision and seed of the file" hll-count -q --append p12.hll hundred
is "$(info p12.hll precision)" 12 "as it was"
quietly "--append: the same that it has" hll-count -q --append p12.hll --precision 12 -s 0 list
clean_error "--append against its precision" precision \
	hll-count --append p12.hll --precision 13 list
clean_error "--append: --error that asks for another" precision \
	hll-count --append p12.hll --error 1% list
clean_error "--append against its seed" seed hll-count --append seeded.hll -s 4 list
clean_error "--append against its folding" ignore-case hll-count --append s.hll -i list
expect 0 '4\n' "one that folds goes on folding" bash -c 'echo C | hll-count --append folded.hll'
expect 0 '4\n' "by itself" bash -c 'echo c | hll-count --append folded.hll'
clean_error "--append to counts" count-min hll-count --append c.cms list
: >fresh.hll
quietly "an empty file is one to be made" hll-count -q --append fresh.hll list
same s.hll fresh.hll "as if it was not there"
touch -d '2020-02-02 02:02:02' s.hll
before=$(stat -c '%i %Y' s.hll)
quietly "nothing read" hll-count -q --append s.hll
is "$(stat -c '%i %Y' s.hll)" "$before" "nothing rewritten"
clean_error "--append -" append hll-count --append - list
clean_error "--no-wait needs --append" no-wait hll-count --no-wait list
clean_error "--save-every needs --append" save-every hll-count --save-every 1s list
pids=()
for i in 0 1 2 3; do
	hll-count -q --append many.hll <(seq $((i * 300 + 1)) $((i * 300 + 400))) &
	pids+=($!)
done
wait "${pids[@]}"
is "$(info many.hll distinct) $(info many.hll records)" "1300 1600" \
	"four appenders at a time lose nothing"
mkfifo pipe
hll-count -q --append many.hll <pipe &
pid=$!
exec 8>pipe
for _ in $(seq 100); do
	flock -n many.hll true || break
	sleep 0.02
done
clean_error "--no-wait where another has it" many.hll hll-count --no-wait --append many.hll list
echo "a new one" >&8
exec 8>&-
wait "$pid"
is "$? $(info many.hll distinct)" "0 1301" "which goes on undisturbed"
hll-count -q --append every.hll --save-every 50ms <pipe &
pid=$!
exec 8>pipe
printf '1\n2\n' >&8
for _ in $(seq 500); do
	[ -s every.hll ] && break
	sleep 0.02
done
is "$(hll-count --query every.hll)" 2 "--save-every: saved before the end"
exec 8>&-
wait "$pid"

# ---- signals, damage, disks
started=0.3
! sanitized || started=3
hll-count --append sig.hll <pipe >.tap/number 2>&1 &
pid=$!
{ printf 'a\nb\n'; sleep "$started"; kill -TERM "$pid"; sleep 0.2; } >pipe
wait "$pid"
is "$? $(hll-count --query sig.hll) $(cat .tap/number)" "143 2 2" \
	"TERM: what was counted is saved, and printed"
hll-count <pipe >.tap/number 2>&1 &
pid=$!
{ printf 'a\nb\nc\n'; sleep "$started"; kill -HUP "$pid"; sleep 0.2; } >pipe
wait "$pid"
is "$? $(cat .tap/number)" "129 3" "HUP without a file: the number so far"
hll-count -o never.hll <pipe >.tap/number 2>&1 &
pid=$!
{ printf 'a\nb\nc\n'; sleep "$started"; kill -TERM "$pid"; sleep 0.2; } >pipe
wait "$pid"
is "$? $(cat .tap/number) $(find . -name 'never*')" "143  " "TERM with -o: no file of a part"
hll-count -q -o dense.hll <(seq 50000)
for from in s.hll dense.hll; do
	size=$(stat -c %s $from)
	cp $from damaged.hll
	printf '\377' | dd of=damaged.hll bs=1 seek=$((size - 9)) conv=notrunc 2>/dev/null
	head -c $((size - 1)) $from >short.hll
	{ cat $from; echo; } >long.hll
	for file in damaged.hll short.hll long.hll list; do
		clean_error "$from, $file: --query" "$file" hll-count --query "$file"
		clean_error "$from, $file: --append" "$file" hll-count --append "$file" fields
		clean_error "$from, $file: sketch-merge" "$file" sketch-merge -o u "$from" "$file"
		clean_error "$from, $file: sketch-info" "$file" sketch-info "$file"
	done
done
trouble "a full device" "standard output" bash -c 'hll-count list >/dev/full'
trouble "a closed standard output" "standard output" bash -c 'hll-count list >&-'
mkdir small
cp dense.hll small/f
starved 12 hll-count -q --append small/f list
is "$status $(wc -l <"$ERR") $(find small -mindepth 1)" "2 1 small/f" \
	"a limit of file size: one message, nothing left"
same dense.hll small/f "and the old file"
if strace -qq -o /dev/null true 2>/dev/null && ! sanitized; then
	for call in fsync rename,renameat,renameat2 linkat write; do
		cp dense.hll small/f
		when=
		[ "$call" != write ] || when=:when=1
		run strace -qq -f -o .tap/trace -e "trace=$call" -e "inject=$call:error=EIO$when" \
			hll-count -q --append small/f list
		grep -q INJECTED .tap/trace || { skip "$call fails" "it is not called"; continue; }
		if [ "$status" -eq 0 ]; then
			is "$(hll-count --query small/f)" "$(hll-count --query dense.hll)" \
				"$call fails: got round"
		else
			is "$status $(wc -l <"$ERR") $(find small -mindepth 1)" "2 1 small/f" \
				"$call fails: one message, and nothing beside the file"
			same dense.hll small/f "$call fails: which is the old one"
		fi
	done
else
	skip "calls that fail" "no strace"
fi

# ---- what sketch-info says
run sketch-info dense.hll
for line in "kind	hyperloglog" "precision	14" "registers	16384" "bytes	16384" \
	"exact	no" "records	50000" "checksum	ok"; do
	ok "sketch-info: $line" grep -qx "$line" "$OUT"
done
like "$(cat "$OUT")" "^error_planned	0\.00809925" "sketch-info: 1.0367 / sqrt(2^14)"
like "$(cat "$OUT")" "^zero_registers	[78][0-9][0-9]$" \
	"sketch-info: exp(-50000 / 2^14) of the registers"
is "$(info dense.hll distinct)" "$(hll-count --query dense.hll)" "sketch-info: the number"
is "$(info s.hll zero_registers) $(info s.hll bytes) $(info s.hll error)" "null 24 0" \
	"sketch-info: hashes, 8 bytes each"
quietly "through a pipe" bash -c 'sketch-info - <dense.hll'

# ---- memory does not grow with the stream
most=6000
sanitized && most=600000
run bash -c "seq 2000000 | command time -f %M hll-count 2>&1 >.tap/x"
if grep -Eqx "[0-9]+" "$OUT"; then
	ok "2 million distinct keys in less than $((most / 1000)) MB" \
		test "$(cat "$OUT")" -lt "$most"
else
	skip "memory" "no time(1)"
fi

checks hll.py

done_testing
