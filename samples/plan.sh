#!/bin/sh
# Before a filter is built: how large must it be, how often will it err, and is that
# true?  Then the filter, which is the one that was planned, and how long it will do.
set -eu
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

clients=$(cut -d ' ' -f 1 "$SAMPLES/access.log" | sort -u | wc -l | tr -d ' ')
echo "clients: $clients"

echo "a filter for twice as many, one in a hundred wrong:"
fpr-calc -n $((2 * clients)) -p 1% | grep -E '^(name|n|m_whole|k_whole|bytes|rate)	'

echo "is it true?"
fpr-calc -n $((2 * clients)) -p 1% --simulate=40 | grep -E '^(simulated_(rate|low|high)|bound)'

echo "the filter itself:"
bloom-build -n $((2 * clients)) -p 1% -f 1 -o clients.bloom "$SAMPLES/access.log"
sketch-info clients.bloom | grep -E '^(n|m|k|bytes)	'

echo "when is it full?"
fpr-calc --file clients.bloom | grep -E '^(distinct|rate|until_[a-z]*)	' | cut -f 1,2

echo "too much to ask:"
status=0
fpr-calc -n 1M -m 100kB -p 0.01 2> message || status=$?
cat message
echo "status $status"
