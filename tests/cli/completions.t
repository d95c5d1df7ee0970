#!/usr/bin/env bash
# What bash, zsh and fish offer for a command line begun
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

tools=(bloom-build bloom-query bloom-uniq cms-count cms-top fpr-calc hll-count sketch-info
	sketch-merge)
quietly "made of the tables" "$TOP/scripts/make-completions" "$BIN" "$PWD/made" "${tools[@]}"
is "$(cd made && echo */* | tr ' ' '\n' | wc -l)" 27 "a file for each tool and shell, and no more"
not_ok "a tool that does not run is an error" \
	"$TOP/scripts/make-completions" "$PWD" "$PWD/none" bloom-build

# ---- bash, its function called as bash calls it
MADE=$PWD/made
export MADE
mkdir -p files/folder
touch files/{a.bloom,b.cuckoo,c.cms,d.hll,other,log.txt}
offers() # WORD...: what is offered for the last of them, in one line
{
	local tool=$1
	cd files && bash -c '
		. "$MADE/bash/$1"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_WORDBREAKS=${BREAKS-" =:"}
		"_${1//-/_}" "$1" "${COMP_WORDS[COMP_CWORD]}"
		printf "%s|" "${COMPREPLY[@]}"' "$tool" "$@" 2>&1
}
is "$(offers bloom-build --la)" "--layout=|" "a long option that needs an argument"
is "$(offers bloom-build --ver)" "--version|" "one that takes none"
is "$(offers cms-top --wat)" "--watch|" "one that need not have one"
is "$(offers bloom-build --s)" "--strict|--save-every=|--seed=|--stats|" "several"
is "$(offers bloom-build --layout = c)" "classic|" "a word behind an equals sign"
is "$(offers bloom-build --layout =)" "blocked|classic|" "all of them"
is "$(BREAKS=' ' offers bloom-build --layout=c)" "--layout=classic|" \
	"where bash does not split there"
is "$(offers bloom-build --layout '')" "blocked|classic|" "behind a blank"
is "$(offers bloom-build -L '')" "blocked|classic|" "behind a letter"
is "$(offers bloom-build -zL '')" "blocked|classic|" "the last of several"
is "$(offers bloom-build -zLb)" "-zLblocked|" "at once behind it"
is "$(offers bloom-build -L blocked --kind '')" "bloom|counting|cuckoo|" "kinds"
is "$(offers bloom-build --counter-bits '')" "4|8|16|" "bits of a counter"
is "$(offers fpr-calc --curve '')" "n|k|bits|" "curves"
is "$(offers bloom-build -n '')" "|" "no word for a number"
is "$(offers bloom-query '')" "a.bloom|b.cuckoo|folder|" "filters, and folders"
is "$(offers bloom-query o)" "other|" "any file where no filter fits"
is "$(offers bloom-query a.bloom lo)" "log.txt|" "behind a filter: any file"
is "$(offers bloom-query -f 1 b)" "b.cuckoo|" "an argument is no operand"
is "$(offers bloom-query --field = 1 b)" "b.cuckoo|" "nor is it behind an equals sign"
is "$(offers bloom-query -F a.bloom lo)" "log.txt|" "-F takes the place of the first operand"
is "$(offers bloom-query --filter = a.bloom lo)" "log.txt|" "so does --filter="
is "$(offers bloom-query -vFa.bloom lo)" "log.txt|" "and -F at once before its argument"
is "$(offers bloom-query -F '')" "a.bloom|b.cuckoo|folder|" "filters for -F"
is "$(offers cms-top --query '')" "c.cms|folder|" "counts"
is "$(offers cms-count --append = '')" "c.cms|folder|" "counts to append to"
is "$(offers hll-count --query '')" "d.hll|folder|" "HyperLogLogs"
is "$(offers sketch-info '')" "a.bloom|b.cuckoo|c.cms|d.hll|folder|" "all sketches"
is "$(offers bloom-build --files0-from l)" "log.txt|" "any file for --files0-from"
is "$(offers bloom-build -o l)" "log.txt|" "any file for -o"
is "$(offers bloom-build -- --l)" "|" "no options behind --"
is "$(offers fpr-calc l)" "|" "no file where there are no operands"

checks completions.py bash "$PWD/made"
checks completions.py zsh "$PWD/made"

# ---- fish says itself what it offers
fish_offers() # LINE
{
	cd files && fish --no-config -c "set fish_complete_path '$MADE/fish'; complete -C'$1'" |
		cut -f 1 | tr '\n' '|'
}
if command -v fish >/dev/null; then
	export HOME=$PWD
	is "$(fish_offers 'bloom-build --la')" "--layout|" "fish: a long option"
	like "$(fish --no-config -c "set fish_complete_path '$MADE/fish'
		complete -C'bloom-build --la'")" "blocked .few cache lines." "and its help"
	is "$(fish_offers 'bloom-build -L c')" "classic|" "fish: a word"
	is "$(fish_offers 'bloom-build --layout=')" "--layout=blocked|--layout=classic|" "words"
	is "$(fish_offers 'bloom-build -n ')" "" "fish: nothing for a number"
	is "$(fish_offers 'bloom-query -f 1 ')" "a.bloom|b.cuckoo|folder/|" \
		"fish: filters"
	is "$(fish_offers 'bloom-query -f 1 a.bloom lo')" "log.txt|" "fish: then any file"
	is "$(fish_offers 'bloom-query -F a.bloom lo')" "log.txt|" "fish: and with -F"
	is "$(fish_offers 'cms-top --query=c')" "--query=c.cms|" "fish: counts"
	is "$(fish_offers 'sketch-merge -o lo')" "log.txt|" "fish: any file for -o"
	is "$(fish_offers 'fpr-calc lo')" "" "fish: no operands"
else
	skip "fish completes lines" "fish is not there"
fi

done_testing
