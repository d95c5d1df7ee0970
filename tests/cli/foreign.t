#!/usr/bin/env bash
# Inputs that are no records: sketches and compressed files are refused, whatever reads them
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

seq 100 >list
bloom-build -n 100 -o f.bloom list
bloom-build --kind cuckoo -n 100 -o f.cuckoo list
cms-count -o f.cms list
hll-count -q -o f.hll list
gzip -c list >list.gz

# ---- each tool, from a file
tools=("bloom-build -n 9 -o new" "bloom-uniq" "bloom-query f.bloom"
	"cms-count" "cms-count -o new" "cms-top" "cms-top -o new" "hll-count" "hll-count -q -o new"
	"bloom-build -n 9 -j 2 -o new" "bloom-query -j 2 f.bloom" "hll-count -j 2")
for tool in "${tools[@]}"; do
	# shellcheck disable=SC2086 # words
	clean_error "$tool of a sketch" "f.hll: is a HyperLogLog sketch, not records: " $tool f.hll
	rm -f new
	# shellcheck disable=SC2086 # words
	clean_error "$tool of what gzip made" \
		"list.gz: is compressed by gzip: pipe it through gzip -dc" $tool list.gz
	rm -f new
done
for kind in bloom:"Bloom filter" cuckoo:"cuckoo filter" cms:"count-min sketch"; do
	clean_error "a ${kind#*:} is named" "f.${kind%%:*}: is a ${kind#*:}, not records" \
		cms-top "f.${kind%%:*}"
done
like "$(cms-top f.hll 2>&1)" 'hll-count --query$' "what asks a HyperLogLog sketch"
like "$(hll-count f.cms 2>&1)" 'cms-top --query or cms-count --query$' "what asks counts"
like "$(cms-top f.bloom 2>&1)" 'bloom-query asks it' "what asks a filter"

run bloom-uniq --state new f.hll list
is "$status $(cmp "$OUT" list && echo same)" "2 same" "bloom-uniq --state goes on with the rest"
rm -f new

# ---- the others are read, or nothing is made, as where one cannot be read
trouble "what passes records on does so with the rest" f.hll bloom-query f.bloom f.hll list
same list "$OUT" "all of it"
run cms-top -k 1 --stats f.hll list
is "$status $(grep -c ' records, 292 bytes, 1 input, ' "$ERR")" "2 1" "and is not in the summary"
printf 'list\0f.cms\0' >names
clean_error "one in a list of names" "f.cms: is a count-min sketch" \
	bloom-build -n 9 -o new --files0-from names

# ---- from a pipe, in pieces
clean_error "from stdin" "standard input: is a HyperLogLog sketch" bash -c 'cms-top <f.hll'
piecewise() # FILE SIZE
{
	head -c 5 "$1"
	sleep 0.1
	tail -c +6 "$1" | head -c 6
	sleep 0.1
	tail -c +12 "$1"
}
for file in f.hll list.gz; do
	run cms-top < <(piecewise $file)
	is "$status $(grep -Ec '^cms-top: standard input: is (a Hyper|compressed by gzip)' "$ERR") \
$(wc -c <"$OUT")" "2 1 0" "$file in pieces"
done

# ---- the others' first bytes, from their specifications
first()
{
	# shellcheck disable=SC2059 # bytes
	printf "$1" >first
	seq 100 >>first
}
refused() # BY BYTES
{
	first "$2"
	clean_error "$1" "first: is compressed by $1: pipe it through $1 -dc" cms-top first
}
refused xz '\xfd7zXZ\0'
refused zstd '\x28\xb5\x2f\xfd'
for level in 1 9; do refused bzip2 "BZh${level}1AY&SY"; done
refused bzip2 'BZh9\x17rE8P\x90'
refused gzip '\x1f\x8b\x08\x08\x01\x02\x03\x04\x02\x03'
refused gzip '\x1f\x8b\x08\0\0\0\0\0\0\xff'

# ---- what only looks so is data
accepted() # NAME BYTES
{
	first "$2"
	run bloom-uniq first
	is "$status $(cmp "$OUT" first && echo same)$(cat "$ERR")" "0 same" "$1 is data"
}
accepted "a text that begins as bzip2's does" 'BZh911'
accepted "BZh0" 'BZh01AY&SY'
accepted "half of xz's magic" '\xfd7z\n'
accepted "three bytes of zstd's" '\x28\xb5\x2f\n'
accepted "gzip's with flags that there are not" '\x1f\x8b\x08\xe0\0\0\0\0\0\x03'
accepted "gzip's with a level that there is not" '\x1f\x8b\x08\0\0\0\0\0\x01\x03'
accepted "gzip's with a system that there is not" '\x1f\x8b\x08\0\0\0\0\0\0\x50'
accepted "a part of our magic" '\x89SKE\r\n\x1a'
accepted "our magic, damaged" '\x89SKE\n\x1a\n'
accepted "our magic behind a newline" '\n\x89SKE\r\n\x1a\n'
for length in 1 4 7; do
	run bloom-uniq <(head -c "$length" f.hll)
	is "$status $(wc -c <"$OUT")" "0 $((length + 1))" "$length bytes of our magic and no more"
	{ head -c "$length" f.hll; echo x; } >first
	run bloom-uniq first
	is "$status $(cmp "$OUT" first && echo same)" "0 same" "$length bytes of our magic are data"
done
head -c 8 f.hll >first
clean_error "all of it and no more" "first: is a sketch, not records" bloom-uniq first
head -c 3 list.gz >first
run bloom-uniq first
is "$status" 0 "three bytes of gzip's and no more are data"

# ---- a live input is not waited for
coproc { exec bloom-uniq; }
printf 'B\n' >&"${COPROC[1]}"
IFS= read -r -t 20 line <&"${COPROC[0]}"
is "$line" B "a first record that is shorter than any magic is passed on at once"
eval "exec ${COPROC[1]}>&-"
wait "$COPROC_PID"

# ---- a word that was meant for a key
like "$(bloom-query f.bloom alice 2>&1)" \
	'^bloom-query: alice: No such file or directory \(for a key: -e alice\)$' \
	"bloom-query FILTER WORD"
like "$(cms-count --query f.cms alice 2>&1)" '\(for a key: -e alice\)$' \
	"cms-count --query SKETCH WORD"
not_ok "but not where nothing is asked" grep -q 'for a key' <(cms-count alice 2>&1)

done_testing
