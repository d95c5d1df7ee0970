#!/usr/bin/env bash
# Filters that keys can be taken out of: bloom-build --kind, --remove-from; asked, joined, shown
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

seq 1 2000 >all
seq 1 700 >gone
seq 701 2000 >left
seq 500001 500400 >absent

# What must hold of every kind: KIND, then what makes it
every_kind() # NAME [OPTION]...
{
	local kind=$1
	shift
	quietly "$kind: is made" bloom-build "$@" -n 4000 -p 1e-4 -o f all
	is "$(wc -c <"$OUT")" 0 "$kind: says nothing on stdout"
	is "$(info f kind)" "$kind" "$kind: sketch-info says what it is"
	is "$(info f records)" 2000 "$kind: and how many records"
	run bloom-query f all
	same "$OUT" all "$kind: no key is missed"
	cp f before
	quietly "$kind: keys are taken out" bloom-build --remove-from f gone
	is "$(wc -c <"$OUT")" 0 "$kind: silently"
	is "$(info f records)" 1300 "$kind: records are those that are left"
	run bloom-query f all
	same "$OUT" left "$kind: what is left is found, what is gone is not"
	quietly "$kind: keys come again" bloom-build --append f gone
	is "$(info f records)" 2000 "$kind: and are counted"
	run bloom-query -c f all
	is "$(cat "$OUT")" 2000 "$kind: all are there"

	# ---- a multiset
	bloom-build --append f <(echo twice) <(echo twice)
	bloom-build --remove-from f <<<twice
	expect 0 'twice\n' "$kind: a key put in twice is still there" bloom-query f <<<twice
	bloom-build --remove-from f <<<twice
	expect 1 '' "$kind: until it was taken out twice" bloom-query f <<<twice

	# ---- what is not there
	cp f before
	run bloom-build --remove-from f absent
	is "$status $(wc -l <"$ERR")" "0 1" "$kind: keys that are not there are refused"
	like "$(cat "$ERR")" '^bloom-build: f: warning: 400 of 400 keys' "$kind: and counted"
	same f before "$kind: nothing is changed by them"
	run bloom-build --remove-from f absent gone
	like "$(cat "$ERR")" 'warning: 400 of 1100 keys' "$kind: the others are taken out"
	is "$(info f records)" 1300 "$kind: and counted"
	clean_error "$kind: --strict takes all or none" "f: 1 of 1301 keys" \
		bloom-build --strict --remove-from f left <(echo 500001)
	quietly "$kind: --strict, and all are there" bloom-build --strict --remove-from f left
	is "$(info f records)" 0 "$kind: none is left"
	is "$(info f fill)" 0 "$kind: nothing at all"

	# ---- options
	cp before f
	clean_error "$kind: another kind of file" "kind differs" \
		bloom-build --kind bloom --append f all
	clean_error "$kind: another seed" "seed differs" bloom-build -s 7 --remove-from f all
	clean_error "$kind: folded" "ignore-case" bloom-build -i --remove-from f all
	clean_error "$kind: an input that is not there" "nowhere" \
		bloom-build --remove-from f gone nowhere
	clean_error "$kind: bloom-uniq has no use for it" "takes no key out" \
		bloom-uniq --state f all
	quietly "$kind: fields, and --stats" bash -c \
		'sed "s/^/x /" gone | bloom-build --stats -f 2 --remove-from f 2>said'
	like "$(cat said)" '700 keys taken out' "$kind: says how many"
	bloom-build "$@" -n 100 -i -o folded <(echo Key)
	quietly "$kind: a folded file knows" bloom-build --strict --remove-from folded <(echo kEY)
	chmod 640 f
	ln -sf f link
	quietly "$kind: over a link" bloom-build --append link <(echo more)
	ok "$kind: it is still one" test -L link
	is "$(stat -c %a f)" 640 "$kind: and the mode is kept"
	quietly "$kind: through pipes" bash -c "bloom-build $* -n 1000 gone | sketch-info -"
	expect 0 '1\n700\n' "$kind: asked through a pipe" bash -c \
		"bloom-build $* -n 1000 gone | bloom-query -e 1 -e 700 -e 701 -"
	bloom-build "$@" -n 4000 -p 1e-4 -o again all
	bloom-build "$@" -n 4000 -p 1e-4 -o f all
	same f again "$kind: the same input and options, the same bytes"
	clean_error "$kind: needs -n" "--keys" bloom-build "$@" -o none all
	clean_error "$kind: with -m, too" "--keys" bloom-build "$@" -m 1MB -o none all
	clean_error "$kind: one thread" "plain Bloom filters" \
		bloom-build --threads 2 "$@" -n 4000 -o none all
	run bloom-query --threads 2 f all
	same "$OUT" all "$kind: several may ask"

	# ---- joined
	bloom-build "$@" -n 4000 -p 1e-4 -o a gone
	bloom-build "$@" -n 4000 -p 1e-4 -o b left
	quietly "$kind: joined" sketch-merge -o joined a b
	is "$(info joined records)" 2000 "$kind: records add up"
	run bloom-query joined all
	same "$OUT" all "$kind: all keys of both are there"
	quietly "$kind: what came in can go" bloom-build --strict --remove-from joined all
	is "$(info joined fill)" 0 "$kind: each once"
	clean_error "$kind: no file is added to itself" "named twice" sketch-merge -o out a b a
	clean_error "$kind: nor the output" "is the output" sketch-merge -o a a b
	bloom-build -n 4000 -p 1e-4 -o plain all
	clean_error "$kind: nor to a plain one" "" sketch-merge -o out a plain
	clean_error "$kind: nor a plain one to it" "" sketch-merge -o out plain a
	bloom-build "$@" -n 4001 -p 1e-3 -o other all
	clean_error "$kind: nor to one of another size" "differs" sketch-merge -o out a other
	bloom-build "$@" -n 4000 -p 1e-4 -s 1 -o other all
	clean_error "$kind: nor of another seed" "seed differs" sketch-merge -o out a other
	rm -f a b f joined again before other plain folded link said
}

every_kind counting --kind counting
every_kind counting --kind counting -L classic --counter-bits 8
every_kind counting --kind=counting --counter-bits=16
every_kind cuckoo --kind cuckoo
every_kind cuckoo --kind=cuckoo -s 0

# ---- a plain filter
bloom-build -n 4000 -o plain all
bloom-build -o ladder all
for file in plain ladder; do
	clean_error "nothing can be taken out of a $file filter" "owners" \
		bloom-build --remove-from "$file" gone
done
clean_error "no file" "no filter to take" bloom-build --remove-from nowhere gone
: >empty
clean_error "an empty one" "no filter to take" bloom-build --remove-from empty gone
cms-count -o counts <all
clean_error "counts" "count-min" bloom-build --remove-from counts gone

# ---- words of the command line
clean_error "--strict alone" "--strict needs" bloom-build --strict -n 9 -o f all
clean_error "--strict and --save-every" "exclude" \
	bloom-build --strict --save-every 1s --remove-from plain all
clean_error "--append and --remove-from" "excludes" \
	bloom-build --append plain --remove-from plain all
clean_error "--output and --remove-from" "excludes" bloom-build -o g --remove-from plain all
clean_error "--remove-from -" "needs a file" bloom-build --remove-from - all
clean_error "--no-wait" "needs" bloom-build --no-wait -n 9 -o f all
clean_error "a kind that is none" "'quotient'" bloom-build --kind quotient -n 9 -o f all
clean_error "--counter-bits 5" "'5'" bloom-build --kind counting --counter-bits 5 -n 9 -o f all
clean_error "--counter-bits without counters" "--counter-bits needs" \
	bloom-build --counter-bits 8 -n 9 -o f all
quietly "--kind bloom is what it is without" bloom-build --kind bloom -n 4000 -o f all
same f plain "to the byte"

# ---- counters: the same as the whole, in any order
bloom-build --kind counting -n 4000 -o whole gone left
bloom-build --kind counting -n 4000 -o f left
bloom-build --append f gone
same f whole "counting: the order of the parts does not matter"
bloom-build --append f absent
bloom-build --remove-from f absent
same f whole "counting: what came and went leaves no trace"
bloom-build --kind counting -n 4000 -o a gone
bloom-build --kind counting -n 4000 -o b left
sketch-merge -o joined b a
same joined whole "counting: joined, it is the filter of the whole"
bloom-build -n 4000 -o plain all
for row in layout n p m k g fill rate distinct past_capacity; do
	is "$(info whole $row)" "$(info plain $row)" "counting: $row is that of the plain filter"
done
is "$(info whole bytes)" $((4 * $(info plain bytes))) "counting: four times its bytes"
clean_error "counters of another size" "counter" bloom-build --kind counting --counter-bits 8 \
	--append whole all
bloom-build --kind counting --counter-bits 8 -n 4000 -o f all
clean_error "and joined" "counter" sketch-merge -o out whole f
quietly "-m is of the whole" bloom-build --kind counting -n 4000 -m 20kB -o f all
ok "and kept" test "$(info f bytes)" -le 20000
ok "and used" test "$(info f bytes)" -ge 19000
quietly "and the same again" bloom-build --kind counting -n 4000 -m 20kB --append f all

# ---- cuckoo: full, and what the order does
seq 1 100000 >many
bloom-build --kind cuckoo -n 1000 -o f <(seq 1 990)
clean_error "cuckoo: more than it has room for" "the file is unchanged" bloom-build --append f many
run bloom-build --append f many
like "$(cat "$ERR")" 'is full: it holds 10[0-9]+ keys, a load of 9[0-9.]+ %, and was made for' \
	"cuckoo: says how full it is"
clean_error "cuckoo: nor is anything made of too many" "is full" \
	bloom-build --kind cuckoo -n 1000 -o g many
clean_error "cuckoo: a ninth copy" "8 copies of a key" \
	bloom-build --append f <(yes same | head -9)
quietly "cuckoo: eight are possible" bloom-build --append f <(yes same | head -8)
yes same | head -7 | bloom-build --remove-from f
expect 0 'same\n' "cuckoo: and go one by one" bloom-query -e same f
bloom-build --strict --remove-from f <<<same
expect 1 '' "cuckoo: to the last" bloom-query -e same f
run bloom-build --append f <(seq 2001 2050)
like "$(cat "$ERR")" 'warning: holds 1040 keys, made for 1000; it is 9[0-9.]+ % full' \
	"cuckoo: past -n there is a warning"
run sketch-info --check f
is "$status" 1 "cuckoo: sketch-info --check says so"
bloom-build --kind cuckoo -n 1000 -o a <(seq 1 1000)
bloom-build --kind cuckoo -n 1000 -o b <(seq 1000 -1 1)
for row in records bytes n p m fingerprint buckets entries fill; do
	is "$(info a $row)" "$(info b $row)" "cuckoo: $row does not depend on the order"
done
run bloom-query a many
mv "$OUT" found
run bloom-query b many
same "$OUT" found "cuckoo: nor does what is found"
bloom-build --kind cuckoo -n 1000 -o b <(seq 1 400)
bloom-build --append b <(seq 401 1000)
same a b "cuckoo: in one run or in two, the same bytes"
bloom-build --kind cuckoo -n 1000 -o b <(seq 1001 2000)
clean_error "cuckoo: joined, too full" "is full" sketch-merge -o out a b
clean_error "cuckoo: -k and -L" "excludes --layout" bloom-build --kind cuckoo -n 9 -k 3 -o g all
clean_error "cuckoo: counters" "needs --kind counting" \
	bloom-build --kind cuckoo -n 9 --counter-bits 4 -o g all
clean_error "cuckoo: of a file, too" "no layout" bloom-build -L classic --append a all
clean_error "cuckoo: a rate out of reach" "out of reach" \
	bloom-build --kind cuckoo -n 9 -p 1e-40 -o g all
clean_error "cuckoo: too small a size" "too few" bloom-build --kind cuckoo -n 9000 -m 1kB -o g all
clean_error "cuckoo: a size that cannot keep p" "keep p" \
	bloom-build --kind cuckoo -n 9000 -m 10kB -p 1e-6 -o g all
bloom-build --kind cuckoo -n 2000 -m 4kB -o g all
ok "cuckoo: -m is kept" test "$(info g bytes)" -le 4000
ok "cuckoo: and used" test "$(info g bytes)" -ge 3950
quietly "cuckoo: and the same again" bloom-build --kind cuckoo -n 2000 -m 4kB --append g /dev/null
clean_error "cuckoo: another n" "n differs" bloom-build -n 2001 --append g all
clean_error "cuckoo: another m" "m differs" bloom-build -m 5kB --append g all
clean_error "cuckoo: another p" "p differs" bloom-build -p 0.5 --append g all
for words in "-n 4000 -p 0.01" "-n 123456 -p 1e-6" "-n 10000 -m 20kB"; do
	# shellcheck disable=SC2086 # several words
	bloom-build --kind cuckoo $words -o f /dev/null
	for row in m fingerprint buckets bytes; do
		# shellcheck disable=SC2086 # several words
		is "$(fpr-calc --kind cuckoo $words --print $row)" "$(info f $row)" \
			"fpr-calc --kind cuckoo $words: $row is that of the filter"
	done
done
clean_error "fpr-calc: questions about bits" "goes with -n, -p and -m" \
	fpr-calc --kind cuckoo -n 1000 -p 0.01 --until 0.1
clean_error "fpr-calc: without -n" "--keys" fpr-calc --kind cuckoo -p 0.01
clean_error "fpr-calc --file" "sketch-info tells" fpr-calc --file f

# ---- full counters
yes same | head -20 | bloom-build --kind counting -n 10 -o f
is "$(info f counters_full)" "$(info f k)" "20 copies: all counters of the key are full"
is "$(info f counter_largest)" 15 "at 15"
yes same | head -40 | bloom-build --remove-from f
expect 0 'same\n' "and it cannot be taken out again" bloom-query -e same f
bloom-build --kind counting --counter-bits 8 -n 10 -o f <(yes same | head -20)
is "$(info f counters_full)" 0 "a counter of 8 bits holds them"
yes same | head -20 | bloom-build --strict --remove-from f
expect 1 '' "and lets them go" bloom-query -e same f

# ---- past capacity, by what is there
bloom-build --kind counting -n 100 -o f <(seq 1 100)
run bloom-build --append f <(seq 101 300)
like "$(cat "$ERR")" 'warning: holds about [0-9]+ keys, made for 100' "past -n there is a warning"
run sketch-info --check f
is "$status" 1 "sketch-info --check says so"
quietly "and is content again" bloom-build --remove-from f <(seq 101 300)
run sketch-info --check f
is "$status" 0 "when they are gone"

# ---- planning
for words in "-n 4000" "-n 4000 -p 1e-6 -L classic" "-n 1e6 -m 9MB --counter-bits 8"; do
	# shellcheck disable=SC2086 # several words
	bloom-build --kind counting $words -o f /dev/null
	for row in m k bytes; do
		# shellcheck disable=SC2086 # several words
		is "$(fpr-calc --kind counting ${words/-n 4000/-n 4000 -p 0.01} --print $row 2>&1 |
			tail -1)" "$(info f $row)" "fpr-calc $words: $row is that of the filter"
	done
done 2>/dev/null
like "$(fpr-calc --kind counting -n 1e9 -p 0.01 --print counters_full)" '^0\.0*[1-9]|^[0-9.]+e-' \
	"hardly one of a thousand million keys fills a counter"
clean_error "questions about bits" "--kind goes with" \
	fpr-calc --kind counting -n 1000 -p 0.01 --compare
clean_error "--counter-bits alone" "--counter-bits needs" fpr-calc -n 9 -p 0.1 --counter-bits 8
bloom-build --kind counting -n 4000 -o f all
is "$(fpr-calc --file f --print bytes)" "$(info f bytes)" "fpr-calc --file reads one"
ok "and tells how many keys more" test "$(fpr-calc --file f --print until_more)" -ge 1990
clean_error "of a file, too" "counters" fpr-calc --file f --compare

# ---- damage: as of any filter
for kind in counting cuckoo; do
	bloom-build --kind $kind -n 200000 -o big <(seq 1 1000)
	size=$(stat -c %s big)
	printf '\377' | dd of=big bs=1 seek=$((size - 70)) conv=notrunc 2>/dev/null
	trouble "$kind: a damaged chunk is found" "checksum" sketch-info big
	clean_error "$kind: before keys are taken out" "checksum" bloom-build --remove-from big gone
	clean_error "$kind: before it is joined" "checksum" sketch-merge -o out big big
	head -c $((size - 100)) big >short
	clean_error "$kind: a cut file" "truncated" bloom-build --remove-from short gone
	clean_error "$kind: a full device" "No space" \
		bash -c "exec bloom-build --kind $kind -n 2000 all >/dev/full"
done

done_testing
