#!/bin/bash
# machines.t - sizes, plans and files are the same on every machine, to the last digit
#
# The digests were made on x86_64; make check-s390x, check-i386 and check-musl compare what
# others make.
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# digest WANT NAME: of standard input
digest()
{
	local got
	got=$(sha256sum)
	is "${got%% *}" "$1" "$2"
}

sizes()
{
	local n p kind
	for n in 1 1000 1234567 4e9; do
		for p in 0.5 1% 1e-6 1e-12; do
			for kind in "-L classic" "-L blocked" "--kind counting" "--kind cuckoo"; do
				# shellcheck disable=SC2086 # options are words
				fpr-calc -n "$n" -p "$p" $kind
			done
		done
	done
}

plans()
{
	local layout
	for layout in classic blocked; do
		fpr-calc -m 3MiB -k 5 -p 0.003 -L "$layout" --json
		fpr-calc -n 1234567 -m 3MB -L "$layout" --table
		fpr-calc -n 20k -p 0.01 -L "$layout" --curve n
	done
}

simulations()
{
	local p
	for p in 0.1 0.001; do
		fpr-calc -n 5k -p "$p" --simulate=2 --seed 7
	done
}

filters()
{
	local options
	for options in "-n 70k" "-n 70k -L classic -p 1e-7" "" "-n 70k --kind counting" \
		"-n 70k --kind cuckoo" "-n 70k --seed 77 -i"; do
		# shellcheck disable=SC2086 # options are words
		bloom-build $options list
	done
}

counts()
{
	local options
	for options in "" "--plain" "-W 2 -f 1" "--decay=1000" "--window=10k"; do
		# shellcheck disable=SC2086 # options are words
		cms-count $options -o counts weights
		cat counts
	done
}

distinct()
{
	hll-count --bounds -o distinct list
	cat distinct
}

seq 1 60000 >list
sed 's/.$/ &/' list >weights
digest faeb095fc1b15b148113433c3c6386a41fb90e01476392a8352def1840e4c8ec \
	"sizes and rates of filters" < <(sizes 2>&1)
digest 688c8de9ee240867c551655d0c11a5c8c3d285f34431cddcf66bb53a01111a64 \
	"plans" < <(plans 2>&1)
digest d214959a2a41ac939870e18e1b34e6421983bd61c8b4ab241c796e100954d027 \
	"simulations" < <(simulations 2>&1)
digest 03bf06ffe93fb512e0c721a9e25dbf801fdfcb8cfae26c42506423d672271b4f \
	"filters" < <(filters 2>&1)
digest 3eaa9bfd36aba936c1580e08baa46a92a638716b77901a0e0f0a85d3c97a595f \
	"counts" < <(counts 2>&1)
digest 6331883cdd68fc4bd324e410da54ab69d28f56da770d4dde60b2807ddbf40f08 \
	"distinct keys" < <(distinct 2>&1)

# ---- what no process can address is refused in a line that says what could be had
if [ "$(head -c 5 "$BIN/bloom-build" | od -An -tx1 | tr -d ' ')" = 7f454c4601 ]; then
	clean_error "a filter of 3 GiB" "and 2147483647 are to be had" \
		bloom-build -m 3GiB -o big list
	clean_error "a table of 3 GiB" "and 2147483647 are to be had" \
		cms-count --size 3GiB -o big list
	truncate -s 5G sparse
	clean_error "a file of 5 GiB that is no sketch" sparse sketch-info sparse
else
	skip "what no process can address" "it can, where a pointer has 64 bits"
fi

done_testing
