#!/usr/bin/env bash
# Sketches whose hash has a secret key: --key-file
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

seq 1000 | sed 's/.*/User& a&,b x&/' >list
seq 501 1500 | sed 's/.*/User& a&,b x&/' >later

# ---- making one, as the manual says
(umask 077; od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >made)
is "$(wc -c <made) $(stat -c %a made)" "32 600" "the manual's command makes a key"
quietly "and the tools take it" bloom-build --key-file made -n 1k -o f list

umask 077
echo 41414141414141414141414141414141 >key
echo 41414141414141414141414141414142 >other
umask 022

# ---- the file
bloom-build --key-file key -n 1k -o reference list
printf 41414141414141414141414141414141 >word
printf '5A5b5C5d5E5f5051525354555657585a' >mixed
printf '5a5B5c5D5e5F5051525354555657585A\n' >mixed2
chmod 600 word mixed mixed2
bloom-build --key-file word -n 1k -o f list
same reference f "the newline may be missing"
bloom-build --key-file mixed -n 1k -o f list
bloom-build --key-file mixed2 -n 1k -o g list
same f g "digits of either case"
bloom-build --key-file <(cat key) -n 1k -o f list
same reference f "a key from another program's output"
bloom-build --key-file /dev/stdin -n 1k -o f list <key
same reference f "a key from standard input"
for tool in bloom-build bloom-uniq cms-count cms-top hll-count "bloom-query reference"; do
	for key in "cat key |" "exec <key;"; do
		clean_error "$key $tool: which is no record" "standard input: was the key" \
			bash -c "$key $tool --key-file /dev/stdin"
	done
done
clean_error "nor a sketch" "standard input: was the key" \
	bash -c 'cat key | bloom-query --key-file /dev/stdin -e 5 -'
clean_error "nor a list" "standard input: was the key" \
	bash -c 'cat key | bloom-uniq --key-file /dev/stdin --files0-from=-'

# refuses_key NAME TEXT
refuses_key()
{
	(umask 077; printf '%b' "$2" >bad)
	clean_error "no key: $1" "bad: a key is 32 hexadecimal digits" \
		bloom-build --key-file bad -n 1k -o new list
}
sixteen=4141414141414141
refuses_key "nothing" ''
refuses_key "a newline only" '\n'
refuses_key "31 digits" "${sixteen}414141414141414"
refuses_key "31 digits and a newline" "${sixteen}414141414141414\n"
refuses_key "33 digits" "$sixteen${sixteen}4"
refuses_key "two lines" "$sixteen$sixteen\n\n"
refuses_key "two keys" "$sixteen$sixteen\n$sixteen$sixteen\n"
refuses_key "a CR" "$sixteen$sixteen\r\n"
refuses_key "a blank before" " $sixteen$sixteen"
refuses_key "a blank behind" "$sixteen$sixteen "
refuses_key "0x before" "0x${sixteen}41414141414141"
refuses_key "a letter that is no digit" "${sixteen}414141414141414g"
refuses_key "a NUL in it" "${sixteen}41414141414141\0001"
refuses_key "a NUL behind" "$sixteen$sixteen\0000"
refuses_key "16 bytes" "$(printf '\\0%o' {129..144})"
clean_error "an endless key" "32 hexadecimal" bloom-build --key-file /dev/zero -n 1k -o new list
clean_error "no such file" "nowhere: No such file" \
	bloom-build --key-file nowhere -n 1k -o new list
mkdir folder
clean_error "a folder" "folder: Is a directory" bloom-build --key-file folder -n 1k -o new list
for mode in 640 620 604 602 660 644 666 601 610; do
	cp key loose
	chmod $mode loose
	clean_error "mode $mode" "chmod 600" bloom-build --key-file loose -n 1k -o new list
done
for mode in 400 700; do
	chmod $mode loose
	bloom-build --key-file loose -n 1k -o f list
	same reference f "mode $mode will do"
done
if [ "$(id -u)" -eq 0 ]; then
	cp key foreign
	chown 4711 foreign
	clean_error "another user's file" "another user" \
		bloom-build --key-file foreign -n 1k -o new list
else
	skip "another user's file" "not root"
fi

# ---- every tool checks it, before anything is written
chmod 600 list
for words in "bloom-build -n 1k -o new" "bloom-build --append new" "bloom-uniq" \
	"bloom-uniq --state new" "cms-count" "cms-count -o new" "cms-count --append new" "cms-top" \
	"cms-top -o new" "hll-count" "hll-count -o new" "hll-count --append new" \
	"bloom-query reference"; do
	# shellcheck disable=SC2086 # words
	clean_error "$words: a key that is none" "32 hexadecimal" $words --key-file list list
	case $words in bloom-query*) continue ;; esac
	# shellcheck disable=SC2086
	clean_error "$words: a seed as well" "exclude each other" \
		$words --key-file key -s 5 list
done
chmod 644 list

# ---- it is not written over
cp -p key kept
ln -s kept link
for words in "bloom-build -o" "bloom-build -n 1k -o" "bloom-uniq --duplicates" "cms-count -o" \
	"cms-top -o" "hll-count -o"; do
	for name in kept link; do
		# shellcheck disable=SC2086 # words
		clean_error "$words of $name, the key" "is the output, too" \
			$words $name --key-file kept list
	done
done
for tool in bloom-build bloom-uniq cms-count cms-top hll-count "bloom-query reference"; do
	clean_error "$tool: nor by what standard output is" "kept: is the output, too" \
		bash -c "exec $tool --key-file kept list >>kept"
done
bloom-build --key-file kept -n 1k -o - list >f
same reference f "any other output will do"
bloom-build --key-file /dev/stdin -n 1k -o - list <kept >f
same reference f "so it will where the key is standard input"

# ---- the same key and records, the same bytes; another key, others
bloom-build --key-file key -n 1k -o f list
same reference f "the same again"
bloom-build --key-file other -n 1k -o g list
not_ok "another key, other bytes" cmp -s reference g
for file in reference g; do
	not_ok "the key is not in $file" grep -aqE 'AAAAAAA|41414141' "$file"
done

# How a record becomes a key is one thing, the hash another.
same_key() # NAME FILTER_WORDS COMMAND: what the command prints are the keys
{
	local words
	read -ra words <<<"$2"
	bash -c "$3" | bloom-build --key-file key -n 1k -o plain
	bloom-build --key-file key -n 1k "${words[@]}" -o f list
	sketch-info plain | grep -v '^file\|^ignore' >one
	sketch-info f | grep -v '^file\|^ignore' >two
	bash -c "$3" | bloom-query --key-file key -c f >found
	is "$(cat found)" 1000 "$1: each key is found"
	same one two "$1: it is the same filter"
}
same_key "a field" "-f 1" "cut -d' ' -f1 list"
same_key "a field, quoted" "-Qf 2" "cut -d' ' -f2 list"
same_key "several fields" "-f 1,3" "cut -d' ' -f1,3 list"
same_key "another delimiter" "-d , -f 2" "cut -d, -f2 list"
same_key "folded" "-i" "tr A-Z a-z <list"
same_key "a field, folded" "-i -f 1" "tr A-Z a-z <list | cut -d' ' -f1"
sed 's/$/\r/' list >crlf
bloom-build --key-file key -n 1k --crlf -o f crlf
same reference f "CR at the end"
tr '\n' '\0' <list | bloom-build --key-file key -n 1k -z -o f
same reference f "records that end with NUL"
head -c -1 list >unterminated
bloom-build --key-file key -n 1k -o f unterminated
same reference f "a last record without its newline"
bloom-build --key-file key -j 3 -n 1k -o f list
same reference f "by several threads"
split -l 300 list part.
bloom-build --key-file key -n 1k -o f part.ac part.aa
bloom-build --key-file key --append f part.ad part.ab
same reference f "in parts, appended"
rm part.*

# ---- an answer for each kind, with the key
for kind in bloom counting cuckoo; do
	bloom-build --key-file key --kind $kind -n 2k -p 1e-6 -o "$kind" list
	is "$(bloom-query --key-file key -c "$kind" later)" 500 "$kind: those that are there"
	is "$(bloom-query --key-file key -j 2 -c "$kind" later)" 500 "$kind: by threads"
	expect 0 'User1 a1,b x1\n' "$kind: a key of the command line" \
		bloom-query --key-file key "$kind" -e 'User1 a1,b x1' -e User1
	bloom-build --key-file key --append "$kind" later
	is "$(bloom-query --key-file key -c "$kind" later)" 1000 "$kind: those that were added"
done
for kind in counting cuckoo; do
	quietly "$kind: keys taken out" bloom-build --key-file key --remove-from "$kind" later
	is "$(bloom-query --key-file key -c "$kind" later)" 500 "$kind: the others stay"
done
bloom-build --key-file key -i -n 2k -p 1e-6 -o folded list
is "$(tr '[:lower:]' '[:upper:]' <list | bloom-query --key-file key -c folded)" 1000 \
	"a folded filter folds what is asked"
expect 0 'uSER1 A1,b X1\n' "on the command line, too" \
	bloom-query --key-file key folded -e 'uSER1 A1,b X1'
bloom-build --key-file key -o ladder list
is "$(bloom-query --key-file key -c ladder list)" 1000 "a filter that grows"
bloom-uniq --key-file key --state state list >passed
same list passed "bloom-uniq: all are new"
bloom-uniq --key-file key --state state later >passed
is "$(wc -l <passed)" 500 "but not in the next run"
bloom-uniq --key-file key --window 100 --state window list >passed
is "$(tail -n 50 list | bloom-uniq --key-file key --state window | wc -l)" 0 "a window"
cat list list >twice
is "$(cms-count --key-file key twice | tail -n 1)" "2	User1000 a1000,b x1000" "cms-count"
cms-count --key-file key -o counts twice
cms-count --key-file key --append counts list
expect 0 '3\tUser7 a7,b x7\n0\tUser7\n' "cms-count --query" \
	cms-count --key-file key --query counts -e 'User7 a7,b x7' -e User7
expect 0 '3\tUser9 a9,b x9\n' "of records" \
	bash -c "sed -n 9p list | cms-count --key-file key --query counts"
is "$(cms-top --key-file key -k 1 -f 2 list later | cut -f1)" 2 "cms-top"
cms-top --key-file key -k 0 -o top list later
cms-top --key-file key -k 0 --append top list
hll-count --key-file key -q -o hll list
expect 0 '1500\n' "hll-count" hll-count --key-file key --append hll later

# ---- without the key, or with another, or where there is none
bloom-build -n 1k -o unkeyed list
bloom-build --kind counting -n 1k -o uncounting list
cms-count -o uncounts list
cms-top -k 0 -o untop list
hll-count -q -o unhll list
bloom-uniq --state unstate list >passed
asks=("bloom-query" "bloom-query -v" "bloom-query -q -e User1" "bloom-query -j 2"
	"bloom-build --append" "bloom-uniq --state")
# refuses FILE UNKEYED WORDS
refuses()
{
	local words
	read -ra words <<<"$3"
	clean_error "$3: no key" "needs a key" "${words[@]}" "$1" list
	clean_error "$3: another key" "another key" "${words[@]}" "$1" --key-file other list
	clean_error "$3: none is needed" "without a key" "${words[@]}" "$2" --key-file key list
}
for words in "${asks[@]}"; do
	refuses reference unkeyed "$words"
done
refuses state unstate "bloom-uniq --state"
refuses counting uncounting "bloom-build --remove-from"
refuses counting uncounting "bloom-build --append"
refuses counts uncounts "cms-count --append"
refuses counts uncounts "cms-count --query"
refuses top untop "cms-top --append"
refuses hll unhll "hll-count --append"
clean_error "the fingerprints are said" "$(info reference key_fingerprint)" \
	bloom-query --key-file other reference -e User1
clean_error "a seed for a keyed file" "needs a key" bloom-build --append reference -s 0 list

# ---- what needs no key
cms-top --query top >want
for words in "" "--key-file key"; do
	# shellcheck disable=SC2086
	cms-top --query top $words >got
	same want got "cms-top --query ${words:-needs no key}"
	# shellcheck disable=SC2086
	expect 0 '1500\n' "hll-count --query ${words:-needs no key}" hll-count --query hll $words
done
clean_error "cms-top --query: another key" "another key" cms-top --query top --key-file other
clean_error "cms-top --query: no key" "without a key" cms-top --query untop --key-file key
clean_error "hll-count --query: another key" "another key" hll-count --query hll --key-file other
clean_error "hll-count --query: no key" "without a key" hll-count --query unhll --key-file key
clean_error "cms-top --query: sketches of two keys" "hash family differs" \
	cms-top --query top --query untop
clean_error "cms-count --query: sketches of two keys" "hash family differs" \
	cms-count --key-file key --query counts --query uncounts -e a

# ---- sketch-info
for file in reference counts hll cuckoo; do
	is "$(info $file hash) $(info $file seed)" "siphash_2_4_128 missing" "$file: its hash"
	is "$(info $file key_fingerprint)" "$(info reference key_fingerprint)" \
		"$file: the fingerprint of its key"
	like "$(sketch-info $file)" '^key_fingerprint.[0-9a-f]{16}$' "$file: in words"
done
is "$(info unkeyed hash) $(info unkeyed key_fingerprint)" "murmur3_x64_128 missing" \
	"no key, no fingerprint"
(umask 077; echo 000102030405060708090A0B0C0D0E0F >published)
bloom-build --key-file published -n 1k -o f list
is "$(info f key_fingerprint)" 323339a29043e848 "the fingerprint in sketch-format(5)"

# ---- sketch-merge
bloom-build --key-file key -n 2k -o whole list later
bloom-build --key-file key -n 2k -o a list
bloom-build --key-file key -n 2k -o b later
sketch-merge -o f a b
same whole f "filters are joined without the key"
hll-count --key-file key -q -o a list
hll-count --key-file key -q -o b later
sketch-merge -o f a b
same hll f "and distinct keys"
cms-count --key-file key --plain -o whole list later
cms-count --key-file key --plain -o a list
cms-count --key-file key --plain -o b later
sketch-merge -o f a b
same whole f "and counts"
bloom-build --key-file other -n 1k -o f list
clean_error "of two keys" "key fingerprint differs" sketch-merge -o new reference f
clean_error "of a key and none" "hash family differs" sketch-merge -o new reference unkeyed
cms-count --key-file other -o f list
clean_error "counts of two keys" "key fingerprint differs" sketch-merge -o new counts f
hll-count --key-file other -q -o f list
clean_error "distinct keys of two keys" "key fingerprint differs" sketch-merge -o new hll f
bloom-build --key-file other --kind cuckoo -n 2k -p 1e-6 -o f list
clean_error "cuckoo filters of two keys" "key fingerprint differs" sketch-merge -o new cuckoo f

# ---- fpr-calc measures a file without its key
quietly "fpr-calc --file" fpr-calc --file reference --simulate --seed 5
cut -f1,2 "$OUT" >one
like "$(cat one)" '^simulated_low' "it asks the filter"
not_ok "fpr-calc has no key" fpr-calc --key-file key -n 1k -p 1%

# ---- several filters at once
bloom-build -n 1k -p 1e-6 -s 7 -o seeded <(sed -n 1,100p list)
bloom-build -n 1k -p 1e-6 -o plain <(sed -n 101,200p list)
bloom-build --key-file key -n 1k -p 1e-6 -o one <(sed -n 201,300p list)
bloom-build --key-file key -i -n 1k -p 1e-6 -o two <(sed -n 301,400p list)
sed -n 1,400p list >want
for order in "seeded plain one two" "two one plain seeded" "one seeded two plain"; do
	words=()
	for file in $order; do words+=(-F "$file"); done
	expect 0 "$(cat want)\n" "several filters: $order" \
		bloom-query --key-file key "${words[@]}" list
	expect 0 "$(cat want)\n" "by threads: $order" \
		bloom-query --key-file key -j 2 "${words[@]}" list
	expect 0 'User250 a250,b x250\n' "-e: $order" bloom-query --key-file key "${words[@]}" \
		-e 'User250 a250,b x250' -e User250
done
clean_error "several filters, one of another key" "another key" \
	bloom-query --key-file other -F plain -F one list
clean_error "several filters, and no key" "needs a key" bloom-query -F plain -F one list
clean_error "several filters, none of them keyed" "without a key" \
	bloom-query --key-file key -F plain -F seeded list

# ---- the independent writer, with keys of every length
if [ -n "$PYTHON" ]; then
	for length in $(seq 0 64); do head -c "$length" list | tr '\n' ' '; echo; done >lengths
	for words in "--layout classic --m 6464 --k 10" "--layout blocked --m 4096 --k 8"; do
		# shellcheck disable=SC2086
		"$PYTHON" -E "$TOP/scripts/sketch-format" write $words --n 65 --p 0.001 \
			--key "$(cat key)" -o theirs <lengths
		# shellcheck disable=SC2086
		"$PYTHON" -E "$TOP/scripts/sketch-format" write $words --n 65 --p 0.001 \
			--key "$(cat key)" -o ours </dev/null
		bloom-build --key-file key --append ours lengths
		same theirs ours "the bytes of the independent writer: $words"
	done
	ok "whose hash passes its own test" "$PYTHON" -E "$TOP/scripts/sketch-format" selftest
	# And a second opinion on that, of the programs that many have.
	if command -v openssl >.tap/openssl && openssl list -mac-algorithms 2>&1 |
		grep -q SIPHASH; then
		seq -s ' ' 30 | head -c 63 >text
		openssl mac -macopt hexkey:"$(cat key)" -macopt size:8 -in \
			<(printf 'sketch: fingerprint of a hash key') SIPHASH >said 2>.tap/openssl
		is "$(info reference key_fingerprint)" \
			"$(fold -w2 said | head -n 8 | tac | tr -d '\n' | tr A-F a-f)" \
			"the fingerprint as openssl has it"
	else
		skip "the fingerprint as openssl has it" "no openssl with SipHash"
	fi
else
	skip "the bytes of the independent writer" "no python3"
fi

done_testing
