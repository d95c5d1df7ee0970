#!/bin/sh
# A set whose keys come and go: clients are put into a cuckoo filter, and some taken out.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

cut -d ' ' -f 1 "$SAMPLES/access-1.log" | sort -u > clients
sed 100q clients > gone
bloom-build --kind cuckoo -n 400 -p 0.001 -o live.cuckoo clients

echo "clients that may be there:"
bloom-query -c live.cuckoo clients
echo "after 100 of them were taken out:"
bloom-build --remove-from live.cuckoo gone
bloom-query -c live.cuckoo clients
echo "they are not there to be taken out again:"
bloom-build --strict --remove-from live.cuckoo gone 2>&1 || echo "status $?"
echo "a plain filter cannot do that:"
bloom-build -n 400 -o plain.bloom clients
bloom-build --remove-from plain.bloom gone 2>&1 || echo "status $?"
