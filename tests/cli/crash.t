#!/usr/bin/env bash
# kill -9, full disks, failing calls: the old file or the new one, whole
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

seq 1 100 >list
bloom-build -n 1M -s 1 -o old list
bloom-build -n 1M -s 2 -o new list

# untouched NAME TARGET: status 2, one line, the target as old, and nothing beside it
untouched()
{
	local faults=()
	[ "$status" -eq 2 ] || faults+=("status $status, not 2")
	[ ! -s "$OUT" ] || faults+=("bytes on stdout")
	one_message bloom-build ""
	cmp -s old "$2" || faults+=("$2 is not the old file")
	[ "$(find "${2%/*}" -mindepth 1 ! -path '*/lost+found' | wc -l)" -eq 1 ] ||
		faults+=("beside it: $(ls -A "${2%/*}")")
	report "$1" "" "${faults[@]}"
}

# ---- a full disk
mkdir full
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=1500k none full 2>/dev/null; then
	cp old full/f
	run bloom-build -n 1M -s 2 -o full/f list
	untouched "a full disk: the old file stays" full/f
	like "$(cat "$ERR")" 'no space left' "and the message says why"
	run bloom-build --append full/f <(echo x)
	untouched "a full disk: nothing is appended" full/f
	rm full/f
	run bloom-build -n 10M -o full/f list
	is "$status $(find full -mindepth 1 | wc -l)" "2 0" "a full disk: no file is made"
	run bloom-build -n 10M --append full/f list
	is "$status $(find full -mindepth 1 | wc -l)" "2 0" "nor by appending, none of 0 bytes"
	bloom-build -n 10 -p 1e-9 -o full/g list 2>/dev/null
	head -c 2M /dev/zero >full/filler 2>/dev/null
	run bash -c 'bloom-query -v full/g <list >full/out'
	is "$(wc -l <"$ERR")" "$([ "$status" -eq 2 ] && echo 1 || echo 0)" \
		"bloom-query says so, too"
	umount full
	mount -t tmpfs -o ro none full
	clean_error "a read-only file system" full bloom-build -n 10 -o full/f list
	clean_error "a read-only file system, appending" full bloom-build -n 10 --append full/f list
	umount full
else
	for i in 1 2 3 4 5 6 7 8; do skip "a full disk ($i)" "no mount"; done
fi

# ---- a limit of file size, with its signal and without
mkdir small
cp old small/f
starved 200 bloom-build -n 1M -s 2 -o small/f list
untouched "a limit of file size: the old file stays" small/f
starved 200 bloom-build --append small/f list
untouched "a limit of file size: nothing is appended" small/f
run bash -c 'ulimit -f 200; exec bloom-build -n 1M -s 2 -o small/f list'
ok "with its signal: no success" test "$status" -ne 0
same old small/f "with its signal: the old file stays"
ok "with its signal: at most one left-over" test "$(find small -mindepth 1 | wc -l)" -le 2
run bloom-build -n 1M -s 2 -o small/f list
is "$(find small -mindepth 1 | wc -l)" 1 "gone after the next write"
same new small/f "which succeeds"

# ---- calls that fail, one after the other
if strace -qq -o /dev/null true 2>/dev/null && ! sanitized; then
	mkdir traced
	for call in fsync fdatasync rename,renameat,renameat2 fchmod,fchmodat,chmod \
		linkat ftruncate \
		pwrite64 write; do
		for error in EIO ENOSPC EDQUOT; do
			cp old traced/f
			chmod 640 traced/f
			# The last thing written is the message, which has to get through.
			when=
			[ "$call" != write ] || when=:when=1
			run strace -qq -f -o .tap/trace -e "trace=$call" \
				-e "inject=$call:error=$error$when" \
				bloom-build -n 1M -s 2 -o traced/f list
			name="$call fails with $error"
			if ! grep -q INJECTED .tap/trace; then
				same new traced/f "$name: it is not called"
			elif [ "$status" -eq 0 ]; then
				same new traced/f "$name: got round"
			else
				untouched "$name: the old file stays" traced/f
			fi
			rm -rf traced/* traced/.[!.]*
		done
	done
	for call in rename,renameat,renameat2 linkat fsync; do
		cp old traced/f
		run strace -qq -f -o .tap/trace -e "trace=$call" -e "inject=$call:signal=KILL" \
			bloom-build -n 1M -s 2 -o traced/f list
		ok "killed at $call: old or new" \
			bash -c 'cmp -s old traced/f || cmp -s new traced/f'
		ok "killed at $call: at most one left-over" \
			test "$(find traced -mindepth 1 | wc -l)" -le 2
		run bloom-build -n 1M -s 2 -o traced/f list
		is "$(find traced -mindepth 1)" traced/f \
			"killed at $call: gone after the next write"
		cp old traced/f
		run strace -qq -f -o .tap/trace -e "trace=$call" -e "inject=$call:signal=KILL" \
			bloom-build --append traced/f list
		run bloom-build --append traced/f list
		is "$status $(find traced -mindepth 1)" "0 traced/f" \
			"killed at $call while appending: gone after the next append"
		run bloom-query -v traced/f list
		is "$status" 1 "killed at $call while appending: which has everything"
		rm -rf traced/* traced/.[!.]*
	done
	run strace -qq -f -o .tap/trace -e trace=fsync,fdatasync,rename,renameat,renameat2 \
		bloom-build -n 1M -s 2 -o traced/f list
	like "$(sed 's/^[0-9]* *//; s/(.*//' .tap/trace | tr '\n' ' ')" \
		'f(data)?sync.* rename(at2?)? .*f(data)?sync' \
		"the file is synced before it is renamed, the folder after"
	printf 'x\n' >traced/input
	: >.tap/trace
	run strace -qq -f -o .tap/trace -P traced/input -e trace=read,pread64,readv,mmap \
		-e inject=read,pread64,readv:error=EIO \
		bloom-build -n 1M -s 3 -o traced/f traced/input
	if grep -q INJECTED .tap/trace; then
		is "$status" 2 "a read that fails: status 2"
		same new traced/f "a read that fails: the old file stays"
		like "$(cat "$ERR")" 'traced/input.*input/output' \
			"a read that fails: the message says so"
		run strace -qq -f -o .tap/trace -P traced/input -e trace=read,pread64,readv \
			-e inject=read,pread64,readv:error=EIO \
			bloom-query traced/f traced/input list
		is "$status $(wc -l <"$OUT")" "2 100" \
			"a read that fails: bloom-query goes on with the rest"
	else
		skip "a read that fails" "the input was not read by these calls"
	fi
else
	skip "calls that fail" "no strace"
fi

done_testing
