#!/bin/sh
# Filters and records through pipes, and records that end with a NUL byte.
set -eu
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

sort -r "$SAMPLES/users.txt" | bloom-build -n 400 -p 0.001 > backwards.bloom
bloom-build -n 400 -p 0.001 -o users.bloom "$SAMPLES/users.txt"
cmp backwards.bloom users.bloom && echo "the order of keys leaves no trace"

printf '%s\0' user0042 'a
name of two lines' '' | bloom-build -z -n 10 -p 1e-6 | cat > three.bloom
sketch-info - < three.bloom | grep -E '^(records|distinct)'

echo "status for names that are in it, and one that is not:"
for name in user0042 'a
name of two lines' '' user0043; do
	status=0
	bloom-query -q -e "$name" three.bloom || status=$?
	echo "$status"
done

echo "from a list of file names:"
printf '%s\0' "$SAMPLES/users.txt" "$SAMPLES/blocklist.txt" > names
bloom-query -c --files0-from=names users.bloom
