#!/usr/bin/env bash
# --threads: the same bytes whatever their number, and a reason where it is refused
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# Several blocks of 256 KiB, with records shorter and longer than one, and an end that has
# no newline.
count=$(long && echo 300000 || echo 60000)
seq 1 "$count" | awk '{ print ($1 * 7919) % 40009, "field", $1 % 101 }' >many
{
	cat many
	head -c 700000 /dev/zero | tr '\0' x
	printf '\n\n\n'
	cat many
	printf 'no newline'
} >input
tr '\n' '\0' <many >zero
printf 'short' >short
: >empty
threads="2 3 7"

# the_same NAME COMMAND...: with any number of threads as with one, in stdout, stderr, status
the_same()
{
	local name=$1 wanted j
	shift
	run "$@"
	wanted=$status
	cp "$OUT" one.out
	cp "$ERR" one.err
	for j in $threads; do
		run "$@" -j "$j"
		is "$status" "$wanted" "$name, $j threads: status"
		same one.out "$OUT" "$name, $j threads: stdout"
		same one.err "$ERR" "$name, $j threads: stderr"
	done
	rm one.out one.err
}

# ---- building
for options in "-n 100k" "-n 100k -p 1e-6 -L classic" "-m 1Mbit -i" "-n 100k -f 1" \
	"-n 100k -f 1,3" "-n 100k -d e -f 2"; do
	# shellcheck disable=SC2086 # several words
	the_same "build $options" bloom-build $options --stats input
done
the_same "build of NUL-ended records" bloom-build -z -n 100k --stats zero
the_same "build of several inputs" bloom-build -n 100k --stats short many empty input short
the_same "build of nothing" bloom-build -n 10 empty
the_same "build past capacity" bloom-build -n 10 -p 0.5 many
the_same "build without the field" bloom-build -n 10 -f 9 many
the_same "build where an input is missing" bloom-build -n 10 many missing input
for j in 0 $threads; do
	run bash -c "cat input | bloom-build -n 100k -j $j >piped"
	bloom-build -n 100k -o whole input
	same whole piped "build from a pipe, $j threads"
done

# ---- adding
for j in $threads; do
	bloom-build -n 100k -o whole many short input
	rm -f grown
	bloom-build -n 100k -j "$j" --append grown many
	bloom-build -j "$j" --append grown short input
	same whole grown "append, $j threads"
done

# ---- asking
awk '{ print; print "absent", $0 }' many >asked
printf 'short\nlast, without newline' >>asked
bloom-build -n 100k -o filter many short
bloom-build -n 100k -s 5 -o other input
for options in "" -v --annotate --count -q "-f 2" "-v -f 2,3" --stats "-v --annotate --stats"; do
	# shellcheck disable=SC2086 # several words
	the_same "query $options" bloom-query filter $options asked input empty short
done
the_same "query of two filters" bloom-query --filter filter --filter other asked
the_same "query of NUL-ended records" bloom-query -z filter zero
the_same "query where nothing matches" bloom-query filter empty
the_same "query -q where nothing matches" bloom-query -q filter empty
the_same "query where an input is missing" bloom-query filter asked missing short
the_same "query with keys" bloom-query -e absent -e short filter asked
for j in $threads; do
	run bash -c "cat asked | bloom-query -j $j filter | cmp - <(bloom-query filter asked)"
	is "$status" 0 "query in a pipe, $j threads"
done
tr '\n' x <many >junk.part
for _ in 1 2 3 4; do cat junk.part; done >one-record
the_same "query of one long record" bloom-query -v filter one-record

# ---- counting
for j in 1 $threads; do
	cms-count --plain -j "$j" -o "counts.$j" many input short
	same counts.1 "counts.$j" "counts, $j threads"
done
for j in $threads; do
	cms-count --plain -o grown.cms many
	cms-count -j "$j" --append grown.cms input short
	same counts.1 grown.cms "counts added, $j threads"
done
# Cells that overflow in one thread's sketch only when all are added up.
cms-count --plain --width 4 --depth 2 -W 2 -o wide.cms <<<'a 4294967000'
cp wide.cms wide2.cms
yes a | head -n 200000 >same-key
cms-count --append wide.cms same-key
cms-count -j 3 --append wide2.cms same-key
same wide.cms wide2.cms "counts that widen"

# ---- distinct records
for options in "" "--bounds -f 1" "--precision 5 --stats" "--json -i -f 2,3"; do
	# shellcheck disable=SC2086 # several words
	the_same "distinct $options" hll-count $options input many empty short
done
for j in 1 $threads; do
	hll-count -q -j "$j" -o "distinct.$j" many input short
	same distinct.1 "distinct.$j" "distinct, $j threads: the sketch"
	hll-count -q -j "$j" --append "added.$j" many
	hll-count -q -j "$j" --append "added.$j" input short
	same distinct.1 "added.$j" "distinct, $j threads: added"
done
hll-count -q -o few short
hll-count -q -j 3 -o few3 short
same few few3 "few distinct, exact"

# ---- refused
clean_error "a growing filter" -n bloom-build -j 2 many
bloom-build --append ladder short
clean_error "adding to a growing filter" ladder bloom-build -j 2 --append ladder many
clean_error "saving in between" save-every \
	bloom-build -j 2 -n 10 --append new --save-every 1s many
clean_error "bloom-uniq" "depends on all records before" bloom-uniq -j 2 many
clean_error "cms-top" "depends on the order" cms-top -j 2 many
clean_error "running counts" "all records before" cms-count -j 2 many
clean_error "conservative counts" --plain cms-count -j 2 -o new many
cms-count -o conservative.cms short
clean_error "adding to conservative counts" conservative.cms \
	cms-count -j 2 --append conservative.cms many
clean_error "weights" weight cms-count -j 2 --plain -W 1 -o new many
clean_error "asking for distinct records" query hll-count -j 2 --query distinct.1
clean_error "adding to counts that are still to be made so" "made without --plain" \
	cms-count -j 2 --append new.cms many
not_ok "and nothing is made" test -e new.cms
clean_error "saving in between" save-every hll-count -j 2 --append new --save-every 1s many
bloom-build --kind counting -n 100 -o copies short
clean_error "adding where copies count" counting bloom-build -j 2 --append copies many
clean_error "asking for counts" query cms-count -j 2 --query counts.1 many
for word in -1 257 2x '' 1.5; do
	clean_error "a number of threads, '$word'" threads bloom-build -n 10 -j "$word" many
done
clean_error "memory for each thread" memory bloom-build -m 1TB -j 256 many
quietly "one thread is no matter" bloom-uniq -j 1 many
quietly "nor for cms-top" cms-top -j 1 many

# ---- trouble
if [ -w /dev/full ]; then
	for j in $threads; do
		run bash -c "bloom-query -j $j -v filter input >/dev/full"
		is "$status" 2 "a full disk, $j threads"
		is "$(wc -l <"$ERR")" 1 "one message"
	done
fi
run bash -c 'yes absent | bloom-query -j 2 -v filter | head -n 1'
is "$(cat "$OUT")" absent "a reader that goes away, with -j: its line"
is "$(wc -c <"$ERR")" 0 "and no word"
cp filter damaged
printf 'X' | dd of=damaged bs=1 seek=$(($(wc -c <damaged) - 100)) conv=notrunc status=none
clean_error "a damaged filter" damaged bloom-query -j 2 damaged many

# ---- a line that was typed comes out at once
mkfifo typed shown
bloom-query -j 2 -v filter <typed >shown &
tool=$!
exec 7>typed 8<shown
printf 'absent line\n' >&7
if read -r -t 10 -u 8 line && [ "$line" = "absent line" ]; then
	pass "a line comes out while the input stays open"
else
	fail "a line comes out while the input stays open" "got '${line-}'"
fi
exec 7>&-
wait "$tool"
is "$?" 0 "and the tool ends with its input"
exec 8<&-

# ---- nor does it wait for input that cannot matter any more
mkfifo held
for options in "-q -j 1" "-q -j 3"; do
	# shellcheck disable=SC2086 # several words
	timeout 30 bloom-query $options filter <held &
	tool=$!
	exec 7>held
	printf 'short\n' >&7
	wait "$tool"
	is "$?" 0 "query $options: ends with its first match, while the input stays open"
	exec 7>&-
done
mkfifo taken
for j in 1 3; do
	timeout 30 bloom-query -j "$j" -v filter <held >taken 2>said &
	tool=$!
	exec 7>held 8<taken 8<&-
	printf 'absent line\n' >&7
	wait "$tool"
	is "$?" 141 "query -j $j: dies by SIGPIPE where nobody takes its output"
	is "$(cat said)" "" "without a word"
	exec 7>&-
done

# ---- a signal ends it in order, whichever thread waits for more
for j in 2 3 7; do
	rm -f kept endless
	mkfifo endless
	bloom-build -n 100k -j "$j" --append kept <endless &
	tool=$!
	exec 7>endless
	cat many >&7
	sleep 0.3
	kill -TERM "$tool"
	wait "$tool"
	is "$?" 143 "terminated, it dies by the signal, $j threads"
	exec 7>&-
	quietly "and what was read is saved, $j threads" bloom-query -c kept many
	is "$(cat "$OUT")" "$(wc -l <many)" "all of it, $j threads"
done

done_testing
