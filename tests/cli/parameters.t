#!/usr/bin/env bash
# bloom-build finds the parameters that are not given, or says why there are none
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

seq 1 10 >list

clean_error "k alone" "" bloom-build -k 3 -o x list
clean_error "p and k alone" "" bloom-build -p 0.01 -k 3 -o x list
clean_error "k alone, to stdout" "" bloom-build -k 3 list
for layout in classic blocked; do
	clean_error "$layout: no k keeps p with n and m" "" \
		bloom-build -L $layout -n 1000 -m 1024 -p 1e-9 -o x list
	clean_error "$layout: this k does not keep p with n and m" "" \
		bloom-build -L $layout -n 1000 -m 9000 -p 1e-3 -k 2 -o x list
	clean_error "$layout: no m keeps 1e-300 with k = 1" "" \
		bloom-build -L $layout -n 1000000 -k 1 -p 1e-300 -o x list
	clean_error "$layout: not one key fits m at p" "" \
		bloom-build -L $layout -m 512 -p 1e-200 -o x list
	for words in "-n 1 -p 0.99" "-n 3 -p 0.99" "-n 1 -p 0.5"; do
		# shellcheck disable=SC2086 # several words
		quietly "$layout: $words" bash -c "echo a | bloom-build -L $layout $words -o one"
		expect 0 'a\n' "$layout: $words: the key is found" bloom-query -e a one
		ok "$layout: $words: m and k are at least 1" \
			test "$(info one m)" -ge 1 -a "$(info one k)" -ge 1
	done
done
refused_or "m alone is sized by the default p or refused" bloom-build -m 8000 -o mm list
refused_or "m and k alone are sized by the default p or refused" \
	bloom-build -m 8000 -k 3 -o mk list

checks parameters.py

# The guard asks before it takes.
checks guard.py

done_testing
