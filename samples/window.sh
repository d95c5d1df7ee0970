#!/bin/sh
# Membership in the recent past only: failed logins, by address, within the last 25.
# A model in awk says what to expect: time is cut into spans of 25 records, and a key
# is known from its span to the end of the next.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

grep 'Failed password' "$SAMPLES/syslog.log" > failed

# model REFRESH: where that is 1 every sighting counts, else only one passed on.
model()
{
	awk -v span=25 -v refresh="$1" '
		{ now = int((NR - 1) / span); known = ($13 in last) && now - last[$13] < 2 }
		!known { print }
		refresh || !known { last[$13] = now }' failed
}

echo "failed logins; addresses; after a while of rest; at most so often:"
wc -l < failed | tr -d ' '
bloom-uniq -f 13 failed | wc -l | tr -d ' '
bloom-uniq --window 25 -f 13 failed > rested
bloom-uniq --window 25 --since-first -f 13 failed > limited
wc -l < rested | tr -d ' '
wc -l < limited | tr -d ' '

model 1 | cmp - rested && echo "the first as the rule says"
model 0 | cmp - limited && echo "the second, too"

echo "in several runs the window goes on where it was:"
split -l 40 failed part.
for part in part.*; do
	bloom-uniq --state recent.bloom --window 25 --since-first -f 13 "$part"
done | cmp - limited && echo "the same"

echo "one that never rests is heard once, or now and then:"
yes 'disk full' | head -n 1000 > alerts
bloom-uniq --window 100 alerts | wc -l | tr -d ' '
bloom-uniq --window 100 --since-first alerts | wc -l | tr -d ' '

echo "by time, as fast as this is read, nothing is forgotten:"
bloom-uniq --window 1h -n 1k -f 13 failed | wc -l | tr -d ' '
