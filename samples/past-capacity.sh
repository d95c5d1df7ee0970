#!/bin/sh
# A filter for 100 keys that is given 360: it never forgets one, but it cries
# "maybe" too often, and says so.
set -eu
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

bloom-build -n 100 -p 0.01 -f 1 -o small.bloom "$SAMPLES/access.log" 2>&1
bloom-build -n 1k -p 0.01 -f 1 -o enough.bloom "$SAMPLES/access.log"

echo "requests of today not found in either (none may be lost):"
bloom-query -c -v -f 1 -F small.bloom "$SAMPLES/access.log" || :
bloom-query -c -v -f 1 -F enough.bloom "$SAMPLES/access.log" || :

echo "of 10000 addresses that were never there, called maybe:"
awk 'BEGIN { for (i = 1; i <= 10000; i++) printf "2001:db8:ffff::%x\n", i }' > strangers
bloom-query -c small.bloom strangers
bloom-query -c enough.bloom strangers

echo "sketch-info knows, from the bits alone:"
sketch-info small.bloom enough.bloom | grep -E '^(file|n|p|rate|distinct|past)'
status=0
sketch-info --check small.bloom > /dev/null || status=$?
echo "small.bloom: status $status"
status=0
sketch-info --check enough.bloom > /dev/null || status=$?
echo "enough.bloom: status $status"
