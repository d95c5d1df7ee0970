#!/usr/bin/env bash
# Over the cores and over hosts: filters made apart and joined are the filter of one process
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

seq 1 120000 | awk '{ print $1 % 7 ? $1 : int($1 / 3), "some line" }' >lines
bloom-build -n 120000 -p 0.001 -o whole lines

# ---- with what every system has
quietly "a part of the file for each process of xargs" bash -c '
	split -n l/5 lines part. && printf "%s\n" part.?? |
	xargs -P 2 -I{} bloom-build -n 120000 -p 0.001 -o {}.bloom {} &&
	sketch-merge -o joined part.*.bloom'
same whole joined "joined they are the filter of one process, byte for byte"
rm -f part.*
# Over hosts whose lines are not in one place there is nothing to split.
# shellcheck disable=SC2016 # the inner shell is to expand them
quietly "a filter for each input" bash -c '
	split -l 30000 lines host. && for host in host.??; do
		bloom-build -n 120000 -p 0.001 <"$host" >"$host.bloom"
	done && cat host.aa.bloom | sketch-merge -o joined - host.a[b-z].bloom'
same whole joined "is the same"
# Deduplicated lines need all of a key in one place: a shard by key for each process.
# shellcheck disable=SC2016
quietly "shards by key" bash -c '
	awk "{ print > (\"shard.\" \$1 % 4) }" lines && printf "%s\n" shard.? |
	xargs -P 2 -I{} sh -c "bloom-uniq {} >{}.out"'
same <(sort -u lines) <(sort shard.*.out) "together they pass what one sort -u keeps"
rm -f part.* host.* shard.* joined

# ---- GNU parallel
if ! command -v parallel >.tap/ok ||
	! parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
	skip "parallel --pipepart" "no GNU parallel"
	skip "parallel --sshlogin" "no GNU parallel"
	done_testing
fi
export HOME=$PWD/home
mkdir -p home/.parallel
touch home/.parallel/will-cite
# shellcheck disable=SC2317 # the shells below call it
parallel() { command parallel --will-cite "$@"; }
export -f parallel

run parallel --pipepart -a lines --block -1 -j 3 \
	'bloom-build -n 120000 -p 0.001 -o part.{#}.bloom'
is "$status $(cat "$ERR")" "0 " "parallel --pipepart"
ok "made several filters" test "$(find . -name 'part.*.bloom' | wc -l)" -ge 3
quietly "which are joined" bash -c 'sketch-merge -o joined part.*.bloom'
same whole joined "to the filter of one process, byte for byte"
is "$(info joined records)" 120000 "records included"
rm -f part.* joined
run bash -c 'parallel --pipe --block 300k -j 3 \
	"bloom-build -n 120000 -p 0.001 -o part.{#}.bloom" <lines'
is "$status $(cat "$ERR")" "0 " "parallel --pipe"
sketch-merge -o joined part.*.bloom
same whole joined "joined they are the same"
rm -f part.* joined
run bash -c 'parallel --pipe --shard 1 --colsep " " -j 3 bloom-uniq <lines'
if [ "$status" -eq 0 ]; then
	same <(sort -u lines) <(sort "$OUT") "parallel --shard: what one sort -u keeps"
else
	skip "parallel --shard" "this parallel cannot"
fi

# ---- the same over ssh, to this host
sshd=$(command -v sshd || ls /usr/sbin/sshd 2>/dev/null)
if ! long; then
	skip "parallel --sshlogin" "LONG=1 asks for it"
	done_testing
fi
if [ -z "$sshd" ] || ! command -v ssh >.tap/ok || ! command -v ssh-keygen >.tap/ok; then
	skip "parallel --sshlogin" "no ssh here"
	done_testing
fi
server=
stop_server()
{
	[ -z "$server" ] || kill "$server" 2>/dev/null
	server=
}
ssh-keygen -q -t ed25519 -N '' -f hostkey
ssh-keygen -q -t ed25519 -N '' -f userkey
[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd 2>/dev/null
port=$((20000 + $$ % 20000))
"$sshd" -D -e -f /dev/null -p $port -h "$PWD/hostkey" -o ListenAddress=127.0.0.1 \
	-o AuthorizedKeysFile="$PWD/userkey.pub" -o StrictModes=no -o PidFile=none \
	-o PasswordAuthentication=no -o KbdInteractiveAuthentication=no 2>.tap/sshd &
server=$!
login="ssh -p $port -i $PWD/userkey -F /dev/null -o StrictHostKeyChecking=no \
-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o BatchMode=yes $(id -un)@127.0.0.1"
reached=no
for _ in 1 2 3 4 5 6 7 8 9 10; do
	sleep 0.3
	# shellcheck disable=SC2086 # a command and its arguments
	if $login true 2>.tap/ssh; then reached=yes; break; fi
done
if [ $reached = yes ]; then
	run parallel --sshlogin "2/$login" --pipepart -a lines --block -1 \
		"$BIN/bloom-build -n 120000 -p 0.001 >$PWD/part.{#}.bloom"
	is "$status $(cat "$ERR")" "0 " "parallel --sshlogin"
	sketch-merge -o joined part.*.bloom
	same whole joined "joined they are the filter of one process"
else
	skip "parallel --sshlogin" "sshd does not let us in: $(tail -n 1 .tap/ssh)"
fi
stop_server
done_testing
