#!/usr/bin/env bash
# bloom-uniq --state: what is new since last time, and nothing remembered that was not passed on
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

seq 1 5000 >one
seq 4001 9000 >two
identity() { stat -c '%i %Y %s %a %h' "$1"; }

# ---- from run to run
quietly "the file is made where it is absent" bloom-uniq --state s one
same one "$OUT" "all pass"
quietly "a second run" bloom-uniq --state s one
is "$(wc -c <"$OUT")" 0 "passes nothing"
quietly "a third brings new ones" bloom-uniq --state s two
same <(seq 5001 9000) "$OUT" "only these pass"
is "$(info s records)" 15000 "records add up"
quietly "one run for both" bloom-uniq --state whole one two
same <(seq 1 9000) "$OUT" "passes the same together"
bloom-uniq --state parts one >.tap/ok
bloom-uniq --state parts two >.tap/ok
same whole parts "and leaves the same file, records included"
quietly "bloom-build adds to it" bloom-build --append s <(seq 9001 9100)
expect 0 '9101\n' "and bloom-uniq knows" bloom-uniq --state s <(seq 9001 9101)
expect 0 '9000\n' "and bloom-query" bloom-query -e 9000 -e 9999 s
bloom-build -n 20000 -p 1e-6 -o f one
expect 0 '' "a filter of bloom-build is a state" bloom-uniq --state f one
: >empty
quietly "an empty file is one to be made" bloom-uniq --state empty one
is "$(info empty records)" 5000 "and is made"
# shellcheck disable=SC2016 # the inner shell is to expand them
quietly "many parts, in which it grows" bash -c '
	for i in 0 1 2 3 4 5 6 7; do
		seq $((i * 12000)) $((i * 12000 + 13000)) | bloom-uniq --state grows
	done'
same <(seq 0 97000) "$OUT" "nothing is lost, nothing passes twice"
bloom-uniq --state at-once <(for i in 0 1 2 3 4 5 6 7; do
	seq $((i * 12000)) $((i * 12000 + 13000)); done) >.tap/ok
same at-once grows "and it is the file of one run"
quietly "folded: the file knows" bash -c 'echo Abc | bloom-uniq -i --state i >/dev/null &&
	echo aBC | bloom-uniq --state i'
is "$(wc -c <"$OUT")" 0 "so the second run folds, too"

# ---- modes and links
umask 027
bloom-uniq --state new one >.tap/ok
is "$(stat -c %a new)" 640 "a new file obeys umask"
umask 022
chmod 604 new
bloom-uniq --state new two >.tap/ok
is "$(stat -c %a new)" 604 "an old one keeps its mode"
mkdir real
bloom-uniq --state real/f one >.tap/ok
ln -s real/f link
quietly "by a link" bloom-uniq --state link two
ok "it is still a link" test -L link
same parts real/f "and its target the whole"
is "$(find real -mindepth 1 | wc -l)" 1 "with nothing beside it"

# ---- nothing read, nothing written
touch -d '2020-02-02 02:02:02' s
before=$(identity s)
quietly "nothing at all" bloom-uniq --state s /dev/null
is "$(identity s)" "$before" "the file is untouched"
trouble "an input that is not there" missing bloom-uniq --state s missing
is "$(identity s)" "$before" "the file is untouched"
run bloom-uniq --state none missing
ok "and none is made that holds anything" \
	test ! -s none -o "$(info none records 2>/dev/null)" = 0

# ---- contradictions
bloom-uniq -L classic -n 2000 -p 0.001 -s 5 --state c <(seq 1 10) >.tap/ok
refuse() # FILE WORDS REGEX
{
	# shellcheck disable=SC2086 # several words
	clean_error "$2 contradicts the file" "$1" bloom-uniq $2 --state "$1" one
	like "$(cat "$ERR")" "$3" "$2: the field is named"
}
refuse c "-n 3000" '\bn\b'
refuse c "-p 0.01" '\bp\b'
refuse c "-k 3" '\bk\b'
refuse c "-m 64kbit" '\bm\b'
refuse c "-s 6" 'seed'
refuse c "-L blocked" 'layout'
refuse c "-i" 'ignore-case'
refuse c "--window 100" 'window'
refuse c "--since-first" 'window'
refuse s "-n 3000" '\bn\b'
refuse s "-m 1MB" '\bm\b'
refuse s "-p 0.01" '\bp\b'
quietly "its own parameters do not" bloom-uniq -L classic -n 2000 -p 0.001 -s 5 --state c /dev/null
quietly "nor a ladder's rate" bloom-uniq -p 1e-6 --state s /dev/null
head -c 500 c >short
clean_error "a cut one" short bloom-uniq --state short one
{ head -c 1000 c; printf 'X'; tail -c +1002 c; } >bad
clean_error "a damaged one" bad bloom-uniq --state bad one
clean_error "a text" one bloom-uniq --state one two
clean_error "a folder" real bloom-uniq --state real two
clean_error "in a folder that is not there" nowhere bloom-uniq --state nowhere/s two
clean_error "a device" /dev/null bloom-uniq --state /dev/null two

# ---- what could not be passed on is not remembered
cp s kept
for way in '>/dev/full' '>&-' '| true'; do
	run bash -c "seq 20001 400000 | bloom-uniq --state s $way"
	same kept s "$way: nothing of it is remembered"
done
quietly "the next run" bloom-uniq --state s <(seq 20001 20100)
same <(seq 20001 20100) "$OUT" "passes it on"
cp kept s
run bash -c "seq 1 9200 | bloom-uniq --state s --duplicates /dev/full"
is "$status" 2 "records held back that cannot be written: status 2"
same kept s "and nothing is remembered"
run bash -c 'seq 1 100 | bloom-uniq --state absent >/dev/full'
is "$status" 2 "a new one, stdout full: status 2"
ok "no file is made, but for an empty one" test ! -s absent
quietly "then" bloom-uniq --state absent <(seq 1 100)
is "$(wc -l <"$OUT")" 100 "all pass"

checks uniq_state.py

done_testing
