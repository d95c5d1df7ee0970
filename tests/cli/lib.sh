# shellcheck shell=bash
# lib.sh - what the command tests share: TAP, and a command with all it leaves behind
#
# Each tests/cli/NAME.t sources this file.  It runs in an empty folder of its own, with
# BIN (the executables, first on PATH) and TOP (the source tree) in the environment, and
# ends with done_testing, which prints the plan.  LONG=1 asks for the long versions.
#
# What a test captures lies in .tap/, out of the way of the assertions about files.

[ -n "${BASH_VERSION:-}" ] || { echo "Bail out! these tests need bash"; exit 1; }
: "${BIN:?BIN names the folder of executables}" "${TOP:?TOP names the source tree}"

# A stray descriptor of the runner must not keep a pipe of ours open, and a tool that
# reads the runner's stdin would hang the run.
exec </dev/null
export LC_ALL=C
unset POSIXLY_CORRECT GREP_OPTIONS LINES COLUMNS
umask 022

HELPER=$TOP/tests/cli/helper
# shellcheck disable=SC2034 # for the tests
CASES=$TOP/../shared/cases
# A wrapper that chooses among Pythons can take longer to start than a whole test.
PYTHON=$(python3 -S -E -c 'import sys; print(sys.executable)') || PYTHON=
export PYTHON PYTHONDONTWRITEBYTECODE=1
mkdir -p .tap
OUT=$PWD/.tap/out
ERR=$PWD/.tap/err
status=0
tests=0
failures=0
finished=no
trap '[ "$finished" = yes ] || echo "Bail out! the script ended before its plan"' EXIT

# pass NAME, fail NAME [DIAGNOSTIC]..., skip NAME REASON: one test each
pass()
{
	tests=$((tests + 1))
	echo "ok $tests - ${1//#/}"
}

fail()
{
	tests=$((tests + 1))
	failures=$((failures + 1))
	echo "not ok $tests - ${1//#/}"
	shift
	diag "$@"
}

skip()
{
	tests=$((tests + 1))
	echo "ok $tests - ${1//#/} # SKIP $2"
}

diag()
{
	[ $# -eq 0 ] || printf '%s\n' "$@" | head -c 2000 | tr -c '\n -~' '?' | sed 's/^/# /'
}

# ok NAME COMMAND...: the command succeeds
ok()
{
	local name=$1
	shift
	if "$@" >.tap/ok 2>&1; then pass "$name"; else fail "$name" "failed: $*" "$(cat .tap/ok)"; fi
}

# not_ok NAME COMMAND...: the command fails
not_ok()
{
	local name=$1
	shift
	if "$@" >.tap/ok 2>&1; then fail "$name" "succeeded: $*"; else pass "$name"; fi
}

# is GOT WANT NAME
is()
{
	if [ "$1" = "$2" ]; then pass "$3"; else fail "$3" "got:  $1" "want: $2"; fi
}

# like TEXT REGEX NAME (extended, case ignored)
like()
{
	if grep -Eiq -- "$2" <<<"$1"; then pass "$3"; else fail "$3" "got:  $1" "want: /$2/"; fi
}

# same FILE FILE NAME: equal bytes
same()
{
	if cmp "$1" "$2" >.tap/ok 2>&1; then pass "$3"; else fail "$3" "$(cat .tap/ok)"; fi
}

# run COMMAND...: sets status (128 + N for a signal), $OUT, $ERR; ended after a minute
run()
{
	timeout --foreground -k 2 60 "$@" >"$OUT" 2>"$ERR"
	status=$?
}

# expect STATUS OUT_FORMAT NAME COMMAND...: status and stdout as said, nothing on stderr
expect()
{
	local want=$1 format=$2 name=$3 faults=()
	shift 3
	run "$@"
	# shellcheck disable=SC2059 # the caller gives a format, for its escapes
	printf "$format" >.tap/want
	[ "$status" -eq "$want" ] || faults+=("status $status, not $want")
	cmp "$OUT" .tap/want >/dev/null 2>&1 ||
		faults+=("stdout is $(head -c 400 "$OUT" | od -An -c | head -8)"
			 "not       $(head -c 400 .tap/want | od -An -c | head -8)")
	[ ! -s "$ERR" ] || faults+=("stderr says $(cat "$ERR")")
	report "$name" "$*" "${faults[@]}"
}

# quietly NAME COMMAND...: status 0 and nothing on stderr; stdout is in $OUT
quietly()
{
	local name=$1 faults=()
	shift
	run "$@"
	[ "$status" -eq 0 ] || faults+=("status $status")
	[ ! -s "$ERR" ] || faults+=("stderr says $(cat "$ERR")")
	report "$name" "$*" "${faults[@]}"
}

report() # NAME COMMAND [FAULT]...
{
	local name=$1 command=$2
	shift 2
	if [ $# -eq 0 ]; then pass "$name"; else fail "$name" "command: $command" "$@"; fi
}

# Every name below the folder with kind, mode, size, time of change and inode; and the bytes.
snapshot()
{
	find . -path ./.tap -prune -o -printf '%p %y %m %s %T@ %i %l\n' | sort
	find . -path ./.tap -prune -o -type f -size -2000k -print0 2>/dev/null | sort -z |
		xargs -0 -r cksum 2>/dev/null
}

# The tool a command runs, for the name in front of its message.
tool_of()
{
	local word
	for word in "$@"; do
		word=${word##*/}
		case $word in bloom-build | bloom-query | sketch-info) echo "$word"; return ;; esac
	done
	echo "${1##*/}"
}

# one_message TOOL [WORD]: what is on stderr is one line "TOOL: ..." that shows WORD;
# otherwise the faults are added to the caller's array
one_message()
{
	local lines
	lines=$(wc -l <"$ERR")
	[ "$lines" -eq 1 ] || faults+=("$lines lines on stderr")
	[ "$(head -c $((${#1} + 2)) "$ERR")" = "$1: " ] || faults+=("stderr does not begin '$1: '")
	[ -z "${2:-}" ] || grep -Fq -- "$2" "$ERR" || faults+=("stderr does not show '$2'")
	if [ "$(tr -d '\n -~\200-\377' <"$ERR" | wc -c)" -ne 0 ]; then
		faults+=("stderr holds control bytes")
	fi
	[ ${#faults[@]} -eq 0 ] || faults+=("stderr: $(cat "$ERR")")
}

# clean_error NAME WORD COMMAND...: status 2, one line on stderr that begins with the tool's
# name and shows WORD (where not empty), nothing on stdout, no file made or changed
clean_error()
{
	local name=$1 word=$2 faults=()
	shift 2
	snapshot >.tap/before
	run "$@"
	snapshot >.tap/after
	[ "$status" -eq 2 ] || faults+=("status $status, not 2")
	[ ! -s "$OUT" ] || faults+=("$(wc -c <"$OUT") bytes on stdout")
	cmp -s .tap/before .tap/after ||
		faults+=("files changed: $(diff .tap/before .tap/after | head -6)")
	one_message "$(tool_of "$@")" "$word"
	report "$name" "$*" "${faults[@]}"
}

# trouble NAME WORD COMMAND...: status 2 and one line on stderr, whatever is on stdout
trouble()
{
	local name=$1 word=$2 faults=()
	shift 2
	run "$@"
	[ "$status" -eq 2 ] || faults+=("status $status, not 2")
	one_message "$(tool_of "$@")" "$word"
	report "$name" "$*" "${faults[@]}"
}

# refused_or NAME COMMAND...: clean refusal, or status 0; for words that may have a meaning
# but never a wrong one; 'accepted' says which
refused_or()
{
	local name=$1 faults=()
	accepted=no
	shift
	snapshot >.tap/before
	run "$@"
	if [ "$status" -eq 0 ] && [ ! -s "$ERR" ]; then
		# shellcheck disable=SC2034 # for the tests
		accepted=yes
	else
		snapshot >.tap/after
		[ "$status" -eq 2 ] || faults+=("status $status, neither 0 nor 2")
		[ ! -s "$OUT" ] || faults+=("bytes on stdout")
		cmp -s .tap/before .tap/after || faults+=("files changed")
		one_message "$(tool_of "$@")" ""
	fi
	report "$name" "$*" "${faults[@]}"
}

# info FILE NAME: one value out of sketch-info --json
info()
{
	sketch-info --json "$1" | "$PYTHON" -S -E -c '
import json, sys
value = json.load(sys.stdin).get(sys.argv[1], "MISSING")
print(repr(value) if isinstance(value, float) else value)' "$2"
}

# checks HELPER [ARGUMENT]...: a helper in Python that prints "ok - NAME", "not ok - NAME"
# or "ok - NAME # SKIP ..." for each of its tests, diagnostics after "# ", and "done" last
checks()
{
	local line complete=no
	if [ -z "$PYTHON" ]; then skip "$1" "no python3"; return; fi
	while IFS= read -r line; do
		case $line in
		"ok - "*) tests=$((tests + 1)); echo "ok $tests - ${line#ok - }" ;;
		"not ok - "*)
			tests=$((tests + 1))
			failures=$((failures + 1))
			echo "not ok $tests - ${line#not ok - }"
			;;
		done) complete=yes ;;
		*) diag "$line" ;;
		esac
	done < <("$PYTHON" -E "$HELPER/$1" "${@:2}" 2>&1)
	[ "$complete" = yes ] || fail "$1 ran to its end"
}

# Whether the tools carry a sanitizer, which needs memory and time of its own.
sanitized()
{
	grep -q __asan_init "$BIN/bloom-build"
}

# as_nobody COMMAND...: without the powers of root
as_nobody()
{
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$@"
	else
		"$@"
	fi
}

# Whether as_nobody works here and such a process reaches the tools and this folder.
nobody_works()
{
	chmod 755 . .tap
	as_nobody "$BIN/bloom-build" --version >/dev/null 2>&1 && as_nobody test -x "$PWD"
}

done_testing()
{
	finished=yes
	echo "1..$tests"
	[ "$failures" -eq 0 ] || exit 1
	exit 0
}
