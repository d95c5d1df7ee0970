#!/usr/bin/env bash
# bloom-uniq --window: remembered for one to two windows, in memory that never grows
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# exact SPAN FIRST: what two exact generations of SPAN records pass
exact()
{
	awk -v span="$1" -v first="$2" '{
		now = int((NR - 1) / span) + 1
		known = ($0 in at) && at[$0] + 2 > now
		if (!known)
			print
		if (!known || !first)
			at[$0] = now
	}'
}

awk 'BEGIN { srand(9); for (i = 0; i < 50000; i++) print int(3000 * rand() * rand()) }' >log
for span in 1 7 64 1000 6000 100000; do
	exact $span 0 <log >want
	quietly "--window=$span" bloom-uniq --window=$span -p 1e-12 log
	same want "$OUT" "--window=$span: as an exact one"
	exact $span 1 <log >want
	quietly "--window=$span --since-first" bloom-uniq --window $span --since-first -p 1e-12 log
	same want "$OUT" "--window=$span --since-first: as an exact one"
done
exact 1000 0 <log >want
quietly "-L classic" bloom-uniq -L classic --window 1e3 -p 1e-12 log
same want "$OUT" "passes the same"
quietly "by the byte" bash -c 'head -c 20000 log | dd bs=1 status=none | bloom-uniq --window 1000'
same <(head -c 20000 log | exact 1000 0) "$OUT" "passes the same"
sed 's/$/ x/; 0~5s/^[^ ]* /  /' log >fields
bloom-uniq -f 1 --window 50 --duplicates held -p 1e-12 fields >passed
same <(sort fields) <(sort passed held) "with fields, passed and held back are the input"

# ---- from run to run: as one run
for options in "--window 700" "--window 700 --since-first"; do
	# shellcheck disable=SC2086 # several words
	bloom-uniq -p 1e-12 $options --state whole log >want
	rm -f parts
	for size in 1 699 700 1 1399 12345 40 34816; do
		head -n $size
	done <log >.tap/ok
	start=1
	for size in 1 699 700 1 1399 12345 40 34815; do
		tail -n +$start log | head -n $size >part
		# shellcheck disable=SC2086 # several words
		bloom-uniq -p 1e-12 $options --state parts part
		start=$((start + size))
	done >got
	same want got "$options: several runs pass what one passes"
	same whole parts "$options: and leave the same file"
	rm -f whole
done
is "$(info parts records)" 50000 "records add up"
quietly "--since-first is no property of the file" bloom-uniq --state parts /dev/null
# The windows of the independent writer.
if [ -n "$PYTHON" ]; then
	"$PYTHON" "$TOP/scripts/sketch-format" write --layout classic \
		--m 704 --k 6 --n 60 --p 0.01 \
		--window records:span=60 </dev/null >ours
	bloom-uniq --state ours "$TOP/tests/golden/window-records.input" >passed
	same "$TOP/tests/golden/window-records.bloom" ours "the golden file from its records"
	"$PYTHON" "$TOP/scripts/sketch-format" write --layout blocked --m 1024 --k 8 --g 1 --n 60 \
		--p 0.01 --seed 77 --window records:span=40 </dev/null >ours
	bloom-uniq --state ours --since-first "$TOP/tests/golden/window-first.input" >passed
	same "$TOP/tests/golden/window-first.bloom" ours "the same since first"
	head -n 100 log >some
	"$PYTHON" "$TOP/scripts/sketch-format" write --layout classic \
		--m 704 --k 6 --n 60 --p 0.01 \
		--window records:span=60 <some >theirs
	"$PYTHON" "$TOP/scripts/sketch-format" write --layout classic \
		--m 704 --k 6 --n 60 --p 0.01 \
		--window records:span=60 </dev/null >ours
	bloom-uniq --state ours some >passed
	same theirs ours "and of other records"
else
	skip "the golden files" "no python3"
fi
# Hours of the past are forgotten, and the file goes on from today.
cp "$TOP/tests/golden/window-time.bloom" old
run bash -c "bloom-uniq --state old '$TOP/tests/golden/window-time.keys'"
same "$TOP/tests/golden/window-time.keys" "$OUT" "a window of long ago knows nothing by now"
run bash -c "bloom-uniq --state old '$TOP/tests/golden/window-time.keys'"
is "$(wc -c <"$OUT")" 0 "and then what it was just told"
# A file from the future, or a clock that was set back: time stands still until it is
# there, which is said, for nothing is forgotten.
if [ -n "$PYTHON" ]; then
	echo early | "$PYTHON" "$TOP/scripts/sketch-format" write --layout blocked --m 1024 --k 8 \
		--g 1 --n 60 --p 0.01 --window \
		nanoseconds:span=1000000000,landmark=4102444800000000000,stamp=9 >ahead
	run bash -c "printf 'early\nlate\nearly\nlate\n' | bloom-uniq --state ahead"
	is "$status $(cat "$OUT")" "0 late" "a window ahead of the clock"
	is "$(info ahead window_duration), $(info ahead began)" \
		"1s, 2100-01-01 00:00:09 UTC" "sketch-info says when, for people"
	like "$(cat "$ERR")" '^bloom-uniq: ahead: warning: .*clock' "which is said"
	run bash -c "printf 'early\nlate\n' | bloom-uniq --state ahead"
	is "$status $(cat "$OUT")" "0 " "is read again"
fi

# ---- what agrees and what does not
bloom-uniq --window 10 --state w log >.tap/ok
clean_error "another span" w bloom-uniq --window 20 --state w log
like "$(cat "$ERR")" 'window.*10' "shows that of the file"
clean_error "another unit" w bloom-uniq -n 10 --window 10s --state w log
clean_error "other keys" w bloom-uniq -n 20 --window 10 --state w log
like "$(cat "$ERR")" '\bn\b' "by name"
clean_error "another rate" w bloom-uniq -p 0.5 --state w log
clean_error "another seed" w bloom-uniq -s 5 --state w log
quietly "its own" bloom-uniq --window 10 --state w -p 1e-6 /dev/null
bloom-uniq --state plain log >.tap/ok
clean_error "a window for a file without" plain bloom-uniq --window 10 --state plain log
cp w kept
clean_error "windows are not merged" w sketch-merge -o z w w
like "$(cat "$ERR")" 'window' "and it is said why"
clean_error "nor with others" w sketch-merge -o z plain w
clean_error "nor added to by bloom-build" w bloom-build --append w log
like "$(cat "$ERR")" 'window' "and it is said why"
same kept w "the file is as it was"
quietly "bloom-query asks both generations" bloom-query w <(tail -n 1 log)
quietly "sketch-info shows it" sketch-info w
quietly "and as JSON" sketch-info --json w
is "$(info w records)" 50000 "with its records"
head -c 700 w >short
clean_error "a cut one" short bloom-uniq --state short log
{ head -c 530 w; printf 'X'; tail -c +532 w; } >bad
clean_error "a damaged one" bad bloom-uniq --state bad log
clean_error "also to sketch-info" bad sketch-info bad

# ---- more keys than a window was made for
run bloom-uniq --window 1000 -n 100 -p 0.01 <(seq 1 5000)
is "$status $(wc -l <"$ERR")" "0 1" "beyond -n keys a window: warned of, once"
like "$(cat "$ERR")" 'warning.*window.*100\b' "with the number"
run bloom-uniq --window 1h -n 100 -p 0.01 <(seq 1 5000)
like "$(cat "$ERR")" 'warning.*window.*100\b' "the same by time"
quietly "up to it: no word" bloom-uniq --window 1000 -n 1000 -p 0.01 <(seq 1 5000)
run bloom-uniq --window 100000 -n 100 -p 0.01 <(seq 1 300; seq 1 300)
ok "nothing is forgotten early" test "$(wc -l <"$OUT")" -le 300

# ---- the rate of the generations together, and memory that stays
count=5000000
! long || count=100000000
if ! type -P time >.tap/ok; then
	skip "memory" "no time(1)"
elif ! sanitized; then
	run bash -c "seq 1 $count | /usr/bin/env time -f %M bloom-uniq --window=100000 -p 0.001 \
		2>.tap/rss | wc -l"
	passed=$(cat "$OUT")
	run awk -v n=$count -v passed="$passed" 'BEGIN {
		lost = n - passed
		printf "%d of %d lost", lost, n
		exit !(lost <= 0.001 * n + 5 * sqrt(0.001 * n) && lost > 0) }'
	is "$status" 0 "p = 0.001 holds for both together: $(cat "$OUT")"
	seq 1 $((count / 20)) | /usr/bin/env time -f %M bloom-uniq --window=100000 -p 0.001 \
		2>.tap/short >/dev/null
	if grep -Eqx '[0-9]+' .tap/rss && grep -Eqx '[0-9]+' .tap/short; then
		sizes="$(cat .tap/short), $(cat .tap/rss) kB"
		ok "as much memory for twenty times the records: $sizes" \
			test "$(cat .tap/rss)" -le $(($(cat .tap/short) + 600))
		ok "and not much of it" test "$(cat .tap/rss)" -lt 10000
	else
		skip "memory" "no time(1)"
	fi
else
	skip "memory" "sanitizers have their own"
fi

checks uniq_window.py

done_testing
