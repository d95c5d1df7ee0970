#!/usr/bin/env bash
# fpr-calc's output: pipes, terminals, failures
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# shellcheck disable=SC2034 # lib.sh asks whose messages they are, behind bash -c as well
tool_of()
{
	tool=fpr-calc
}

quietly "--help" fpr-calc --help
like "$(cat "$OUT")" "usage" "shows its usage"
is "$(awk 'length > 100' "$OUT")" "" "and keeps to 100 columns"
quietly "--version" fpr-calc --version
for words in "-n 1M -p 1%" "-n 1M -p 1% --json" "-n 1M -p 1% --print m" "-n 1M -p 1% --curve n" \
	"-n 1M -p 1% --explain" "--hll --precision 4" "--help" "--version"; do
	trouble "$words to a full device" "" bash -c "exec fpr-calc $words >/dev/full"
	trouble "$words to a closed stdout" "" bash -c "exec fpr-calc $words >&-"
done

# ---- --print
is "$(fpr-calc -n 1M -p 1% -L classic --print m)" 9593024 "--print m"
is "$(fpr-calc -n 1M -p 1% -L classic --print k)" 7 "--print k"
is "$(fpr-calc -n 1M -p 1% -L classic --print n)" 1000000 "--print n"
is "$(fpr-calc -n 1M -p 1% -L classic --print bytes)" 1199128 "--print bytes"
is "$(fpr-calc -n 1M -p 1% -L classic --print layout)" classic "--print layout"
is "$(fpr-calc -n 1M -p 1% -L classic --print p)" \
	"$(fpr-calc -n 1M -p 1% -L classic --print rate)" \
	"--print p is the rate achieved"
clean_error "--print of what is not there" nothing fpr-calc -n 1M -p 1% --print nothing
clean_error "--print of what is not known" m fpr-calc --load 0.1 --print m
clean_error "--print and --json" json fpr-calc -n 1M -p 1% --print m --json
clean_error "--json and --explain" json fpr-calc -n 1M -p 1% --explain --json
clean_error "an unknown option" frobnicate fpr-calc --frobnicate

# ---- a terminal
if [ -n "$PYTHON" ]; then
	checks fpr_terminal.py
else
	skip "a terminal" "no python3"
fi

done_testing
