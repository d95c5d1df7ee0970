#!/usr/bin/env bash
# sketch-info: what a file is, how full, how wrong by now, and whether it is intact
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

seq 1 1000 >list
bloom-build -L classic -n 1000 -p 0.01 -s 42 -o f.bloom list list
bloom-build -L blocked -n 50000 -p 0.001 -i -o g.bloom list
bloom-build -n 10 -o empty.bloom /dev/null

# ---- the table
quietly "sketch-info FILE" sketch-info f.bloom
cp "$OUT" table
is "$(awk -F '\t' 'NF != 2' table)" "" "every line is NAME<TAB>VALUE where it is no terminal"
like "$(cat table)" $'^kind\t.*bloom' "with the kind"
like "$(cat table)" $'^layout\tclassic' "the layout"
like "$(cat table)" $'^seed\t.*42' "the seed"
like "$(cat table)" $'^n\t1,?000$' "n"
like "$(cat table)" $'^k\t7$' "k"
like "$(cat table)" $'^p\t(0\.01|1%)' "p"
like "$(cat table)" $'^records\t2,?000$' "the records"
like "$(cat table)" $'^hash\t.*murmur' "the hash"
like "$(cat table)" $'^(format )?version\t1' "the version of the format"
for name in m rate bytes fill distinct checksum; do
	like "$(cat table)" "^$name"$'\t.' "and $name"
done
quietly "sketch-info <FILE" bash -c 'sketch-info <f.bloom'
quietly "sketch-info - from a pipe" bash -c 'cat f.bloom | sketch-info -'
is "$(grep -Ev '^file' "$OUT")" "$(grep -Ev '^file' table)" "shows the same"
quietly "sketch-info of a pipe without -" bash -c 'bloom-build -n 10 list 2>/dev/null | sketch-info'

# ---- many files
quietly "two files" sketch-info f.bloom g.bloom
like "$(cat "$OUT")" 'f\.bloom' "are shown by name"
like "$(cat "$OUT")" 'g\.bloom' "both of them"
head -c 300 f.bloom >cut.bloom
trouble "a damaged one among them" cut.bloom sketch-info f.bloom cut.bloom g.bloom
like "$(cat "$OUT")" 'g\.bloom' "does not stop the others"
trouble "and in JSON" cut.bloom sketch-info --json f.bloom cut.bloom g.bloom
is "$(grep -c '^{.*}$' "$OUT")" 2 "an object a line for the rest"
trouble "a missing one" missing.bloom sketch-info --json f.bloom missing.bloom g.bloom
is "$(grep -c '^{.*}$' "$OUT")" 2 "likewise"
run sketch-info --json cut.bloom missing.bloom list f.bloom
is "$status $(wc -l <"$ERR") $(wc -l <"$OUT")" "2 3 1" "three faulty files: a line each"
{ head -c 500 f.bloom; printf 'X'; tail -c +502 f.bloom; } >bad.bloom
trouble "damaged bits" bad.bloom sketch-info bad.bloom
trouble "damaged bits, --check" bad.bloom sketch-info --check bad.bloom
trouble "damaged bits among others" bad.bloom sketch-info --json f.bloom bad.bloom g.bloom
ok "do not stop the others" test "$(wc -l <"$OUT")" -ge 2

# ---- --check
bloom-build -p 0.003 -o grows.bloom list
is "$(info grows.bloom p)" 0.003 "of a filter that grows: the rate that was asked for"
bloom-uniq --window 10 -p 0.003 --state window.bloom list >.tap/ok
is "$(info window.bloom p)" 0.003 "and of a window"
# All keys are in the second of two generations.
bloom-uniq --window 1h -n 20 -p 0.01 --state full.bloom list >.tap/ok 2>&1
run sketch-info --check full.bloom
is "$status $(sed -n 's/^past_capacity\t//p' "$OUT")" "1 yes" \
	"a layer past its capacity is the whole's"
is "$(awk '$1 == "rate" { all = $2 } $1 == "layer.1.rate" { last = $2 }
	END { print (all > 0.5 && all - last < 1e-12 && last - all < 1e-12) }' "$OUT")" 1 \
	"and so is its rate"
run sketch-info --check f.bloom g.bloom empty.bloom
is "$status" 0 "--check: all within capacity, status 0"
bloom-build -n 10 -o past.bloom list 2>/dev/null
run sketch-info --check f.bloom past.bloom g.bloom
is "$status" 1 "--check: one past capacity, status 1"
run sketch-info --check past.bloom cut.bloom
is "$status" 2 "--check: trouble goes first"

checks info.py

done_testing
