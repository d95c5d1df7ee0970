#!/usr/bin/env bash
# Keys that somebody chose: what they do to each tool, and that a secret key undoes it
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

if [ -z "$PYTHON" ]; then
	skip "keys that collide" "no python3"
	done_testing
fi

# 1024 different keys that have one hash under every seed (helper/malice.py says how); the
# last of them is a stranger's.
"$PYTHON" -E "$HELPER/malice.py" 10 >chosen
head -n 1023 chosen >theirs
tail -n 1 chosen >victim
victim=$(cat victim)
is "$(wc -l <chosen)" 1024 "keys were made"
is "$(sort -u chosen | wc -l)" 1024 "all of them different"
(umask 077 && echo 5bd1e995c4ceb9fe1a85ec53ff51afd7 >key)

# ---- whatever the seed
for seed in 0 1 77 2147483648 4294967295; do
	bloom-uniq -s $seed chosen >passed
	is "$(wc -l <passed)" 1 "seed $seed: bloom-uniq takes all for one"
	is "$(hll-count -s $seed chosen)" 1 "seed $seed: hll-count counts one"
	cms-count --plain -s $seed -o c theirs
	is "$(cms-count --query c -e "$victim")" "1023	$victim" \
		"seed $seed: a key that never came has their count"
	head -n 1 chosen | bloom-build -s $seed -n 100 -o f
	is "$(bloom-query -c f chosen)" 1024 "seed $seed: one key in a filter, and all are"
done
is "$(bloom-uniq -i chosen | wc -l)" 1 "folded they collide as well"
is "$(bloom-uniq -f 1 chosen | wc -l)" 1 "as a field, too"

# ---- what that is good for
cat theirs victim | bloom-uniq >passed
not_ok "a line is hidden from who reads what is new" grep -qxF -f victim passed
{ cat theirs; seq 3000; cat victim; } | cms-count --plain --at-most 5 >passed
not_ok "a line is held back as if it had come too often" grep -qxF -f victim passed
bloom-build --kind counting -n 100 -o f victim
bloom-build --remove-from f <(head -n 1 theirs)
run bloom-query f victim
is "$status" 1 "a key is taken out by one who never had it"

# ---- under a secret
is "$(bloom-uniq --key-file key chosen | wc -l)" 1024 "keyed: bloom-uniq tells them apart"
is "$(bloom-uniq -i --key-file key chosen | wc -l)" 1024 "keyed and folded, too"
is "$(bloom-uniq -f 1 --key-file key chosen | wc -l)" 1024 "keyed, as a field, too"
is "$(hll-count --key-file key chosen)" 1024 "keyed: hll-count counts them all"
cms-count --plain --key-file key -o c theirs
is "$(cms-count --key-file key --query c -e "$victim")" "0	$victim" \
	"keyed: a key that never came has not come"
head -n 1 chosen | bloom-build --key-file key -n 100 -p 1e-6 -o f
is "$(bloom-query -c --key-file key f chosen)" 1 "keyed: one key in a filter, and one is"
{ cat theirs; seq 3000; cat victim; } | cms-count --plain --key-file key --at-most 5 >passed
ok "keyed: nothing is held back for others' sake" grep -qxF -f victim passed
bloom-build --kind counting --key-file key -n 100 -p 1e-6 -o f victim
bloom-build --remove-from f --key-file key <(head -n 1 theirs) 2>err
is "$(bloom-query -c --key-file key f victim)" 1 "keyed: nothing is taken out by others"

done_testing
