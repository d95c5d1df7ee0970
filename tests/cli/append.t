#!/usr/bin/env bash
# bloom-build --append: the filter of the parts is the filter of the whole
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

seq 1 500 >a
seq 400 1000 >b
bloom-build -n 2000 -p 0.01 -o whole a b

identity() { stat -c '%i %Y %s %a %h' "$1"; }

# ---- the same as the whole
bloom-build -n 2000 -p 0.01 -o f a
quietly "append" bloom-build --append f b
is "$(wc -c <"$OUT")" 0 "says nothing on stdout"
same whole f "is the filter of the whole, byte for byte"
is "$(info f records)" 1101 "records add up"
quietly "append to a file that is not there" bloom-build -n 2000 -p 0.01 --append g a
quietly "and again" bloom-build --append=g b
same whole g "is the filter of the whole"
bloom-build -n 2000 -p 0.01 -o g a
quietly "append with the file's own parameters" bloom-build -n 2000 -p 0.01 --append g b
same whole g "is the same"
quietly "append from stdin" \
	bash -c 'bloom-build -n 2000 -p 0.01 -o g a && bloom-build --append g <b'
same whole g "is the same"
bloom-build -n 2000 -p 0.01 -o g b
bloom-build --append g a
same whole g "the order of the parts does not matter"
for layout in classic blocked; do
	bloom-build -L $layout -n 5000 -p 1e-4 -s 99 -i -o whole.$layout a b
	bloom-build -L $layout -n 5000 -p 1e-4 -s 99 -i -o g a
	split -l 100 b part.
	for part in part.*; do bloom-build --append g "$part"; done
	same whole.$layout g "$layout, seeded and folded: the file knows"
	rm -f part.*
done
bloom-build -n 2000 -p 0.01 -f 2 -o g <(sed 's/^/x /' a)
quietly "fields" bloom-build -f 2 --append g <(sed 's/^/x /' b)
same whole g "are no property of the filter"
: >g
quietly "an empty file is one that is to be made" bloom-build -n 2000 -p 0.01 --append g a b
same whole g "and is made"

# ---- modes and links
umask 027
bloom-build -n 100 --append new a
is "$(stat -c %a new)" 640 "a new file obeys umask"
umask 022
chmod 604 new
bloom-build --append new b 2>/dev/null
is "$(stat -c %a new)" 604 "an old one keeps its mode"
bloom-build -n 2000 -p 0.01 -o f a
mkdir real
mv f real/f
ln -s real/f link
quietly "append to a link" bloom-build --append link b
ok "it is still a link" test -L link
same whole real/f "and its target the whole"
is "$(find real -mindepth 1 | wc -l)" 1 "with nothing beside it"

# ---- refused
bloom-build -L classic -n 2000 -p 0.01 -s 5 -o f a
refuse() # WORDS REGEX
{
	# shellcheck disable=SC2086 # several words
	clean_error "append with $1 contradicts the file" "f" bloom-build $1 --append f b
	like "$(cat "$ERR")" "$2" "append with $1: the field is named"
}
refuse "-n 3000" '\b(n|m|capacity)\b'
refuse "-n 2000 -p 0.02" '\b(p|m)\b'
refuse "-p 0.001" '\b(p|m)\b'
refuse "-k 3" '\bk\b'
refuse "-m 1000" '\bm\b'
refuse "-s 6" 'seed'
refuse "-s 0" 'seed'
refuse "-L blocked" 'layout'
refuse "-i" 'fold|case|transform'
bloom-build -n 2000 -p 0.01 -i -o folded a
quietly "append without -i to a folded filter" bloom-build --append folded <(echo XYZ)
expect 0 'xyz\nXyZ\n' "obeys the file" bloom-query -e xyz -e XyZ folded

clean_error "append to nothing with a k alone" "" bloom-build -k 3 --append nothing b
clean_error "append to a text" b bloom-build -n 2000 --append b a
clean_error "append to a folder" real bloom-build -n 2000 --append real a
clean_error "append in a folder that is not there" nowhere bloom-build -n 20 --append nowhere/f a
clean_error "append to ''" "" bloom-build -n 20 --append '' a
clean_error "append to a device" /dev/null bloom-build -n 20 --append /dev/null a
head -c 500 whole >short
clean_error "append to a cut filter" short bloom-build --append short a
{ head -c 1000 whole; printf 'X'; tail -c +1002 whole; } >bad
clean_error "append to a damaged filter" bad bloom-build --append bad a
clean_error "append of what is not there" missing bloom-build --append whole missing
clean_error "append of a part that is not there" missing bloom-build --append whole a missing
clean_error "append of a folder" real bloom-build --append whole a real
clean_error "a new filter from what is not there" missing bloom-build -n 20 --append new2 a missing
clean_error "append with stdin closed" "" bash -c 'exec bloom-build --append whole <&-'

cp "$TOP/tests/golden/ladder.bloom" ladder
refused_or "append to a filter of several layers" bloom-build --append ladder a
if [ "$accepted" = yes ]; then
	expect 1 '' "is right" bloom-query -v ladder a
else
	pass "is refused, and the file untouched"
fi

# ---- nothing read, nothing rewritten
bloom-build -n 2000 -p 0.01 -o f a
touch -d '2020-02-02 02:02:02' f
before=$(identity f)
cp f kept
quietly "append of nothing" bloom-build --append f /dev/null
is "$(identity f)" "$before" "does not rewrite the file"
bloom-build --append f missing 2>/dev/null
is "$(identity f)" "$before" "nor where nothing could be read"
same f kept "its bytes are as they were"
run bloom-build -n 20 --append none /dev/null
if [ -e none ]; then
	is "$(info none records)" 0 "a new filter of nothing is a filter"
else
	pass "a new filter of nothing is none"
fi

checks append.py

done_testing
