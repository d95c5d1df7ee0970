#!/bin/sh
# Not more than so many of each; only from so many on; the moment when one has had enough.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

echo "lines, at most three of each client, and the same by awk:"
cms-count --at-most 3 -f 1 "$SAMPLES/access.log" > throttled
awk '++n[$1] <= 3' "$SAMPLES/access.log" | cmp - throttled && wc -l < throttled | tr -d ' '

echo "one message a thousand times, five of it passed on:"
yes 'disk full' | head -n 1000 | cms-count --at-most 5

echo "lines with the running count of their address:"
grep 'Failed password' "$SAMPLES/syslog.log" | cms-count -f 13 |
	sed -n '110,113p' | cut -c 1-80

echo "addresses at their fifth failed login, once:"
grep 'Failed password' "$SAMPLES/syslog.log" |
	cms-count -f 13 --at-least 5 --at-most 5 | awk '{ print $3, $13 }'

echo "records without the field are passed on:"
printf 'a x\nb\na x\nb\na x\n' | cms-count --at-most 1 -f 2
