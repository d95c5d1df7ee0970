#!/usr/bin/env bash
# Every call to the system that can fail, failing: an answer that is right, or a reason
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

library=$TOP/build/preload.so
if sanitized; then
	skip "calls that fail" "a sanitizer has the calls for itself"
	done_testing
elif ! LD_PRELOAD=$library true 2>.tap/ok || [ -s .tap/ok ]; then
	skip "calls that fail" "no $library that can be loaded"
	done_testing
fi

# failing CLASS CALL ERROR [VARIABLE=VALUE]... COMMAND...: a run in which that call fails
failing()
{
	local faults=(FAULT_CLASS="$1" FAULT_CALL="$2" FAULT_ERROR="$3" FAULT_LOG="$PWD/.tap/hit")
	shift 3
	rm -f .tap/hit
	run env LD_PRELOAD="$library" "${faults[@]}" "$@"
}

# ---- found once: a list of names that ended where memory did
seq 1 100 >a
seq 101 200 >b
printf 'a\0b\0' >names
bloom-build -n 200 -o whole a b
wrong=()
for call in $(seq 1 30); do
	failing alloc "$call" 12 bloom-build -n 200 --files0-from=names -o f
	[ -e .tap/hit ] || break
	[ "$status" -ne 0 ] || cmp -s f whole || wrong+=("call $call: half of the keys, status 0")
done
report "--files0-from without memory is not half of the files" "" "${wrong[@]}"

# ---- found once: a target that could not be looked at lost its mode
wrong=()
for call in $(seq 1 10); do
	cp whole f
	chmod 604 f
	failing stat "$call" 5 bloom-build -n 200 -o f a
	[ -e .tap/hit ] || break
	[ "$(stat -c %a f)" = 604 ] || wrong+=("call $call: mode $(stat -c %a f), $(cat .tap/hit)")
done
report "a target that cannot be looked at keeps its mode" "" "${wrong[@]}"

# ---- found once: a hundred left-overs, or no end, where no file could be looked at
mkdir looked
wrong=()
for call in $(seq 1 10); do
	for command in "-n 200 -o" "--append"; do
		cp whole looked/f
		# shellcheck disable=SC2086 # several words
		failing stat "$call" 5 FAULT_KEEP=1 FAULT_NAMED=1 bloom-build $command looked/f a
		[ "$status" -eq 2 ] || [ ! -e .tap/hit ] || cmp -s looked/f whole ||
			wrong+=("$command, call $call: status $status")
		count=$(find looked -type f | wc -l)
		[ "$count" -le 2 ] || wrong+=("$command, call $call: $count files")
		rm -f looked/* looked/.f*
	done
done
report "files that cannot be looked at: an end, and no left-overs" "" "${wrong[@]}"

# ---- found once: a sketch that could not be had was freed as if it were the first
wrong=()
for call in $(seq 1 40); do
	failing alloc "$call" 12 cms-count -j 3 --plain -o c a b
	[ -e .tap/hit ] || break
	[ "$status" -le 2 ] || wrong+=("call $call: status $status: $(cat "$ERR")")
done
report "threads without memory end as all do" "" "${wrong[@]}"

# ---- no locks
for error in 37 95; do # ENOLCK, EOPNOTSUPP
	cp whole f
	failing lock 1 $error FAULT_KEEP=1 bloom-build --append f b
	is "$status $(cmp f whole && echo same)" "2 same" "a file system without locks ($error)"
	like "$(cat "$ERR")" '^bloom-build: f: cannot lock it: ' "and the message says so"
	failing lock 1 $error FAULT_KEEP=1 FAULT_NAMED=1 bloom-build -n 200 -o f a b
	is "$status $(cmp f whole && echo same)" "0 same" "a new file needs none ($error)"
done

checks faults.py "$library"

done_testing
