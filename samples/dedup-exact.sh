#!/bin/sh
# Exact, in two passes, with a filter that errs often on purpose.  What repeats is held
# back at least once, so the second pass need remember only what was.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

cat "$SAMPLES/access-1.log" "$SAMPLES/access.log" > log
bloom-uniq -n 3000 -p 0.05 --duplicates held log > passed

echo "lines read, passed on, held back:"
for file in log passed held; do
	wc -l < $file | tr -d ' '
done

echo "of those held back, lines that do not repeat:"
sort log | uniq -u > once
sort -u held | comm -12 - once | wc -l | tr -d ' '

awk 'FILENAME == "held" { held[$0]; next } !($0 in held) || !seen[$0]++' held log > exact
awk '!seen[$0]++' log | cmp - exact && echo "after the second pass each line is there once"

echo "lines that come more than once, by two passes and by sort:"
awk 'FILENAME == "held" { held[$0]; next } $0 in held && ++n[$0] == 2' held log > repeated
wc -l < repeated | tr -d ' '
sort log | uniq -d | wc -l | tr -d ' '
sort log | uniq -d > by-sort
sort repeated | cmp - by-sort && echo "the same lines"
