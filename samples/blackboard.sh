#!/bin/sh
# A classroom's problem: a million events, six megabytes, three hashes.  How often is
# an event taken for one that was seen?  And with the best number of hashes?
set -eu

fpr-calc -m 6MB -n 1e6 -k 3 -L classic --explain | sed '1,/^$/d'

echo
echo "what each hash gains:"
fpr-calc -m 6MB -n 1e6 -k 3 -L classic --table | sed '1,/^$/d' | cut -f 1,3,4 | sed 6q

echo
echo "the rate over k, for ten bits a key:"
fpr-calc --bits-per-key 10 -L classic --curve k --ascii | sed '1,/^$/d'

echo
echo "a count-min sketch, by both conventions:"
fpr-calc --cms --epsilon 0.001 --delta 0.001 --total 1M
