#!/usr/bin/env bash
# cms-top --watch: a list while it is made, on a terminal and elsewhere
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# ---- what an input that ends at once leaves: the list, as without
printf 'a\nb\na\n' >in
printf 'a\nb\na\n' | cms-top -o saved.cms
expect 0 '2\ta\n1\tb\n' "an input that has ended: the list alone" cms-top --watch in
expect 0 '2\ta\n1\tb\n' "--watch=SECONDS" cms-top --watch=0.5 in
expect 0 '2\ta\n1\tb\n' "--watch=DURATION" cms-top --watch=500ms in
expect 0 '2\ta\n1\tb\n' "--wat, shortened" cms-top --wat in
expect 0 '' "nothing at all" cms-top --watch /dev/null
expect 0 '      2 a\n      1 b\n' "--pad" cms-top --watch --pad in
expect 0 '2\t2\t2\ta\n1\t1\t1\tb\n' "--bounds" cms-top --watch --bounds in
expect 0 '2\ta\n' "--min-share" cms-top --watch --min-share 50% in
run cms-top --json in
cp "$OUT" want
run cms-top --watch --json in
same want "$OUT" "--json"
quietly "-o" cms-top --watch -o watched.cms in
same saved.cms watched.cms "saves what it does without --watch"
quietly "--append" cms-top --watch --append both.cms in
expect 0 '4\ta\n2\tb\n' "adds to a file" cms-top --watch --append both.cms in
run cms-top --watch --stats in
like "$(cat "$ERR")" '3 records' "--stats is printed at the end"

# ---- what has no sense
clean_error "--query has nothing to follow" "--query" cms-top --watch --query saved.cms
clean_error "-k 0 has nothing to show" "-k 0" cms-top --watch -k 0 -o x.cms in
clean_error "--progress has its own place" "--progress" cms-top --watch --progress in
for word in 0 0.09 -1 x '' 86401 1e9 2x nan 2m; do
	clean_error "--watch=$word is refused" "0.1 to 86400" cms-top --watch="$word" in
done
clean_error "a number behind a blank is no file" "--watch=2" cms-top --watch 2
clean_error "also among others" "--watch=0.5" cms-top in --watch 0.5
trouble "a name that is no number is a file" "nowhere: No such file" cms-top --watch nowhere
echo x >./2
expect 0 '1\tx\n' "a file of that name is read" cms-top --watch 2
expect 0 '2\ta\n1\tb\n' "the least" cms-top --watch=0.1 in
expect 0 '2\ta\n1\tb\n' "the most" cms-top --watch=24h in
trouble "a full disk is found" "standard output" bash -c 'cms-top --watch in >/dev/full'

checks watch.py
checks watch_terminal.py

done_testing
