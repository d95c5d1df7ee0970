#!/bin/sh
# The first line for each key: a field, several, or one that is separated by commas.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

echo "the first requests of three clients:"
bloom-uniq -f 1 "$SAMPLES/access.log" | sed 3q | cut -c 1-60

echo "clients; paths; pairs of both; by awk:"
bloom-uniq -f 1 "$SAMPLES/access.log" | wc -l | tr -d ' '
bloom-uniq -f 7 "$SAMPLES/access.log" | wc -l | tr -d ' '
bloom-uniq -f 1,7 "$SAMPLES/access.log" | wc -l | tr -d ' '
awk '{ clients[$1]; paths[$7]; pairs[$1, $7] }
	END { print length(clients), length(paths), length(pairs) }' "$SAMPLES/access.log"

echo "names that were asked for, as they came first, case not heeded:"
grep 'query\[' "$SAMPLES/syslog.log" | bloom-uniq -i -f 7 | cut -d ' ' -f 8 | sed 5q

echo "a file with carriage returns, its last line without any:"
bloom-uniq -d , -f 4 "$SAMPLES/app.log" | wc -l | tr -d ' '
bloom-uniq -d , -f 4 --crlf "$SAMPLES/app.log" | wc -l | tr -d ' '

echo "of these, lines without that field, which are passed on:"
bloom-uniq -d , -f 4 --crlf "$SAMPLES/app.log" | grep -v -c ,
