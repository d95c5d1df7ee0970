#!/usr/bin/env bash
# bloom-uniq: each record the first time its key is seen, byte for byte, in order
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# firsts FILE: what a uniq with unbounded memory passes
firsts()
{
	awk '!seen[$0]++' "$1"
}

# ---- order and bytes
awk 'BEGIN { srand(5); for (i = 0; i < 60000; i++) print int(20000 * rand()) " log line" }' >log
firsts log >want
quietly "a file" bloom-uniq log
same want "$OUT" "is what awk passes"
quietly "a pipe" bash -c 'cat log | bloom-uniq'
same want "$OUT" "is the same"
quietly "two files are one stream" bloom-uniq log log
same want "$OUT" "the second brings nothing"
quietly "into a pipe" bash -c 'bloom-uniq <log | cat'
same want "$OUT" "is the same"
for layout in classic blocked; do
	for size in "-n 30000" "-n 30000 -p 1e-9 -s 7" "-m 1MB" "-m 2Mbit -k 9" "-p 1e-9"; do
		# shellcheck disable=SC2086 # several words
		quietly "$layout $size" bloom-uniq -L $layout $size log
		same want "$OUT" "$layout $size: passes the same"
	done
done
printf 'b\na\nb\n\n\377\376\na\n\nno end' >odd
expect 0 'b\na\n\n\377\376\nno end\n' "any byte, the empty record, a last one without newline" \
	bloom-uniq odd
printf 'a\0b\na\0b\n\0\0a\0' >nuls
expect 0 'a\0b\na\0b\n\0\0' "-z" bloom-uniq -z nuls
expect 0 'a\0b\n\0\0a\0\n' "NUL is a byte as others without it" bloom-uniq nuls
expect 0 '' "nothing" bloom-uniq /dev/null
expect 0 '\n' "one empty record" bloom-uniq <(echo)
head -c 3000000 /dev/zero | tr '\0' x >long
{ cat long; echo; cat long; echo y; cat long; echo; } >longs
run bloom-uniq longs
is "$(wc -lc <"$OUT" | tr -s ' ')" " 2 6000003" "records of 3 MB"
printf '\nfoo\nfoo\npass with spaces\n\343\201\273\343\201\222\343\201\265\n\n' >kana
expect 0 '\nfoo\npass with spaces\n\343\201\273\343\201\222\343\201\265\n' "bytes are bytes" \
	bloom-uniq kana

# ---- keys
printf 'a 1\nb 1\n c   2\nd\n\nd 2\ne 3 x\n\ne 3 y\n' >fields
expect 0 'a 1\n c   2\nd\n\ne 3 x\n\n' "-f 2: the first of each; without that field all pass" \
	bloom-uniq -f 2 fields
expect 0 'a 1\nb 1\n c   2\nd\n\nd 2\ne 3 x\n\ne 3 y\n' "-f 2,3 where few have them" \
	bloom-uniq -f 1,2,3 fields
printf 'a,b,1\nx,b,2\na,c,3\n,,\n,,4\n' >commas
expect 0 'a,b,1\na,c,3\n,,\n' "-d, -f 2" bloom-uniq -d , -f 2 commas
expect 0 'a,b,1\nx,b,2\na,c,3\n,,\n' "-d, -f 1,2: fields do not run together" \
	bloom-uniq -d , -f 1,2 commas
printf 'ab\tc\na\tbc\n' >glue
expect 0 'ab\tc\na\tbc\n' "ab,c is not a,bc" bloom-uniq -d '\t' -f 1,2 glue
printf 'Abc\nabC\n\303\204\n\303\244\nabc\n' >cases
expect 0 'Abc\n\303\204\n\303\244\n' "-i folds ASCII alone, and passes the first as it came" \
	bloom-uniq -i cases
printf 'a\r\na\nb\nb\r\na\r\r\n' >ends
expect 0 'a\r\na\nb\nb\r\na\r\r\n' "CR is part of the key" bloom-uniq ends
expect 0 'a\r\nb\na\r\r\n' "but with --crlf one at the end" bloom-uniq --crlf ends
run bloom-uniq -f 9 fields
is "$status" 0 "a field that no record has"
same fields "$OUT" "all pass"
like "$(cat "$ERR")" 'bloom-uniq: .*field' "and it is said"
for way in "bloom-uniq -f 2" "bloom-uniq -i" "bloom-uniq --crlf -z"; do
	run bash -c "cat fields | $way"
	cp "$OUT" .tap/way
	run bash -c "$way fields"
	same .tap/way "$OUT" "$way: a pipe and a file pass the same"
done

# ---- the records held back
quietly "--duplicates" bloom-uniq --duplicates held log
same want "$OUT" "passes the same"
is "$(wc -l <held)" "$((60000 - $(wc -l <want)))" "holds back the rest"
same <(sort log) <(sort want held) "together they are the input"
same <(awk 'seen[$0]++' log) held "in order"
quietly "--duplicates over an old file" bloom-uniq --duplicates held fields
expect 0 '\n' "has the new ones alone" cat held
printf 'x 1\ny 1\nz 2\nw' >some
expect 0 'x 1\nz 2\nw\n' "with fields" bloom-uniq --duplicates held -f 2 some
expect 0 'y 1\n' "holds back by key" cat held
run bash -c 'bloom-uniq --duplicates /dev/stderr odd'
is "$status $(sort "$OUT" "$ERR" | cmp - <({ cat odd; echo; } | sort) && echo all)" "0 all" \
	"to another descriptor"
clean_error "--duplicates in no folder" nowhere bloom-uniq --duplicates nowhere/d log
clean_error "--duplicates that is the input" log bloom-uniq --duplicates log log
clean_error "--duplicates that is stdin" log bash -c 'bloom-uniq --duplicates log <log'
clean_error "--duplicates that is one of the inputs" log bloom-uniq --duplicates log odd log
ln log hard
ln -s log soft
clean_error "by a hard link" hard bloom-uniq --duplicates hard log
clean_error "by a soft link" soft bloom-uniq --duplicates soft log
printf 'log\0' >names
clean_error "named in a list" log bloom-uniq --duplicates log --files0-from names
run bash -c 'bloom-uniq --duplicates both odd >both'
is "$status" 2 "--duplicates that is standard output"
bloom-uniq --state s odd >.tap/ok
clean_error "--duplicates that is the state" s bloom-uniq --state s --duplicates s odd
ok "nothing was emptied" test -s log

# ---- an output that is an input
cp odd app
run bash -c 'bloom-uniq app >>app'
is "$status" 2 "appending to the input is refused"
same odd app "and it is as it was"
run bash -c 'bloom-uniq <app >>app'
is "$status" 2 "and where it is stdin"
same odd app "and it is as it was"
clean_error "the state as input" s bloom-uniq --state s s

# ---- exact in two passes: the filter first, an authority for what it held back
# What passed surely is new.  What was held back is probably old: only that is sorted,
# against the passed; what is not among them is new, too.
seq 1 30000 >many
cat many many >twice
bloom-uniq -n 1000 -p 0.1 --duplicates held twice >passed
ok "a filter that is much too small loses some: $((30000 - $(wc -l <passed)))" \
	test "$(wc -l <passed)" -lt 29000
sort -u held >held.sorted
sort passed >passed.sorted
comm -23 held.sorted passed.sorted >rescued
same <(sort many) <(sort passed rescued) "and the second pass finds every one of them"

# ---- the summary
run bloom-uniq --stats -f 2 fields
like "$(cat "$ERR")" 'bloom-uniq: 9 records, .*3 without key' "--stats: records, without key"
like "$(cat "$ERR")" '6 passed, 3 held back' "--stats: passed, held back"
run bloom-uniq --stats log
like "$(cat "$ERR")" "$(wc -l <want) passed, $((60000 - $(wc -l <want))) held back" \
	"--stats of the log"
run bloom-uniq -n 1000 log
is "$status" 0 "past capacity is no trouble"
like "$(cat "$ERR")" 'warning.*1000' "but warned of"
is "$(wc -l <"$ERR")" 1 "once"

# ---- loss: what was lost on the average is what the summary expects
# loss NAME SEEDS FILE DISTINCT OPTION...: over so many seeds
loss()
{
	local name=$1 seeds=$2 file=$3 distinct=$4
	shift 4
	for ((seed = 1; seed <= seeds; seed++)); do
		bloom-uniq -s "$seed" --stats "$@" "$file" 2>&1 >/dev/null |
			sed -n "s/.*: \([0-9]*\) passed, .*these \([0-9.e+-]*\) expected.*/\1 \2/p"
	done >losses
	run awk -v n="$distinct" -v seeds="$seeds" '
		{ lost = n - $1; sum += lost; squares += lost * lost; expected += $2; rows++ }
		END {
			error = sqrt((squares - sum * sum / rows) / (rows - 1) / rows)
			printf "lost %.2f, expected %.2f, standard error %.2f\n", sum / rows,
				expected / rows, error
			off = (sum - expected) / rows
			exit !(rows == seeds && off <= 3 * error && off >= -3 * error)
		}' losses
	is "$status" 0 "$name: $(cat "$OUT")"
}
seeds=20
! long || seeds=100
loss "a filter filled to its capacity" $seeds log "$(wc -l <want)" -p 0.01 -n 20000
loss "one that is twice too small" $seeds log "$(wc -l <want)" -n 10000 -p 0.01
seq 1 90000 >numbers
loss "one that grows" $seeds numbers 90000 -p 0.01
loss "a window" $seeds numbers 90000 --window=20000 -p 0.01

# ---- a list that people use
if [ -r "$CASES/domains/adservers.txt" ]; then
	cp "$CASES/domains/adservers.txt" ads
	firsts ads >want
	quietly "adservers" bloom-uniq ads
	is "$(wc -l <"$OUT")" 42368 "42368 of 42541 lines pass"
	same want "$OUT" "those that awk passes"
	loss "adservers at p = 0.01" 100 ads 42368 -n 42368 -p 0.01
	loss "adservers, growing, at p = 0.01" $seeds ads 42368 -p 0.01
	if [ -r "$CASES/gen/nul_records.bin" ]; then
		run bloom-uniq -z "$CASES/gen/nul_records.bin"
		is "$(tr -cd '\0' <"$OUT" | wc -c)" 4 "nul_records.bin: 4 distinct records"
		run bloom-uniq "$CASES/gen/boundary_4096.txt"
		is "$(wc -l <"$OUT")" 40 "boundary_4096.txt: 40 distinct records"
		run bash -c "dd bs=1 status=none <'$CASES/gen/boundary_4096.txt' | bloom-uniq"
		is "$(wc -l <"$OUT")" 40 "the same byte by byte"
		run bloom-uniq "$CASES/gen/crlf_mixed.txt"
		is "$(wc -l <"$OUT")" 4 "crlf_mixed.txt: 4 as they are"
		run bloom-uniq --crlf "$CASES/gen/crlf_mixed.txt"
		is "$(wc -l <"$OUT")" 3 "crlf_mixed.txt: 3 with one CR off"
		run bloom-uniq "$CASES/gen/no_final_nl.txt"
		is "$(wc -l <"$OUT")" 3 "no_final_nl.txt: 3 distinct, each with a newline"
		run bloom-uniq "$CASES/gen/bom.txt"
		is "$(wc -l <"$OUT")" 3 "bom.txt: 3 distinct"
		run bloom-uniq "$CASES/gen/case.txt"
		is "$(wc -l <"$OUT")" 3 "case.txt: 3 distinct"
	fi
else
	skip "adservers" "no such list here"
fi

# ---- trouble
trouble "an input that is not there; the rest goes on" missing bloom-uniq missing odd
expect 0 "$(printf '%b' 'b\na\n')"'\n' "as without it" bloom-uniq <(printf 'b\na\n')
trouble "stdout is full" "No space" bash -c 'bloom-uniq log >/dev/full'
trouble "stdout is closed" "" bash -c 'bloom-uniq log >&-'
run timeout 10 bash -c 'set -o pipefail; yes | bloom-uniq >/dev/full'
ok "a full one ends it soon" test "$status" -ne 124
run bash -c 'seq 1 1000000 | bloom-uniq | head -n 1; echo "${PIPESTATUS[1]}"'
is "$(tail -n 1 "$OUT") $(cat "$ERR")" "141 " "nobody reads on: SIGPIPE, and no word"
seq 1 1000000 >many
run bash -c 'trap "" PIPE; bloom-uniq many | head -n 1 >/dev/null; echo "${PIPESTATUS[0]}"'
is "$(cat "$OUT") $(cat "$ERR")" "2 " "where SIGPIPE is ignored: status 2, and no word"
trouble "stdin is closed" "" bash -c 'exec bloom-uniq <&-'
for words in "-n 0" "-n x" "-p 0" "-p 1" "-p 2" "-k 3" "-k 0" "-L round" "--window 0" \
	"--window 5x" "--window -1" "--window 1m" "--since-first" "--save-every 5s" "--no-wait" \
	"--window 1h" "-f 0" "-d ab" "-m 6M" "-n 1e19"; do
	# shellcheck disable=SC2086 # several words
	clean_error "bloom-uniq $words" "" bloom-uniq $words odd
done
clean_error "an empty --window" "''" bloom-uniq --window '' odd
clean_error "an empty --state" "" bloom-uniq --state '' odd
clean_error "memory is asked about first" "" bloom-uniq -n 1e18 odd

# ---- memory: five million distinct records in little more than the filter
if ! sanitized; then
	run bash -c 'seq 1 5000000 | /usr/bin/env time -f %M bloom-uniq -n 5000000 -p 1e-6 \
		2>.tap/rss | wc -l'
	if grep -Eq '^[0-9]+$' .tap/rss; then
		ok "$(cat .tap/rss) kB resident" \
			test "$(cat .tap/rss)" -lt $((19000 * 5 / 4 + 10000))
		ok "$(cat "$OUT") of 5000000 pass" test "$(cat "$OUT")" -ge 4999970
	else
		skip "resident memory" "no time(1)"
	fi
fi

checks uniq_latency.py

done_testing
