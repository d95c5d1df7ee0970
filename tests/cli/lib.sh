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

for tool in bloom-build bloom-query sketch-info; do
	[ -x "$BIN/$tool" ] || { echo "Bail out! there is no $BIN/$tool"; exit 1; }
done
unset tool

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
	if "$@" >.tap/ok 2>&1; then
		pass "$name"
	else
		fail "$name" "failed: $*" "$(cat .tap/ok)"
	fi
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

# like TEXT REGEX NAME: some line of the text matches (extended, case ignored)
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
	# The group keeps the shell's own word of a command that was killed out of the way.
	{ timeout --foreground -k 2 60 "$@" >"$OUT" 2>"$ERR"; } 2>/dev/null
	status=$?
}

# starved KIB COMMAND...: run, where no file may be larger and SIGXFSZ is ignored.  The
# counts of a build for coverage, which are larger, are not kept.
starved()
{
	local kib=$1
	shift
	# shellcheck disable=SC2016 # of the inner shell
	run env LLVM_PROFILE_FILE=/dev/null \
		bash -c 'trap "" XFSZ; ulimit -f "$0"; exec "$@"' "$kib" "$@"
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

# Every name below the folder with kind, mode, size, inode and the times of its last change:
# whatever happens to a file shows in one of them.
snapshot()
{
	find . -mindepth 1 -path ./.tap -prune -o -printf '%p %y %m %s %T@ %C@ %i %l\n'
}

# The tool that a command runs, for the name in front of its message.
tool_of()
{
	local tools="bloom-build|bloom-query|bloom-uniq|cms-count|cms-top|fpr-calc|hll-count"
	tools="$tools|sketch-info|sketch-merge"
	if [[ $* =~ $tools ]]; then
		tool=${BASH_REMATCH[0]}
	else
		tool=${1##*/}
	fi
}

# slurp NAME FILE: the text of a file (no NUL) without starting a process
slurp()
{
	IFS= read -r -d '' "$1" <"$2" || true
}

# one_message TOOL [WORD]: what is on stderr is one line "TOOL: ..." that shows WORD;
# otherwise the faults are added to the caller's array
one_message()
{
	local said line
	slurp said "$ERR"
	line=${said%%$'\n'*}
	[ "$said" = "$line"$'\n' ] || faults+=("stderr is not one line")
	[[ $said == "$1: "* ]] || faults+=("stderr does not begin '$1: '")
	[[ $said == *"${2:-}"* ]] || faults+=("stderr does not show '$2'")
	[[ $line != *[$'\001'-$'\037'$'\177']* ]] || faults+=("stderr holds control bytes")
	[ ${#faults[@]} -eq 0 ] || faults+=("stderr: $said")
}

# clean_error NAME WORD COMMAND...: status 2, one line on stderr that begins with the tool's
# name and shows WORD (where not empty), nothing on stdout, no file made or changed
clean_error()
{
	local name=$1 word=$2 faults=() tool before after
	shift 2
	before=$(snapshot)
	run "$@"
	after=$(snapshot)
	[ "$status" -eq 2 ] || faults+=("status $status, not 2")
	[ ! -s "$OUT" ] || faults+=("$(wc -c <"$OUT") bytes on stdout")
	[ "$before" = "$after" ] || faults+=("files changed:" \
		"$(diff <(echo "$before") <(echo "$after") | head -6)")
	tool_of "$@"
	one_message "$tool" "$word"
	report "$name" "$*" "${faults[@]}"
}

# trouble NAME WORD COMMAND...: status 2 and one line on stderr, whatever is on stdout
trouble()
{
	local name=$1 word=$2 faults=() tool
	shift 2
	run "$@"
	[ "$status" -eq 2 ] || faults+=("status $status, not 2")
	tool_of "$@"
	one_message "$tool" "$word"
	report "$name" "$*" "${faults[@]}"
}

# refused_or NAME COMMAND...: clean refusal, or status 0; for words that may have a meaning
# but never a wrong one; 'accepted' says which
refused_or()
{
	local name=$1 faults=() tool before
	# shellcheck disable=SC2034 # for the tests
	accepted=no
	shift
	before=$(snapshot)
	run "$@"
	if [ "$status" -eq 0 ] && [ ! -s "$ERR" ]; then
		# shellcheck disable=SC2034 # for the tests
		accepted=yes
	else
		[ "$status" -eq 2 ] || faults+=("status $status, neither 0 nor 2")
		[ ! -s "$OUT" ] || faults+=("bytes on stdout")
		[ "$before" = "$(snapshot)" ] || faults+=("files changed")
		tool_of "$@"
		one_message "$tool" ""
	fi
	report "$name" "$*" "${faults[@]}"
}

# info FILE NAME: one value of the whole out of sketch-info --json, as it is written there
info()
{
	local json
	json=$(sketch-info --json "$1")
	if [[ $json =~ \"$2\":\ *(\"([^\"]*)\"|[^],}]*) ]]; then
		echo "${BASH_REMATCH[2]:-${BASH_REMATCH[1]}}"
	else
		echo missing
	fi
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

# Whether the long versions are asked for.
long()
{
	[ "${LONG:-0}" != 0 ]
}

# Whether the tools carry a sanitizer, or run in an emulator (then they are scripts): both
# need memory and time of their own.
sanitized()
{
	grep -q __asan_init "$BIN/bloom-build" || ! grep -aq '^.ELF' "$BIN/bloom-build"
}

# Whether permission bits bind a command behind "${unprivileged[@]}", also for root.
permissions_bind()
{
	unprivileged=()
	if [ "$(id -u)" -eq 0 ]; then
		unprivileged=(setpriv "--bounding-set=-dac_override,-dac_read_search"
			"--inh-caps=-dac_override,-dac_read_search")
	fi
	: >.tap/closed
	chmod 0 .tap/closed
	"${unprivileged[@]}" true 2>/dev/null &&
		! "${unprivileged[@]}" cat .tap/closed >/dev/null 2>&1
}

done_testing()
{
	finished=yes
	echo "1..$tests"
	[ "$failures" -eq 0 ] || exit 1
	exit 0
}
