#!/bin/sh
# Counts of the recent past: what was heavy lately, and a throttle. Models in awk say what
# to expect: time is cut into panes of an eighth of the window, and a count covers the
# present pane and the eight before it.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

echo "clients by their requests, in all, of the last 400, and fading by half in 400:"
cms-top -k 3 -f 1 "$SAMPLES/access.log"
cms-top -k 3 -f 1 --window=400 "$SAMPLES/access.log"
cms-top -k 3 -f 1 --decay=400 "$SAMPLES/access.log"

echo "failed logins, of each address at most one in 40:"
grep 'Failed password' "$SAMPLES/syslog.log" > failed
cms-count -f 13 --at-most 1 --window=40 --stats failed > throttled 2> summary
wc -l < throttled | tr -d ' '
tail -n 3 summary
awk '{
		pane = int((NR - 1) / 5)
		passed = 0
		for (p = pane - 8; p <= pane; p++)
			passed += n[p, $13]
		if (passed < 1) {
			n[pane, $13]++
			print
		}
	}' failed | cmp - throttled && echo "as the rule says"

echo "the same in several runs, as a job would do it:"
split -l 30 failed part.
for part in part.*; do
	cms-count -f 13 --at-most 1 --window=40 --append seen.cms "$part"
done | cmp - throttled && echo "the same"

echo "a message that never stops is heard again and again:"
yes 'disk full' | head -n 1000 | cms-count --at-most 2 --window=160 | wc -l | tr -d ' '

echo "what hosts saw in the same hour is added up:"
cms-top -k 0 -f 1 --window=1h -o web1.cms "$SAMPLES/access.log"
cms-top -k 0 -f 1 --window=1h -o web2.cms "$SAMPLES/access-1.log"
sketch-merge -o all.cms web1.cms web2.cms
cms-top -k 3 --query all.cms
