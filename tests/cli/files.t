#!/usr/bin/env bash
# Files in: operands, lists of names, faulty ones; an input that is the output
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

printf 'a\nb' >one
printf 'c\nd' >two
printf 'a\nb\nc\nd\n' >all
mkdir folder
bloom-build -n 100 -p 1e-9 -o f.bloom all
chmod 644 f.bloom

# ---- operands
bloom-build -n 100 -p 1e-9 -o g.bloom one two
same f.bloom g.bloom "two files without a last newline are two inputs"
bloom-query f.bloom one two >out
same all out "also for bloom-query"
quietly "- among them" bash -c 'bloom-build -n 100 -p 1e-9 -o g.bloom one - <two'
same f.bloom g.bloom "is stdin"
quietly "no operand" bash -c 'bloom-build -n 100 -p 1e-9 -o g.bloom <all'
same f.bloom g.bloom "is stdin"
ok "an empty file among them changes nothing" \
	bash -c ': >.tap/e && bloom-build -n 100 -p 1e-9 .tap/e one .tap/e two | cmp - f.bloom'
mkfifo pipe
timeout 20 sh -c 'cat two >pipe' &
quietly "a named pipe" bloom-build -n 100 -p 1e-9 -o g.bloom one pipe
same f.bloom g.bloom "is an input"
wait
quietly "<(...)" bash -c 'bloom-build -n 100 -p 1e-9 -o g.bloom <(cat one) <(cat two)'
same f.bloom g.bloom "is an input"
quietly "a filter through <(...)" bash -c 'bloom-query <(cat f.bloom) one'
is "$(tr '\n' ' ' <"$OUT")" "a b " "answers"
quietly "a filter through /dev/stdin" bash -c 'cat f.bloom | bloom-query /dev/stdin one'
quietly "a filter as stdin, from a file" bash -c 'bloom-query /dev/stdin one <f.bloom'
quietly "a filter as -" bash -c 'cat f.bloom | bloom-query - one'
is "$(tr '\n' ' ' <"$OUT")" "a b " "answers"
run bash -c 'bloom-query - - <f.bloom'
ok "stdin that is the filter has no records left" test "$status" -ne 0 -a ! -s "$OUT"

# ---- inputs that cannot be read
for bad in missing folder; do
	clean_error "bloom-build: $bad: nothing is saved" "$bad" \
		bloom-build -n 9 -o new one $bad two
	clean_error "bloom-build: $bad: nothing goes to stdout" "$bad" bloom-build -n 9 $bad one
	clean_error "bloom-build: $bad: an old file stays" "$bad" \
		bloom-build -n 9 -o f.bloom one $bad
	trouble "bloom-query: $bad: status 2" "$bad" bloom-query f.bloom one $bad two
	same all "$OUT" "and the rest is passed on"
done
run bloom-query f.bloom missing one folder two nowhere
is "$status $(wc -l <"$ERR")" "2 3" "three faulty inputs: a line each"
clean_error "a name with a newline in a message" 'no\nsuch' bloom-build -n 9 -o new $'no\nsuch'
clean_error "a name with an escape in a message" 'no\033such' bloom-build -n 9 -o new $'no\033such'
clean_error "an empty name" "" bloom-build -n 9 -o new ''
if permissions_bind; then
	cp one closed
	chmod 0 closed
	clean_error "a file without permission to read" closed "${unprivileged[@]}" \
		bloom-build -n 9 -o new one closed
	trouble "and bloom-query goes on" closed "${unprivileged[@]}" \
		bloom-query f.bloom closed one two
	same all "$OUT" "with the rest"
	rm -f closed
else
	for i in 1 2 3; do skip "a file without permission to read ($i)" \
		"no way to give up powers"; done
fi

# ---- stdin closed
clean_error "bloom-build with stdin closed" "" bash -c 'exec bloom-build -n 9 -o new <&-'
clean_error "bloom-build with stdin closed, to stdout" "" bash -c 'exec bloom-build -n 9 <&-'
clean_error "a list of names with stdin closed" "standard input: Bad file descriptor" \
	bash -c 'exec bloom-build -n 9 --files0-from=- <&-'
clean_error "bloom-query with stdin closed" "" bash -c 'exec bloom-query f.bloom <&-'
clean_error "sketch-info - with stdin closed" "" bash -c 'exec sketch-info - <&-'
quietly "stdin closed, but not needed" bash -c 'exec bloom-build -n 9 -o new one <&-'
clean_error "stdin that is a folder" "" bash -c 'exec bloom-query f.bloom <folder'
rm -f new

# ---- --files0-from
printf 'one\0two\0' >names
quietly "--files0-from" bloom-build -n 100 -p 1e-9 -o g.bloom --files0-from=names
same f.bloom g.bloom "reads the files named"
printf 'one\0two' >names
quietly "--files0-from without a last NUL" bloom-build -n 100 -p 1e-9 -o g.bloom --files0-from names
same f.bloom g.bloom "reads the same"
quietly "--files0-from=-" bash -c 'bloom-build -n 100 -p 1e-9 -o g.bloom --files0-from=- <names'
same f.bloom g.bloom "reads the names from stdin"
quietly "bloom-query --files0-from" bloom-query --files0-from=names f.bloom
same all "$OUT" "passes their records on"
quietly "bloom-query -F --files0-from" bloom-query --files0-from=names -F f.bloom
same all "$OUT" "too"
printf 'we ird\n\0one' >names
printf 'c\nd\n' >$'we ird\n'
quietly "names with blanks and newlines" bloom-build -n 100 -p 1e-9 -o g.bloom --files0-from=names
rm -f $'we ird\n'
printf 'one\0\0two\0' >names
clean_error "an empty name in the list" names bloom-build -n 9 -o new --files0-from=names
run bloom-query --files0-from=names f.bloom
is "$status $(wc -l <"$ERR")" "2 1" "and for bloom-query"
printf '\0' >names
clean_error "a list of one empty name" names bloom-build -n 9 -o new --files0-from=names
printf 'one\0two\0' >names
clean_error "operands beside --files0-from" "" bloom-build -n 9 -o new --files0-from=names one
clean_error "operands beside bloom-query --files0-from" "" \
	bloom-query --files0-from=names f.bloom one
clean_error "operands beside -F and --files0-from" "" bloom-query -F f.bloom --files0-from=names one
clean_error "a list that is not there" nonames bloom-build -n 9 -o new --files0-from=nonames
clean_error "a list that is a folder" folder bloom-build -n 9 -o new --files0-from=folder
printf 'one\0missing\0' >names
clean_error "a name that is not there" missing bloom-build -n 9 -o new --files0-from=names
printf 'missing\0one\0two\0' >names
trouble "a name that is not there, bloom-query" missing bloom-query --files0-from=names f.bloom
same all "$OUT" "passes the rest on"
: >names
run bash -c 'yes | head -c 1000000 | bloom-build -n 9 -o new --files0-from=names'
if [ "$status" -eq 0 ]; then
	is "$(info new records)" 0 "an empty list of names is no input, and not stdin"
else
	is "$status $([ -e new ] && echo made)" "2 " "an empty list of names is refused"
fi
rm -f new

# ---- an input that is the output
seq 1 100 >list
cp list list.kept
ln list hard
ln -s list soft
for command in "-o list <list" "-o list list" "-o list <hard" "-o hard list" "-o soft list" \
	"-o list soft" "-o ./list one list two" "-o list - <list" "-o list --files0-from=listed" \
	"-o listed --files0-from=listed" "-o /dev/stdout list >>list" "list >>list" "<list >>list" \
	"one list >>hard"; do
	printf 'one\0list\0' >listed
	cp listed listed.kept
	clean_error "bloom-build $command is refused" "" bash -c "exec bloom-build -n 9 $command"
	ok "bloom-build $command: the list is untouched" cmp list list.kept
	ok "bloom-build $command: and the other" cmp listed listed.kept
	cp list.kept list
done
bloom-build -n 200 -p 1e-9 -o f.bloom list
cp f.bloom f.kept
for command in "f.bloom <list >>list" "f.bloom list >>list" "f.bloom list >>hard" \
	"f.bloom soft >>list" "-F f.bloom list >>list" \
	"f.bloom list >>f.bloom" "-F f.bloom list >>f.bloom" "-v f.bloom f.bloom >>f.bloom"; do
	clean_error "bloom-query $command is refused" "" bash -c "exec bloom-query $command"
	ok "bloom-query $command: the list is untouched" cmp list list.kept
	ok "bloom-query $command: the filter, too" cmp f.bloom f.kept
	cp list.kept list
	cp f.kept f.bloom
done
trouble "bloom-query of an input that is the output, among others" list \
	bash -c 'exec bloom-query -v f.bloom one list >>list'
head -c "$(stat -c %s list.kept)" list | cmp - list.kept
is "$? $(($(stat -c %s list) < 1000))" "0 1" "does not run for ever, nor touch what was there"
cp list.kept list
clean_error "sketch-info f.bloom >>f.bloom is refused" "" \
	bash -c 'exec sketch-info f.bloom >>f.bloom'
ok "and the filter untouched" cmp f.bloom f.kept
cp f.kept f.bloom
run bash -c 'bloom-query f.bloom list >>new'
is "$status" 0 "appending to another file is no such thing"
expect 1 '' "nor is /dev/null on both sides" bash -c 'bloom-query f.bloom </dev/null >>/dev/null'
quietly "nor for bloom-build" bash -c 'bloom-build -n 9 </dev/null >>/dev/null'
clean_error "a filter that is its own input is no records" "f.bloom: is a Bloom filter" \
	bash -c 'bloom-query -v f.bloom f.bloom'
run bash -c 'bloom-build -n 9 --append f.bloom f.bloom'
if [ "$status" -eq 0 ]; then
	ok "--append F F is right" test "$(info f.bloom records)" -gt 100
else
	ok "--append F F leaves F untouched" cmp f.bloom f.kept
fi

done_testing
