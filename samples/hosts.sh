#!/bin/sh
# Counts of two hosts, added up: the top of the whole, though each has seen a part.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

cms-top -k 0 -f 1 -o web1.cms "$SAMPLES/access-1.log"
cms-top -k 0 -f 1 -o web2.cms "$SAMPLES/access.log"
sketch-merge -o all.cms web1.cms web2.cms
echo "of both:"
cms-top -k 5 --query all.cms
cms-top -k 5 --query web1.cms --query web2.cms > asked
cms-top -k 5 --query all.cms | cmp - asked && echo "the same without a file for the sum"
cut -d ' ' -f 1 "$SAMPLES/access-1.log" "$SAMPLES/access.log" | sort | uniq -c |
	sort -k 1,1nr -k 2 > sorted
cms-top -k 1000 --pad --query all.cms | cmp sorted - && echo "all as sort | uniq -c has them"
sketch-info all.cms | grep -E '^(records|total|exact|tracked)'

echo "plain sketches, added up, are that of the whole:"
cms-count --plain -f 1 -o plain1.cms "$SAMPLES/access-1.log"
cms-count --plain -f 1 -o plain2.cms "$SAMPLES/access.log"
cms-count --plain -f 1 -o plain.cms "$SAMPLES/access.log" "$SAMPLES/access-1.log"
sketch-merge plain1.cms plain2.cms | cmp - plain.cms && echo "byte for byte"

echo "refused:"
for other in plain2.cms web1.cms; do
	status=0
	sketch-merge -o all.cms web1.cms $other 2>&1 || status=$?
	echo "status $status"
done
cms-top --query plain.cms 2>&1 || echo "status $?"
