#!/bin/sh
# Count once, ask later: how often each of a list came, on one day or on both.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

cms-count -f 1 -o sun.cms "$SAMPLES/access-1.log"
cms-count -f 1 -o mon.cms "$SAMPLES/access.log"

echo "three clients, the last of whom never came:"
cms-count --query mon.cms -e 192.0.2.134 -e 2001:db8:7::8 -e 192.0.2.0
echo "with bounds, on both days together:"
cms-count --query sun.cms --query mon.cms --bounds -e 192.0.2.134 -e 2001:db8:7::8

echo "those of the blocklist that came 20 times or more on both days, and the same by awk:"
cms-count --query sun.cms --query mon.cms --at-least 20 "$SAMPLES/blocklist.txt" | tee asked
cut -d ' ' -f 1 "$SAMPLES/access-1.log" "$SAMPLES/access.log" |
	awk 'FILENAME != "-" { n[$1]; next } $1 in n { n[$1]++ }
		END { for (key in n) if (n[key] >= 20) print n[key] "\t" key }' \
		"$SAMPLES/blocklist.txt" - | sort > counted
sort asked | cmp - counted && echo "no other"

echo "added up from run to run in one file:"
cms-count -f 1 --append both.cms "$SAMPLES/access-1.log"
cms-count -f 1 --append both.cms "$SAMPLES/access.log"
cms-count --query both.cms --stats -e 192.0.2.134 2>&1

echo "a plain table of 1 KiB is never below the truth, and tells how far above it may be:"
cms-count --plain --size 1KiB -f 1 -o small.cms "$SAMPLES/access.log"
cms-count --query small.cms --bounds --stats -e 192.0.2.134 -e 192.0.2.0 2>&1
cut -d ' ' -f 1 "$SAMPLES/access.log" | sort | uniq -c | awk '{ print $2 "\t" $1 }' > truth
cut -f 1 truth | cms-count --query small.cms |
	awk -F '\t' 'FILENAME == "truth" { n[$1] = $2; next }
		{ below += $1 < n[$2]; above += $1 > n[$2] }
		END { print "of " FNR " clients", below + 0, "below the truth,", above + 0, \
			"above" }
		' truth -
