#!/bin/sh
# Clients that no run before has seen, as in a nightly job.  The first run makes the
# state; the same command goes on with it.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

echo "new clients of the first day, the second, the second again:"
bloom-uniq --state seen.bloom -f 1 < "$SAMPLES/access-1.log" > new-1
bloom-uniq --state seen.bloom -f 1 < "$SAMPLES/access.log" > new-2
bloom-uniq --state seen.bloom -f 1 < "$SAMPLES/access.log" > new-3
for day in 1 2 3; do
	wc -l < new-$day | tr -d ' '
done

awk '!seen[$1]++' "$SAMPLES/access-1.log" "$SAMPLES/access.log" > by-awk
cat new-1 new-2 | cmp - by-awk && echo "the same as by awk over both days"

echo "the state:"
sketch-info seen.bloom | grep -E '^(records|bytes|distinct|layers)'

echo "what could not be passed on is not remembered:"
bloom-uniq --state full.bloom < "$SAMPLES/users.txt" > /dev/full 2> message || cat message
bloom-uniq --state full.bloom < "$SAMPLES/users.txt" > passed
cmp passed "$SAMPLES/users.txt" && echo "all of it came the next time"

echo "other parameters are refused:"
status=0
bloom-uniq --state seen.bloom -p 0.01 -f 1 "$SAMPLES/access.log" 2>&1 || status=$?
echo "status $status"
