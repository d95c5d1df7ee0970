#!/usr/bin/env bash
# cms-count and cms-top with --window and --decay: against exact models, the throttle, from
# run to run, by time, merged, and in memory that stays
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

awk 'BEGIN { srand(3); for (i = 0; i < 20000; i++) print int(400 * rand() ^ 3) }' >log

# window N: each record with its count in an exact window of panes, as the manual has it
window()
{
	awk -v n="$1" 'BEGIN { span = int((n + 7) / 8); back = int((n - 1 + span - 1) / span) }
		{
			pane = int((NR - 1) / span)
			c[pane, $0]++
			sum = 0
			for (p = pane - back; p <= pane; p++)
				sum += c[p, $0]
			print sum "\t" $0
		}'
}

# throttle N MOST: what passes where no more than MOST of a line pass in such a window
throttle()
{
	awk -v n="$1" -v most="$2" '
		BEGIN { span = int((n + 7) / 8); back = int((n - 1 + span - 1) / span) }
		{
			pane = int((NR - 1) / span)
			sum = 0
			for (p = pane - back; p <= pane; p++)
				sum += c[p, $0]
			if (sum < most) {
				c[pane, $0]++
				print
			}
		}'
}

# covered N RECORDS: how many of them such a window covers at their end
covered()
{
	local span=$((($1 + 7) / 8)) back
	back=$((($1 - 1 + span - 1) / span))
	echo $(($2 - (($2 - 1) / span - back) * span))
}

# ---- a window of records
for n in 1 2 8 9 100 777 5000 100000; do
	window $n <log >want
	quietly "--window=$n" cms-count --window=$n log
	same want "$OUT" "--window=$n: each record with its count in it"
done
expect 0 '1\ta\n2\ta\n2\ta\n1\tb\n' "of two records" \
	bash -c "printf 'a\na\na\nb\n' | cms-count --window 2"
window 777 <log >want
start=1
rm -f parts
for size in 1 3 650 700 8000 10646; do
	cms-count --window=777 --annotate --append parts <(tail -n +$start log | head -n $size)
	start=$((start + size))
done >got
same want got "--append: six runs count as one"
cms-count --window=777 -o whole log
same whole parts "and leave the same file"
is "$(info parts window) $(info parts window_unit) $(info parts total)" \
	"777 records $(covered 777 20000)" \
	"sketch-info shows it"
like "$(sketch-info parts)" '^pane.8.total' "and its panes"
run cms-count --stats --window=777 -o whole log
like "$(cat "$ERR")" 'covers the last 785 to 882 records' "--stats says what a count covers"
like "$(cat "$ERR")" 'every count exact' "and that all are exact"
if [ -n "$PYTHON" ]; then
	"$PYTHON" -B - "$TOP/scripts/sketch-format" >wide <<-'END'
		import runpy, sys
		fmt = runpy.run_path(sys.argv[1])
		panes = [fmt["Counts"](10, 3, 1, 10).begin() for _ in range(9)]
		ring = fmt["Ring"](fmt["RECORDS"], 16, panes, 1 << 63)
		sys.stdout.buffer.write(fmt["encode"](ring))
	END
	run cms-count --query wide --stats -e a
	like "$(cat "$ERR")" 'last 18446744073709551615 to 18446744073709551615 records' \
		"of panes as long as can be it says the most there is"
else
	skip "panes as long as can be" "no python3"
fi
tail -n "$(covered 777 20000)" log | sort | uniq -c | sort -k1,1nr -k2,2 |
	awk '{ print $1 "\t" $2 }' >want
run cms-top --window=777 -k 1000 log
same want "$OUT" "cms-top: the list of what the window covers"
run cms-top --query whole -k 1000
same want "$OUT" "--query: the same of a saved one"
run cms-top --window=777 -k 3 --bounds log
is "$(awk -F '\t' '$1 != $2 || $1 != $3' "$OUT")" "" "--bounds are equal where counts are exact"
head -n 3 want | awk '{ print "{\"count\":" $1 ",\"low\":" $1 ",\"high\":" $1 "}" }' >want.json
run cms-top --window=777 -k 3 --json log
sed 's/,"share.*/}/' "$OUT" >got
same want.json got "--json"
expect 0 '1\t1\t1\ta\n' "--query --bounds" bash -c "printf 'a\na\nb\nb\n' |
	cms-count --window 3 -o q; cms-count --query q --bounds -e a"
# A table by far too small: never below the truth, and bounds that hold.
run cms-count --window=5000 --width 50 --depth 2 log
awk 'BEGIN { srand(8); for (i = 0; i < 60000; i++) print int(50000 * rand() ^ 3) }' >many
window 20000 <many >truth
quietly "more keys than are tracked" cms-count --window=20000 --width 500 many
is "$(paste truth "$OUT" | awk '$3 < $1' | wc -l)" 0 "no count is below the truth"
cms-count --window=20000 --width 500 -o small many
is "$(info small exact)" false "though not all are exact"
tail -n "$(covered 20000 60000)" many | sort | uniq -c | awk '{ print $2 "\t" $1 }' | sort >exact
run cms-top --query small -k 10000 --bounds
awk -F '\t' '{ print $4 "\t" $2 "\t" $3 }' "$OUT" | sort >listed
is "$(join -t "$(printf '\t')" exact listed | awk '$2 < $3 || $2 > $4' | wc -l)" 0 \
	"cms-top: the truth is within the bounds"
floor=$(info small floor)
is "$(join -t "$(printf '\t')" -v 1 exact listed | awk -v floor="$floor" '$2 > floor' | wc -l)" 0 \
	"and whatever counts more than the floor is listed"
expect 0 '5\ta 5\n7\tb 7\n8\ta 3\n3\ta 0\n' "weights" \
	bash -c "printf 'a 5\nb 7\na 3\na 0\n' | cms-count -f 1 -W 2 --window 3"
window 300 <log >want
quietly "--plain" cms-count --plain --size 8MB --window=300 log
is "$(paste want "$OUT" | awk '$3 < $1' | wc -l)" 0 "is never below the truth either"
run cms-count --window=100 --size 64KiB -o sized log
is "$(info sized w)" "$((65536 / 4 / 3 / 9))" "--size is that of all panes"
is "$(info sized bytes)" "$((65536 / 4 / 3 / 9 * 9 * 4 * 3))" "as sketch-info adds up"
clean_error "--size below a cell a row a pane" panes cms-count --window=100 --size 100B log

# ---- decay
# decayed H: each record with its decayed count
decayed()
{
	awk -v h="$1" '{
		c[$0] = c[$0] * 2 ^ ((last[$0] - NR) / h) + 1
		last[$0] = NR
		printf "%.6f\t%s\n", c[$0], $0
	}'
}
for h in 1 3 100 4000 1e9; do
	decayed $h <log >want
	quietly "--decay=$h" cms-count --decay=$h log
	is "$(paste want "$OUT" | awk -F '\t' '{ d = $1 - $3 }
		d > 0.0006 + 4e-6 * $1 || d < -0.0006 - 4e-6 * $1 || $2 != $4' | wc -l)" 0 \
		"--decay=$h: each record with its decayed count"
done
expect 0 '1.000\ta\n1.000\tb\n1.500\ta\n' "to three decimals" \
	bash -c "printf 'a\nb\na\n' | cms-count --decay 2"
awk -v h=100 '{ c[$0] = c[$0] * 2 ^ ((last[$0] - NR) / h) + 1; last[$0] = NR }
	END { for (key in c) printf "%.9f\t%s\n", c[key] * 2 ^ ((last[key] - NR) / h), key }' \
	log >ends
run cms-top --decay=100 -k 1000 --bounds log
awk -F '\t' '{ print $4 "\t" $1 "\t" $2 "\t" $3 }' "$OUT" | sort >listed
awk -F '\t' '{ print $2 "\t" $1 }' ends | sort >exact
join -t "$(printf '\t')" exact listed >joined
is "$(wc -l <joined) $(awk -F '\t' '$2 < $4 || $2 > $5' joined | wc -l)" \
	"$(wc -l <listed) 0" "cms-top --bounds: low rounded down, high rounded up"
is "$(awk -F '\t' '$2 - $3 > 0.0006 || $3 - $2 > 0.0006' joined | wc -l)" 0 \
	"the count to the nearest thousandth"
is "$(join -t "$(printf '\t')" -v 1 exact listed | awk -F '\t' '$2 > 0.0005' | wc -l)" 0 \
	"and only what has decayed to nothing is not listed"
is "$(sort -t "$(printf '\t')" -k1,1gr -s "$OUT" | cmp - "$OUT" && echo sorted)" sorted \
	"heaviest first"
cms-count --decay=100 -o whole log
rm -f parts
start=1
for size in 1 7 5000 14992; do
	cms-count --decay=100 --append parts <(tail -n +$start log | head -n $size)
	start=$((start + size))
done
same whole parts "--append: several runs leave the file of one"
is "$(info parts decay) $(info parts decay_unit) $(info parts now) $(info parts cell)" \
	"100 records 20000 64" "sketch-info shows it"
run cms-top --query parts -k 1000 --bounds
awk -F '\t' '{ print $4 "\t" $1 "\t" $2 "\t" $3 }' "$OUT" | sort | cmp - listed
is "$?" 0 "--query: the same list"
expect 0 '1.500\t1.499\t1.501\ta\n' "cms-count --query --bounds" \
	bash -c "printf 'a\nb\na\n' | cms-count --decay 2 -o q; cms-count --query q --bounds -e a"
expect 0 '1.500\ta\n' "--at-least compares what is printed" \
	bash -c "printf 'a\nb\na\n' | cms-count --decay 2 -o q
		cms-count --query q --at-least 1 -e a -e c"
expect 0 '1\n' "an exact whole is reached in spite of rounding" \
	bash -c "printf 'a\na\na\n' | cms-count --decay 1e15 --at-least 3 | wc -l"
run cms-count --stats --decay=100 -o whole log
like "$(cat "$ERR")" 'halves every 100 records' "--stats says how"
like "$(cat "$ERR")" 'exact but for rounding' "and that counts are exact but for that"
run cms-top --decay=1000 --width 100 -k 1000 --stats many
total=$(awk 'BEGIN { print 1 / (1 - 2 ^ -0.001) }')
is "$(sed -n 's/.*: total \([0-9]*\)\..*,.*/\1/p' "$ERR")" "${total%.*}" \
	"the total of a steady stream is the sum of all powers"
run cms-top --decay=1000 --min-share 5% many
is "$(awk -v total="$total" '$1 < 0.05 * total - 0.001' "$OUT" | wc -l)" 0 \
	"--min-share is of the decayed total"
# ---- a count has the same digits everywhere
for weight in 1 4398046511105 9007199254741 17000000000001; do
	# The second record makes them odd ones.
	printf 'a %s\nb 3\nb 4\n' $weight >w
	cms-top -k 0 -f 1 -W 2 --decay=999999 -o digits w
	cms-top --query digits --bounds >listed
	sed 's/"count":\([^,]*\),"low":\([^,]*\),"high":\([^,]*\),.*"key":"\(.*\)"}/\1\t\2\t\3\t\4/
		s/^{//' <(cms-top --query digits --json) >objects
	same listed objects "--json has the digits of the list, of $weight"
	awk -F '\t' '{ print $1 "\t" $2 "\t" $3 "\t" $4 }' \
		<(cms-count --query digits --bounds -e a -e b) | sort >asked
	sort listed | cmp - asked
	is "$?" 0 "and so has cms-count --query, of $weight"
	total=$(cms-top -k 0 --query digits --stats 2>&1 | sed -n 's/.*total \([0-9.]*\) .*/\1/p')
	is "$(info digits total) $(sketch-info digits | sed -n 's/^total\t//p')" "$total $total" \
		"and the total of sketch-info that of --stats, of $weight"
done
# 2^-(n / 1000) is next to half a thousandth at n = 10966.
for n in 10963 10964 10965 10966 10967 10968; do
	{ echo once; seq $n | sed 's/.*/other/'; } | cms-top --decay=1000 | cut -f 1
done | grep -c '^0\.000' >rows
is "$(cat rows)" 0 "what would be listed as 0.000 is not"
clean_error "a total beyond 2^43 may not" "2^43 to 2^44" \
	bash -c "echo 17000000000000 | cms-count -W 1 --decay=9 -o u"
quietly "be counted" bash -c "echo 17000000000000 | cms-count -W 1 --decay=9999 -o big"
printf 'a 17000000000000\na 900000000000\n' >w
clean_error "a total beyond 2^44" "record 2" cms-count -f 1 -W 2 --decay 1e9 -o u w
like "$(cat "$ERR")" '2\^44' "is refused by that number"
printf 'x\n\n' | cat - w >later
clean_error "records without a key are counted, too" "record 4" \
	cms-count -f 1 -W 2 --decay 1e9 -o u later

# ---- the throttle
for n in 1 9 100 777 5000; do
	for most in 0 1 5; do
		throttle $n $most <log >want
		quietly "--at-most $most --window=$n" cms-count --at-most $most --window=$n log
		same want "$OUT" "--at-most $most --window=$n: as an exact one passes"
	done
done
expect 0 '15\n' "a line that never stops is heard again and again" \
	bash -c 'yes full | head -n 1000 | cms-count --at-most 5 --window=400 | wc -l'
throttle 777 2 <log >want
rm -f parts
start=1
for size in 1 3 650 700 8000 10646; do
	cms-count --window=777 --at-most 2 --append parts <(tail -n +$start log | head -n $size)
	start=$((start + size))
done >got
same want got "--append: the throttle goes on from run to run"
run cms-count --at-most 2 --append parts --stats log
passed=$(wc -l <"$OUT")
like "$(cat "$ERR")" "^cms-count: $passed passed on, .* $((20000 - passed)) held" \
	"--stats counts both, and the window is the file's"
expect 0 '1\ta\n2\ta\n1\tb\n' "--annotate: the count of what was passed" \
	bash -c "printf 'a\na\na\nb\n' | cms-count --at-most 2 --window 9 --annotate"
expect 0 'a 3\nb 9\na 2\n' "with -W the sum stays within" \
	bash -c "printf 'a 3\nb 9\na 7\na 2\n' | cms-count -f 1 -W 2 --at-most 9 --window 9"
expect 0 'none\nx a\nnone\n' "a record without the field passes" \
	bash -c "printf 'none\nx a\nx a\nnone\n' | cms-count -f 2 --at-most 1 --window 9"
yes x | head -n 1000 >flood
awk '{ c *= 2 ^ -0.01 } c + 1 <= 5.0005 { c++; n++ } END { print n }' flood >want
run bash -c 'cms-count --at-most 5 --decay 100 flood | wc -l'
same want "$OUT" "with --decay: five at once, then as fast as it fades"
clean_error "--at-least as well" at-least cms-count --at-most 5 --at-least 2 --window 9 log
clean_error "also where the file has the window" at-least \
	cms-count --at-most 5 --at-least 2 --append parts log

# ---- by time
expect 0 '1\ta\n2\ta\n1\ta\n' "--window by time forgets while nothing comes" \
	bash -c '{ echo a; echo a; sleep 0.7; echo a; } | cms-count --window=400ms'
expect 0 '1\n' "cms-top: the list is that of the end" \
	bash -c '{ echo a; sleep 0.7; echo b; } | cms-top --window=400ms | wc -l'
expect 0 '' "even where all is forgotten by then" \
	bash -c '{ echo a; sleep 0.7; } | cms-top --window=400ms'
run bash -c '{ echo a; sleep 0.5; echo a; } | cms-count --decay=500ms | tail -n 1'
run awk '{ exit !($1 > 1.01 && $1 < 1.8) }' "$OUT"
is "$status" 0 "--decay by time: about half of it is left"
expect 0 'a\na\nb\na\n' "a throttle by time" \
	bash -c '{ echo a; echo a; echo a; echo b; sleep 0.7; echo a; } |
		cms-count --at-most 2 --window=400ms'
cms-count --window=300ms -o brief log
sleep 0.6
is "$(info brief total) $(cms-count --query brief -e 0 | cut -f 2)" "20000 0" \
	"--query asks it as it was saved"
cms-count --append brief </dev/null
is "$(info brief total)" 0 "--append goes on from now, and saves what that forgets"
cms-count --window=1h -o hour log
cms-count --window=10 -o w10 log
cms-count -o ever log
cp hour kept
cms-count --append hour </dev/null
cmp -s kept hour
is "$?" 0 "and saves nothing where nothing changed"
if [ -n "$PYTHON" ]; then
	echo early | "$PYTHON" "$TOP/scripts/sketch-format" write --counts w=50,d=3,tracked=1000 \
		--window nanoseconds:length=8000000000,now=4102444800000000000 >ahead
	run bash -c "printf 'early\n' | cms-count --annotate --append ahead"
	is "$status $(cat "$OUT")" "0 2	early" "a window ahead of the clock"
	like "$(cat "$ERR")" '^cms-count: ahead: warning: .*clock' "which is said"
	# Clocks of hosts differ by a little: less than a pane, or a half-life, is no warning.
	next=$((($(date +%s) / 1000 + 1) * 1000))
	for spans in 0 2; do
		now=$((next + 1000 * spans))
		for kind in --window=nanoseconds:length=8000000000000 \
			--decay=nanoseconds:half=1000000000000; do
			echo early | "$PYTHON" "$TOP/scripts/sketch-format" write \
				--counts w=50,d=3,tracked=1000 "$kind,now=${now}000000000" >ahead.by
			run cms-count --append ahead.by log
			is "$status $(grep -c warning "$ERR")" "0 $((spans > 0))" \
				"$kind, ahead by $spans spans and a part"
		done
	done
	echo old | "$PYTHON" "$TOP/scripts/sketch-format" write --counts w=50,d=3,tracked=1000 \
		--decay nanoseconds:half=3600000000000,now=1577836800000000000 >old
	expect 0 '1.000\told\n' "years of half-lives leave nothing" \
		bash -c 'echo old | cms-count --annotate --append old'

	# ---- a saved sketch is as old as it is, and says so
	formats=(--counts "w=50,d=3,tracked=1000")
	echo old | "$PYTHON" "$TOP/scripts/sketch-format" write "${formats[@]}" \
		--window nanoseconds:length=12000000000,now=1577836800000000000 >old.window
	echo old | "$PYTHON" "$TOP/scripts/sketch-format" write "${formats[@]}" \
		--decay nanoseconds:half=300000000000,now=1577836801000000000 >old.decay
	# The day of 2020 is half a year and more ago wherever this runs.
	for tool in cms-top "cms-count -e old"; do
		# shellcheck disable=SC2086 # words
		run $tool --stats --query old.decay
		like "$(cat "$ERR")" 'as it was at 2020-01-01 00:00:01 UTC, [0-9]{3,}d ago$' \
			"$tool --stats --query says of when it speaks"
		# shellcheck disable=SC2086 # words
		run $tool --stats --query old.window
		said='as it was at 2020-01-01 00:00:00 UTC or up to 1500ms after, '
		said+='at most [0-9]+d ago$'
		like "$(cat "$ERR")" "$said" "$tool: of a window, within a pane"
		like "$(cat "$ERR")" 'a count covers the last 12s to 13500ms$' "$tool: and how long"
		# shellcheck disable=SC2086 # words
		run $tool --stats --query ahead
		said='as it was at 2100-01-01 00:00:00 UTC .*later than now by the clock'
		like "$(cat "$ERR")" "$said" "$tool: of the future"
	done
	echo old | "$PYTHON" "$TOP/scripts/sketch-format" write "${formats[@]}" \
		--decay nanoseconds:half=300000000000,now=1577837101000000000 >later.decay
	for files in "old later" "later old"; do
		expect 0 '1.500\told\n' "both are asked at the later moment: $files" \
			cms-count --query "${files% *}.decay" --query "${files#* }.decay" -e old
	done
	run cms-top --stats --query old.decay
	like "$(cat "$ERR")" 'a count halves every 5min$' "half-lives are durations"
	run cms-top --stats --window=1h log
	not_ok "what is counted now is as of now" grep -q 'as it was' "$ERR"
	run cms-top --stats --query ever
	not_ok "and what forgets nothing is of no time" grep -q 'as it was' "$ERR"
	for fact in window_duration:12s span_duration:1500ms "began:2020-01-01 00:00:00 UTC" \
		"tracked_most_of:each pane"; do
		is "$(info old.window "${fact%%:*}")" "${fact#*:}" "sketch-info: ${fact%%:*}"
	done
	for fact in decay_duration:5min "now_utc:2020-01-01 00:00:01 UTC" \
		tracked_most_of:missing; do
		is "$(info old.decay "${fact%%:*}")" "${fact#*:}" "sketch-info: ${fact%%:*}"
	done
	is "$(info w10 began) $(info w10 window_duration)" "missing missing" "not of records"
else
	skip "files of other times" "no python3"
fi

# ---- merging
for option in --window=1h --decay=1000h; do
	split -n r/3 log part.
	for part in part.a?; do cms-count "$option" -o "$part.cms" "$part"; done
	quietly "sketch-merge of $option" sketch-merge -o all.cms part.a?.cms
	is "$(info all.cms total | cut -d . -f 1)" 20000 "adds up"
	is "$(cms-top --query all.cms -k 5 | cut -f 2)" "$(cms-top -k 5 log | cut -f 2)" \
		"to the heaviest of all"
	is "$(cms-count --query part.aa.cms --query part.ab.cms --query part.ac.cms -e 0)" \
		"$(cms-count --query all.cms -e 0)" "as does cms-count --query"
	quietly "cms-top --query of several" cms-top --query part.aa.cms --query part.ab.cms
done
cms-count --window=10 -o w10 log
cms-count --window=10 -o x10 log
cms-count --window=2h -o w2h log
cms-count --decay=10 -o d10 log
cms-count --decay=10 -o e10 log
cms-count -o ever log
cp hour hour2
while read -r a b word; do
	clean_error "sketch-merge $a $b" "$word" sketch-merge -o u "$a" "$b"
done <<'END'
w10 x10 records
hour w10 window
hour w2h window
hour ever window
ever hour window
d10 e10 records
d10 ever decay
ever all.cms decay
END
clean_error "cms-top --query of what is not added" window cms-top --query hour --query ever
clean_error "cms-count --query of decayed and other counts" decay \
	cms-count --query d10 --query ever -e 0

# ---- one rule for all that add up
# Each is a pair of sketches and what is said of them.
cms-count -o min5 --window=5min log
cms-count -o min10 --window=10min log
cms-count -o half5 --decay=5min log
cms-count -o half90 --decay=90s log
cp w10 w10copy
cp d10 d10copy
cp min5 min5copy
cp half5 half5copy
while IFS=: read -r pair said; do
	# shellcheck disable=SC2086 # words
	set -- $pair
	for command in "cms-top --query $1 --query $2" "cms-count --query $1 --query $2 -e x" \
		"sketch-merge -o new $1 $2"; do
		# shellcheck disable=SC2086 # words
		clean_error "$command" "$1 and $2: $said" $command
	done
done <<'END'
hour ever:window differs: only one of the two has one
ever d10:decay differs: only one of the two decays
min5 half5:one has a window, one decays
half5 min5:one has a window, one decays
min5 min10:window differs: 5min and 10min
min10 w10:window differs: 10min and 10 records
half5 half90:half-life differs: 5min and 90s
d10 half5:half-life differs: 10 records and 5min
w10 w10copy:window of records: the last of two streams are not the last of both
d10 d10copy:decay by records: which of the two streams' records came later
END
for pair in "min5 min5copy" "half5 half5copy"; do
	# shellcheck disable=SC2086 # words
	set -- $pair
	quietly "cms-count --query of two alike, $pair" cms-count --query "$1" --query "$2" -e x
	quietly "and cms-top" cms-top --query "$1" --query "$2"
	quietly "and sketch-merge" sketch-merge -o new "$1" "$2"
done

# ---- what agrees and what does not
clean_error "another window" 'has 10 records' cms-count --append w10 --window=20 log
clean_error "another unit" 'has 10 records' cms-count --append w10 --window=20s log
clean_error "a window for a file without" 'window differs: the file has none' \
	cms-count --append ever --window=20 log
clean_error "decay for a file with a window" 'decay differs: the file has none' \
	cms-count --append w10 --decay=20 log
clean_error "another half-life" 'has 10 records' cms-count --append d10 --decay=20 log
for word in 5minutes 10x k abc 1.5.5s -5min; do
	for option in window decay; do
		clean_error "--$option=$word" \
			"--$option: '$word' is neither a number of records (1000, 10k) nor a" \
			cms-count --$option="$word" log
	done
done
clean_error "a lacking letter is guessed" "did you mean 5min?" cms-count --window=5m log
clean_error "no records" "from 1" cms-count --window=0 log
clean_error "another window of time" \
	'window differs: the file has 5min, the command line says 10min' \
	cms-count --append min5 --window=600s log
quietly "its own" cms-count --append w10 --window=10 log
quietly "and its size" cms-count --append w10 --window=10 --size 1MiB log
quietly "also of one that decays" cms-count --append d10 --decay=10 --size 1MiB log
quietly "or none at all" cms-top -k 0 --append d10 log
clean_error "--window and --decay" exclude cms-count --window 10 --decay 10 log
clean_error "--plain and --decay" plain cms-count --plain --decay 10 log
clean_error "--query and --window" window cms-count --query w10 --window 10 -e a
clean_error "--query and --decay" decay cms-top --query d10 --decay 10
clean_error "--threads and --window" window \
	cms-count -j 2 --plain --window 10 -o u log
cms-count --plain --window=10 -o p10 log
clean_error "--threads with a file that has one" forgets cms-count -j 2 --append p10 log
for bad in 0 0s -1 x 5m 1.5 "" 1e19 1000y 3x2; do
	clean_error "--window='$bad'" window cms-count "--window=$bad" log
	clean_error "--decay='$bad'" decay cms-top "--decay=$bad" log
done

# ---- damage
for file in w10 d10; do
	cp "$file" damaged
	printf '\377' | dd of=damaged bs=1 seek=700 conv=notrunc 2>/dev/null
	head -c 5000 "$file" >short
	for other in damaged short; do
		clean_error "$file, $other: cms-top" "$other" cms-top --query "$other"
		clean_error "$file, $other: sketch-info" "$other" sketch-info "$other"
		clean_error "$file, $other: --append" "$other" cms-count --append "$other" log
	done
done

# ---- memory
if sanitized || ! type -P time >.tap/ok; then
	skip "memory" "sanitizers have their own, or no time(1)"
else
	run "$TOP/scripts/flat-memory" 1000000
	is "$status" 0 "as much memory for twenty times the records"
	diag "$(cat "$OUT" "$ERR")"
fi

done_testing
