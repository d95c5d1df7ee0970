#!/usr/bin/env bash
# Output: every failure is seen at the time; modes, links, pipes, terminals
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

seq 1 100 >list
bloom-build -n 100 -p 1e-6 -o f.bloom list
cp f.bloom kept

# seconds COMMAND...: how long it took, or 99
seconds()
{
	local begun=$SECONDS
	run timeout 20 "$@"
	echo $((SECONDS - begun))
}

# ---- stdout that takes nothing
trouble "bloom-query to a full device" "" bash -c 'exec bloom-query f.bloom <list >/dev/full'
like "$(cat "$ERR")" "no space left" "says why"
trouble "bloom-query to a closed stdout" "" bash -c 'exec bloom-query f.bloom <list >&-'
trouble "bloom-query -c to a full device" "" bash -c 'exec bloom-query -c f.bloom list >/dev/full'
trouble "bloom-query -c to a closed stdout" "" bash -c 'exec bloom-query -c f.bloom list >&-'
trouble "bloom-query -e to a full device" "" bash -c 'exec bloom-query -e 1 f.bloom >/dev/full'
trouble "bloom-query --annotate to a full device" "" \
	bash -c 'exec bloom-query --annotate f.bloom list >/dev/full'
trouble "bloom-build to a full device" "" bash -c 'exec bloom-build -n 100 list >/dev/full'
trouble "bloom-build to a closed stdout" "" bash -c 'exec bloom-build -n 100 list >&-'
trouble "bloom-build of 1 MB to a full device" "" bash -c 'exec bloom-build -n 1M list >/dev/full'
trouble "bloom-build -o /dev/full" "/dev/full" bloom-build -n 100 -o /dev/full list
trouble "sketch-info to a full device" "" bash -c 'exec sketch-info f.bloom >/dev/full'
trouble "sketch-info --json to a full device" "" \
	bash -c 'exec sketch-info --json f.bloom >/dev/full'
trouble "sketch-info to a closed stdout" "" bash -c 'exec sketch-info f.bloom >&-'
expect 0 '' "bloom-query -q needs no stdout" bash -c 'exec bloom-query -q f.bloom list >&-'
quietly "bloom-build -o needs no stdout" \
	bash -c 'exec bloom-build -n 100 -p 1e-6 -o g.bloom list >&-'
same f.bloom g.bloom "and writes the same file"
quietly "all three closed" bash -c 'exec bloom-build -n 100 -p 1e-6 -o g.bloom list <&- >&- 2>&-'
same f.bloom g.bloom "no file of ours becomes a standard one"
run bash -c 'exec bloom-query f.bloom list >/dev/null 2>&-'
is "$status" 0 "stderr closed, nothing to say"
run bash -c 'exec bloom-query missing list 2>&-'
is "$status" 2 "stderr closed, something to say"
is "$(wc -c <"$OUT")" 0 "which does not land on stdout"

# ---- a failed write ends the run at once, however much is still to come
for command in "bloom-query -v f.bloom >/dev/full" "bloom-query -v f.bloom >&-" \
	"bloom-query --annotate f.bloom >/dev/full"; do
	took=$(seconds bash -c "yes | (exec $command)")
	ok "yes | $command ends at once" test "$took" -lt 5
done
bash -c 'yes | (bloom-query -v f.bloom >/dev/full; echo $? >.tap/status)' 2>"$ERR"
is "$(cat .tap/status) $(wc -l <"$ERR")" "2 1" "with one message and status 2"

# ---- a reader that goes away
run bash -c 'yes 7 | bloom-query f.bloom | head -n 1; echo "${PIPESTATUS[1]}"'
is "$(tr '\n' ' ' <"$OUT")" "7 141 " "SIGPIPE ends bloom-query"
is "$(cat "$ERR")" "" "quietly"
run bash -c 'trap "" PIPE; yes 7 | bloom-query f.bloom | head -n 1; echo "${PIPESTATUS[1]}"'
is "$(tr '\n' ' ' <"$OUT")" "7 2 " "where it is ignored: status 2"
is "$(grep -v '^yes:' "$ERR")" "" "and no message"
run bash -c 'set -o pipefail; seq 1 1000000 | bloom-query -v f.bloom | grep -q 5000; echo "$?"'
ok "pipefail with grep -q does not hang" test "$status" -eq 0
run bash -c 'sketch-info f.bloom | true; echo "${PIPESTATUS[0]}"'
like "$(cat "$OUT")" '^(0|141)$' "sketch-info | true"
is "$(cat "$ERR")" "" "is quiet"
run bash -c 'bloom-build -n 10M list | head -c 10 | wc -c; echo "${PIPESTATUS[0]}"'
is "$(tr '\n' ' ' <"$OUT")" "10 141 " "bloom-build | head"
is "$(cat "$ERR")" "" "is quiet"
run bash -c 'trap "" PIPE; bloom-build -n 10M list | head -c 10 | wc -c; echo "${PIPESTATUS[0]}"'
is "$(tr '\n' ' ' <"$OUT")" "10 2 " "where SIGPIPE is ignored: status 2"
is "$(cat "$ERR")" "" "and no message"

# ---- sketches go through pipes
mkdir real
quietly "stdout" bash -c 'bloom-build -n 100 -p 1e-6 list | cat >g.bloom'
same f.bloom g.bloom "is the file"
quietly "stdout to a file" bash -c 'bloom-build -n 100 -p 1e-6 list >g.bloom'
same f.bloom g.bloom "is the file"
quietly "-o /dev/stdout into a pipe" \
	bash -c 'bloom-build -n 100 -p 1e-6 -o /dev/stdout list | cat >g.bloom'
same f.bloom g.bloom "is the file"
quietly "-o /dev/stdout into a file" \
	bash -c 'bloom-build -n 100 -p 1e-6 -o /dev/stdout list >g.bloom'
same f.bloom g.bloom "is the file"
rm -f g.bloom
quietly "-o >(...)" bash -c 'bloom-build -n 100 -p 1e-6 -o >(cat >g.part; mv g.part g.bloom) list'
for ((i = 0; i < 100; i++)); do [ -e g.bloom ] && break; sleep 0.05; done
same f.bloom g.bloom "is the file"
mkfifo fifo
timeout 20 sh -c 'cat <fifo >g.bloom' &
quietly "-o FIFO" bloom-build -n 100 -p 1e-6 -o fifo list
wait
same f.bloom g.bloom "is the file"
ok "and the FIFO is still one" test -p fifo
quietly "-o /dev/null" bloom-build -n 100 -o /dev/null list
ok "and /dev/null is still a device" test -c /dev/null
bash -c 'cd real && bloom-build -n 100 -p 1e-6 -o - ../list >../dash' 2>"$ERR"
ok "-o - makes no file of that name" test ! -e real/-
if [ ! -s "$ERR" ]; then
	same dash f.bloom "but is stdout"
else
	pass "but is refused"
fi
rm -f -- real/-
ok "and through a whole chain" \
	bash -c 'seq 1 50 | bloom-build -n 100 | bloom-query - list | cmp - <(seq 1 50)'

# ---- modes, owners and links
umask 027
quietly "a new file" bloom-build -n 100 -o new list
is "$(stat -c %a new)" 640 "obeys umask 027"
umask 077
bloom-build -n 100 -o new2 list
is "$(stat -c %a new2)" 600 "and 077"
umask 0
bloom-build -n 100 -o new3 list
is "$(stat -c %a new3)" 666 "and 0"
umask 022
for mode in 640 600 664 400 755; do
	chmod $mode new
	quietly "an old file of mode $mode" bloom-build -n 200 -o new list
	is "$(stat -c %a new)" $mode "keeps it"
	is "$(info new n)" 200 "with new contents"
	bloom-build -n 100 -o new list
done
if [ "$(id -u)" -eq 0 ]; then
	chown 65534:65534 new
	chmod 640 new
	bloom-build -n 200 -o new list
	is "$(stat -c '%u %g %a' new)" "65534 65534 640" "an old file keeps its owner"
else
	skip "an old file keeps its owner" "not root"
fi
cp kept real/target
ln -s real/target link
ln -s link link2
quietly "-o LINK" bloom-build -n 300 -o link2 list
ok "is still a link" test -L link2 -a -L link
is "$(info real/target n)" 300 "and its target is new"
is "$(find real -mindepth 1 | wc -l)" 1 "with nothing beside it"
ln -s real/later dangling
refused_or "-o LINK to nowhere" bloom-build -n 300 -o dangling list
ok "is still a link" test -L dangling
ln -s loop loop
clean_error "-o LINK to itself" loop bloom-build -n 300 -o loop list

# ---- places where nothing can be written
clean_error "-o in a folder that is not there" nowhere bloom-build -n 10 -o nowhere/x list
clean_error "-o FOLDER" real bloom-build -n 10 -o real list
clean_error "-o FOLDER/" real bloom-build -n 10 -o real/ list
clean_error "-o ''" "" bloom-build -n 10 -o '' list
clean_error "-o below a file" list bloom-build -n 10 -o list/x list
clean_error "-o with a name too long" "" bloom-build -n 10 -o "$(printf 'x%.0s' {1..300})" list
if permissions_bind; then
	mkdir shut
	cp kept shut/f.bloom
	chmod 444 shut/f.bloom
	chmod 555 shut
	before=$(stat -c '%i %Y %s %a' shut/f.bloom)
	expect 0 '100\n' "a read-only file in a read-only folder is queried" \
		"${unprivileged[@]}" bloom-query -c shut/f.bloom list
	quietly "and looked at" "${unprivileged[@]}" sketch-info shut/f.bloom
	is "$(stat -c '%i %Y %s %a' shut/f.bloom)" "$before" "and stays as it was"
	same shut/f.bloom kept "to the byte"
	clean_error "a read-only folder takes no filter" shut "${unprivileged[@]}" \
		bloom-build -n 10 -o shut/x list
	clean_error "not in place of a file either" shut "${unprivileged[@]}" \
		bloom-build -n 10 -o shut/f.bloom list
	clean_error "and nothing is appended" shut "${unprivileged[@]}" \
		bloom-build --append shut/f.bloom list
	clean_error "nor made by appending" shut "${unprivileged[@]}" \
		bloom-build -n 10 --append shut/y list
	chmod 755 shut
else
	for i in 1 2 3 4 5 6 7 8; do skip "a read-only folder ($i)" "no way to give up powers"; done
fi

checks terminal.py

done_testing
