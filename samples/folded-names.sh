#!/bin/sh
# Domain names do not heed case, and resolvers send them in mixed case.  A filter
# built with -i remembers that it was, so that queries need not say so.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

bloom-build -n 240 -p 1e-6 -o exact.bloom "$SAMPLES/domains.txt"
bloom-build -n 240 -p 1e-6 -i -o folded.bloom "$SAMPLES/domains.txt"

echo "queries for listed names, case heeded, then not:"
grep 'query\[' "$SAMPLES/syslog.log" | bloom-query -c -f 7 exact.bloom
grep 'query\[' "$SAMPLES/syslog.log" | bloom-query -c -f 7 folded.bloom

echo "the latter by awk:"
awk 'NR == FNR { listed[$0]; next } $6 ~ /^query/ && tolower($7) in listed { n++ }
	END { print n }' "$SAMPLES/domains.txt" "$SAMPLES/syslog.log"

echo "three of them:"
bloom-query -f 7 folded.bloom "$SAMPLES/syslog.log" | sed 3q

echo "a filter that heeds case cannot answer -i:"
status=0
bloom-query -i -e ADS01.EXAMPLE.COM exact.bloom 2> message || status=$?
sed 1q message
echo "status $status"
