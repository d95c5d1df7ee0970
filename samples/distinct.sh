#!/bin/sh
# How many different ones: of a day, of two days, by the hour; within which bounds.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

echo "clients and pages of the day, and sort -u agrees:"
hll-count -f 1 "$SAMPLES/access.log"
cut -d ' ' -f 1 "$SAMPLES/access.log" | sort -u | wc -l
hll-count -f 7 "$SAMPLES/access.log"
cut -d ' ' -f 7 "$SAMPLES/access.log" | sort -u | wc -l

echo "clients of two days, a client of both counted once:"
hll-count -q -f 1 -o sun.hll "$SAMPLES/access-1.log"
hll-count -q -f 1 -o mon.hll "$SAMPLES/access.log"
hll-count --query sun.hll --query mon.hll
sketch-merge -o both.hll sun.hll mon.hll
hll-count -q -f 1 -o whole.hll "$SAMPLES/access.log" "$SAMPLES/access-1.log"
cmp both.hll whole.hll && echo "joined, they are the sketch of both, byte for byte"

echo "run by run, the same:"
hll-count -f 1 --append ever.hll "$SAMPLES/access-1.log"
hll-count -f 1 --append ever.hll "$SAMPLES/access.log"
cmp ever.hll whole.hll && echo "byte for byte"

echo "clients in each hour:"
for hour in 08 09 10; do
	printf '%s:00\t' "$hour"
	grep ":$hour:..:" "$SAMPLES/access.log" | hll-count -f 1
done

echo "a million numbers: the estimate, its bounds, and with more memory:"
seq 1000000 | hll-count --bounds
seq 1000000 | hll-count --bounds --error 0.1%
sketch-info --json both.hll | tr , '\n' | grep -E 'precision|exact|distinct'
