#!/bin/sh
# The pipelines of samples/ and the console blocks of README.md print what is
# written beside them, and the data is what scripts/make-samples makes.

set -u
: "${TOP:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BIN:=$TOP/build/bin}"
PATH=$BIN:$PATH
SAMPLES=$TOP/samples
LC_ALL=C
export PATH SAMPLES LC_ALL

work=$(mktemp -d "${TMPDIR:-/tmp}/samples.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

set -- "$SAMPLES"/*.sh
echo "1..$(($# + 3))"
number=0
failed=0

# report WHAT: the test passes if $work/why does not exist, else shows it.
report()
{
	number=$((number + 1))
	if [ -e "$work/why" ]; then
		failed=$((failed + 1))
		echo "not ok $number - $1"
		sed 's/^/# /' "$work/why"
		rm "$work/why"
	else
		echo "ok $number - $1"
	fi
}

# compare EXPECTED GOT
compare()
{
	cmp -s "$1" "$2" || diff "$1" "$2" >> "$work/why"
}

# A script's standard error must stay empty unless it redirects it itself.
for script; do
	name=$(basename "$script" .sh)
	mkdir "$work/$name"
	(cd "$work/$name" && sh "$script") > "$work/out" 2> "$work/err" < /dev/null ||
		echo "status $?" >> "$work/why"
	compare "$SAMPLES/$name.expected" "$work/out"
	compare /dev/null "$work/err"
	report "samples/$name.sh prints what is expected"
done

: > "$work/why"
for expected in "$SAMPLES"/*.expected; do
	[ -e "${expected%.expected}.sh" ] || echo "no script makes $expected" >> "$work/why"
done
[ -s "$work/why" ] || rm "$work/why"
report "each expected output has a script"

# Of each console block: what follows "$ " is run, the rest is its output.
mkdir -p "$work/readme/build"
ln -s "$SAMPLES" "$work/readme/samples"
awk -v commands="$work/commands" -v expected="$work/expected" '
	$0 == "```console" { inside = 1; next }
	$0 == "```" { inside = 0 }
	inside && /^\$ / {
		n++
		print substr($0, 3) > commands
	}
	inside { print > expected }' "$TOP/README.md"
while IFS= read -r command; do
	printf '$ %s\n' "$command"
	(cd "$work/readme" && sh -c "$command") 2>&1 < /dev/null
done < "$work/commands" > "$work/out"
compare "$work/expected" "$work/out"
[ -s "$work/expected" ] || echo "README.md has no console block" >> "$work/why"
report "the commands of README.md print what it says"

if command -v python3 > /dev/null; then
	python3 "$TOP/scripts/make-samples" --check > "$work/out" 2>&1 || cp "$work/out" "$work/why"
	report "the data is what scripts/make-samples makes"
else
	number=$((number + 1))
	echo "ok $number - the data is what scripts/make-samples makes # SKIP no python3"
fi

[ "$failed" -eq 0 ]
