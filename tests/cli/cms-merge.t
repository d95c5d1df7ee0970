#!/usr/bin/env bash
# sketch-merge and sketch-info of counts
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

awk 'BEGIN { srand(7); for (i = 0; i < 60000; i++) print "key" int(5000 * rand() ^ 4) }' >stream
awk 'BEGIN { srand(8); for (i = 0; i < 60000; i++) print int(3 * rand()) }' >hosts
sort stream | uniq -c | awk '{ print $2 "\t" $1 }' >truth
for ((i = 0; i < 10; i++)); do
	awk -v i=$i 'NR % 10 == i' stream >"shard$i"
	cms-count --plain -o "plain$i.cms" "shard$i"
	cms-count --size 16KiB -o "host$i.cms" "shard$i"
done

# ---- plain: the file of the whole
cms-count --plain -o whole.cms stream
quietly "ten plain shards" sketch-merge -o sum.cms plain?.cms
same whole.cms sum.cms "are the file of the whole, byte for byte"
run sketch-merge -o sum.cms plain9.cms plain3.cms plain[0124-8].cms
same whole.cms sum.cms "in any order"
run bash -c 'sketch-merge plain?.cms >sum.cms'
same whole.cms sum.cms "through a pipe"
run bash -c 'sketch-merge -o sum.cms plain0.cms - plain[2-9].cms <plain1.cms'
same whole.cms sum.cms "one from standard input"
awk '{ print $0 "\t" (NR % 7 == 0 ? "4294967295" : NR % 5) }' stream >weighted
cms-count --plain --width 300 -f 1 -W 2 -o whole.cms weighted
for ((i = 0; i < 10; i++)); do
	awk -v i=$i 'NR % 10 == i' weighted | cms-count --plain --width 300 -f 1 -W 2 -o "w$i.cms"
done
sketch-merge -o sum.cms w?.cms
same whole.cms sum.cms "also where cells became wider"
is "$(info sum.cms cell)" 64 "as they did"

# ---- conservative: true bounds
quietly "ten hosts" sketch-merge -o all.cms host?.cms
is "$(info all.cms total) $(info all.cms records)" "60000 60000" "their total is that of all"
cut -f 1 truth | cms-count --query all.cms --bounds >bounds
is "$(paste truth bounds | awk '$3 < $2 || $5 < $2' | wc -l)" 0 "no count below the truth"
cms-top --query all.cms -k 1000 --bounds --stats >top 2>stats
awk -F'\t' 'NR == FNR { n[$1] = $2; next } $2 > n[$4] || $3 < n[$4] || seen[$4]++' truth top >wrong
is "$(cat wrong)" "" "every listed key has true bounds, and is there once"
floor=$(sed -n 's/.*counts more than \([0-9]*\) is.*/\1/p' stats)
cut -f 4 top | sort >listed
is "$(awk -v f="${floor:-0}" '$2 > f { print $1 }' truth | sort | comm -23 - listed)" "" \
	"every key above the floor $floor is listed"
is "$(info all.cms floor)" "$floor" "which sketch-info shows, too"
sort -t '	' -k2,2nr -k1,1 truth | head -n 10 | cut -f 1 >ten
is "$(head -n 10 top | cut -f 4)" "$(cat ten)" "the ten heaviest are those of the whole"
cms-top --query host0.cms --query host1.cms >asked
sketch-merge host0.cms host1.cms | cms-top --query - >merged
same asked merged "cms-top --query twice asks the merged sketch"

# A key that is heavy only in the whole.
for host in 1 2 3; do
	{
		awk -v h=$host 'BEGIN { for (i = 0; i < 3000; i++) print "h" h "-" i }'
		for ((i = 0; i < 40; i++)); do echo everywhere; done
	} | cms-top -o "spread$host.cms" >.tap/x
done
is "$(sketch-merge spread?.cms | cms-top -k 1 --query - | cut -f 2)" everywhere \
	"a key that is heavy in the whole is found"

file=$CASES/gen/zipf_2000keys.txt
[ -e "$file" ] || file=stream
split -n l/2 "$file" half.
cms-top -o 1.cms half.aa >.tap/x
cms-top -o 2.cms half.ab >.tap/x
cms-top -k 20 "$file" | cut -f 2 >want
sketch-merge 1.cms 2.cms | cms-top -k 20 --query - | cut -f 2 >got
same want got "a stream in two halves: the same top 20"

# ---- exact ones stay exact while all keys fit
seq 1 400 | cms-count -o a.cms
seq 300 700 | cms-count -o b.cms
sketch-merge -o ab.cms a.cms b.cms
is "$(info ab.cms exact) $(info ab.cms tracked)" "true 700" \
	"exact and exact are exact while they fit"
is "$({ seq 1 400; seq 300 700; } | sort | uniq -c | awk '{ print $2, $1 }' | sort)" \
	"$(seq 1 700 | cms-count --query ab.cms | awk '{ print $2, $1 }' | sort)" \
	"with the counts of both"
seq 5000 6000 | cms-count -o c.cms
sketch-merge -o abc.cms ab.cms c.cms
is "$(info abc.cms exact)" false "and not beyond"

# ---- refused
clean_error "a file named twice" "named twice" sketch-merge -o u a.cms b.cms a.cms
ln a.cms hard.cms
ln -s a.cms soft.cms
clean_error "by another name" "named twice" sketch-merge -o u a.cms hard.cms
clean_error "by a link" "named twice" sketch-merge -o u soft.cms a.cms
clean_error "the output among the inputs" "output" sketch-merge -o a.cms b.cms a.cms
clean_error "alone as well" "output" sketch-merge -o a.cms a.cms
for case in "w --width=9" "d --depth=2" "seed --seed=4" "ignore-case -i" "rule --plain"; do
	seq 9 | cms-count -o bad.cms "${case#* }"
	clean_error "another ${case% *}" "${case% *} differs" sketch-merge -o u a.cms bad.cms
	rm bad.cms
done
seq 9 >nine
bloom-build -n 9 -o b.bloom nine
clean_error "a filter among counts" "Bloom filter" sketch-merge -o u a.cms b.bloom
clean_error "counts among filters" "count-min sketch" sketch-merge -o u b.bloom a.cms
head -c 2000 a.cms >short.cms
cp b.cms before.cms
clean_error "a truncated one" short.cms sketch-merge -o b.cms a.cms short.cms
same before.cms b.cms "leaves the output as it was"

# ---- what sketch-info says
run sketch-info all.cms
for line in "w	1365" "d	3" "cell	32" "update	conservative" "total	60000" \
	"tracked_most	1000" "exact	no" "checksum	ok"; do
	ok "sketch-info: $line" grep -qx "$line" "$OUT"
done
ok "sketch-info: the fill of each row" test "$(grep -c '^row\.[012]\.fill' "$OUT")" -eq 3
like "$(cat "$OUT")" "^epsilon	0\.00199" "sketch-info: epsilon is e / w"
like "$(cat "$OUT")" "^delta	0\.0497" "sketch-info: delta is exp(-d)"
run sketch-info --json all.cms
ok "sketch-info --json" "$PYTHON" -c '
import json, sys
facts = json.load(open(sys.argv[1]))
assert facts["w"] == 1365 and facts["d"] == 3 and facts["cell"] == 32, facts
assert facts["total"] == 60000 and facts["exact"] is False and len(facts["rows"]) == 3, facts
assert facts["kind"] == "counts" and facts["checksum"] == "ok", facts' "$OUT"
is "$(info plain0.cms floor)" null "a plain one has no floor"

done_testing
