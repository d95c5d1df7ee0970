#!/bin/sh
# What a filter file says of itself, for people and for programs; and what is
# said of a file that is no filter, or a damaged one.
set -eu
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

bloom-build -n 1k -p 0.001 -f 1 -o clients.bloom "$SAMPLES/access.log"
sketch-info clients.bloom
echo
sketch-info --json clients.bloom
echo
bloom-build -n 1k -p 0.001 -L classic -f 1 "$SAMPLES/access.log" | sketch-info -
echo

cp "$SAMPLES/users.txt" users.txt
head -c 1000 clients.bloom > short.bloom
status=0
sketch-info users.txt short.bloom 2>&1 || status=$?
echo "status $status"
