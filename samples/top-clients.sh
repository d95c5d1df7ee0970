#!/bin/sh
# The busiest clients of a web log, as sort and uniq -c find them, without sorting.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

echo "the busiest clients:"
cms-top -k 5 -f 1 "$SAMPLES/access.log"

cut -d ' ' -f 1 "$SAMPLES/access.log" | sort | uniq -c | sort -k 1,1nr -k 2 > sorted
cms-top -k 10 --pad -f 1 "$SAMPLES/access.log" > top
head -n 10 sorted | cmp - top && echo "the ten are those of sort | uniq -c, equal ones in order"

echo "all of them fit, so every count is exact:"
{ cms-top -k 1000 --pad --stats -f 1 "$SAMPLES/access.log" > all; } 2>&1
cmp sorted all && echo "all clients are as sort | uniq -c counts them"

echo "with bounds, where there are more keys than are kept, and a table of 1 KiB:"
cms-top -k 3 --size 1KiB --stats --bounds -f 1,7 "$SAMPLES/access.log" 2>&1

echo "pairs of client and path whose true count is not between their bounds:"
cut -d ' ' -f 1,7 "$SAMPLES/access.log" | sort | uniq -c |
	awk '{ print $2 " " $3 "\t" $1 }' > pairs
cms-top -k 1000 --size 1KiB --bounds -f 1,7 "$SAMPLES/access.log" |
	awk -F '\t' 'FILENAME == "pairs" { truth[$1] = $2; next }
		$2 > truth[$4] || $3 < truth[$4] { wrong++ }
		END { print wrong + 0 }' pairs -

echo "status codes with a share of 3 % or more, for a machine to read:"
cms-top --json --min-share 3% -f 9 "$SAMPLES/access.log"
