#!/usr/bin/env bash
# --stats: a summary on stderr, and nothing there without it
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

printf 'x 1\nx 2\ny\nx 1\nx 3\n' >list
expect 0 '' "bloom-build is quiet" bloom-build -n 100 -f 2 -o f list
run bloom-build -n 100 -f 2 --stats -o f list
is "$status $(wc -c <"$OUT")" "0 0" "bloom-build --stats: status 0, nothing on stdout"
ok "a summary on stderr" test -s "$ERR"
like "$(cat "$ERR")" '\b5\b' "with the records"
like "$(cat "$ERR")" '\b1\b' "and those without the field"
is "$(tr -d '\n\t -~' <"$ERR" | wc -c)" 0 "and no control bytes"
run bloom-build -n 100 -m 8191 --stats -o f list
like "$(cat "$ERR")" '7,?680|8,?128' "an m that is no multiple is shown as it was rounded down"
bloom-build -n 100 -f 2 --stats list >g 2>"$ERR"
bloom-build -n 100 -f 2 list >h
same g h "--stats changes nothing in the filter"
bloom-build -n 100 -p 1e-9 -f 2 -o f list
run bloom-query --stats -f 2 f list
is "$status" 0 "bloom-query --stats: status 0"
is "$(tr '\n' , <"$OUT")" "x 1,x 2,x 1,x 3," "stdout as without it"
like "$(cat "$ERR")" '\b5\b' "with the records"
like "$(cat "$ERR")" '\b4\b' "those that matched"
like "$(cat "$ERR")" '\b1\b' "and those without the field"
run bloom-query --stats -q f list
ok "bloom-query -q --stats: a summary all the same" test -s "$ERR"
run bloom-query --stats f /dev/null
ok "of no records, too" test -s "$ERR"

done_testing
