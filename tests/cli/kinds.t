#!/usr/bin/env bash
# Every file that a tool can be given, in every place where it takes one: what does not belong
# there is called by its name, and the tool that reads it is named
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

mkdir kept
seq 50 >kept/log
echo junk >kept/junk
(
	cd kept || exit
	bloom-build -n 200 -o fixed.bloom log
	bloom-build -o ladder.bloom log
	bloom-uniq --state window.bloom --window 100 log >/dev/null
	bloom-build -n 200 --kind counting -o counting.bloom log
	bloom-build -n 200 --kind cuckoo -o keys.cuckoo log
	cms-count -o counts.cms log
	cms-count -o recent.cms --window 1h log
	hll-count -q -o distinct.hll log
	# A header of version 1: n, p, k, m and insertions; 64 bits.
	printf '\1\0\0\0\0\0\0\0\12\0\0\0\0\0\0\0\0\0\0\0\0\0\340\77'
	printf '\3\0\0\0\0\0\0\0\100\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\2\3\4\5\6\7\10'
) >kept/dcso.bloom

# What a file is called, and what is named as reading it.
declare -A name reader
for file in fixed.bloom ladder.bloom window.bloom; do name[$file]="Bloom filter"; done
name[counting.bloom]="counting Bloom filter"
name[keys.cuckoo]="cuckoo filter"
name[dcso.bloom]="Bloom filter of DCSO's"
for file in "${!name[@]}"; do reader[$file]="bloom-query"; done
for file in fixed.bloom ladder.bloom; do reader[$file]+="|made with --kind counting or cuckoo"; done
reader[window.bloom]="${reader[fixed.bloom]}|bloom-uniq --state"
reader[keys.cuckoo]+="|sketch-info"
for file in counts.cms recent.cms; do
	name[$file]="count-min sketch"
	reader[$file]="cms-top --query or cms-count --query"
done
name[distinct.hll]="HyperLogLog sketch"
reader[distinct.hll]="hll-count --query"

# job "COMMAND" FILE...: takes these, and refuses all others; @ stands for the file
job()
{
	local command=$1 file line
	shift
	for file in "${!name[@]}"; do
		line=${command//@/$file}
		rm -rf here
		cp -r kept here
		cd here || exit
		cp -r ../.tap .tap
		if [[ " $* " == *" $file "* ]]; then
			run bash -c "$line"
			ok "$line" test "$status" -lt 2
		else
			clean_error "$line: what it is" "${name[$file]}" bash -c "exec $line"
			like "$(cat "$ERR")" "${reader[$file]}" "and what reads it"
		fi
		cd .. || exit
	done
	cp kept/junk kept/log .
	clean_error "${command//@/junk}" "junk: not a sketch file" bash -c "exec ${command//@/junk}"
}
plain=(fixed.bloom ladder.bloom)
removable=(counting.bloom keys.cuckoo)
filters=("${plain[@]}" window.bloom "${removable[@]}")
counts=(counts.cms recent.cms)

job "bloom-build --append @ log" "${plain[@]}" "${removable[@]}"
job "bloom-build --remove-from @ log" "${removable[@]}"
job "bloom-query @ log" "${filters[@]}" dcso.bloom
job "bloom-query -F @ -e 1" "${filters[@]}" dcso.bloom
job "bloom-uniq --state @ log" "${plain[@]}" window.bloom
job "cms-count --query @ log" "${counts[@]}"
job "cms-count --append @ log" "${counts[@]}"
job "cms-top --query @" "${counts[@]}"
job "cms-top --append @ log" "${counts[@]}"
job "hll-count --query @" distinct.hll
job "hll-count --append @ log" distinct.hll
job "fpr-calc --file @" "${plain[@]}" window.bloom counting.bloom dcso.bloom
job "sketch-info @" "${!name[@]}"
job "sketch-merge -o out @" "${filters[@]}" "${counts[@]}" distinct.hll

done_testing
