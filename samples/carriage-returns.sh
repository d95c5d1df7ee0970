#!/bin/sh
# A log whose lines end with CR LF, against a list whose lines do not.  The user
# is the last field, so the carriage return sticks to it unless told otherwise; only
# the last line of the file, which ends with nothing, is found even so.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

bloom-build -n 400 -p 0.001 -o users.bloom "$SAMPLES/users.txt"

echo "lines of known users, as they are and with --crlf:"
bloom-query -c -d , -f 4 users.bloom "$SAMPLES/app.log"
bloom-query -c -d , -f 4 --crlf users.bloom "$SAMPLES/app.log"

echo "by awk:"
awk -F , 'NR == FNR { known[$0]; next }
	{ sub(/\r$/, "") } $4 in known { n++ }
	END { print n }' "$SAMPLES/users.txt" "$SAMPLES/app.log"

echo "what is passed on is the line as it came (one is not UTF-8):"
grep -a 'name changed' "$SAMPLES/app.log" |
	bloom-query -d , -f 4 --crlf users.bloom | cut -d , -f 3- | od -A n -c

echo "the last line has no newline, and is passed on with one:"
tail -n 1 "$SAMPLES/app.log" | wc -l | tr -d ' '
tail -n 1 "$SAMPLES/app.log" | bloom-query -d , -f 4 users.bloom | wc -l | tr -d ' '

echo "the empty line lacks the field: neither side loses it, and -v has it:"
bloom-query -d , -f 4 --crlf users.bloom "$SAMPLES/app.log" > known
bloom-query -v -d , -f 4 --crlf users.bloom "$SAMPLES/app.log" > unknown
cat known unknown | wc -l | tr -d ' '
grep -n -x "$(printf '\r')" unknown | cut -d : -f 1 | wc -l | tr -d ' '
