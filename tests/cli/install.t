#!/usr/bin/env bash
# make dist, install, uninstall and deb, of a copy of the tree
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

leave() # REASON
{
	skip "what make installs" "$1"
	done_testing
}
[ "${TEST_VARIANT:-default}" = default ] || leave "once is enough"
command -v git >/dev/null || leave "no git"
unset BIN CFLAGS CPPFLAGS LDFLAGS LDLIBS DESTDIR PREFIX

tools=$(cd "$TOP/src/cmd" && printf '%s\n' *.c | sed 's/\.c$//')
pages=$(cd "$TOP/man" && printf '%s\n' *.[1-8])
# quiet_make WORD...: in what the release unpacks to; sets status
quiet_make()
{
	status=0
	timeout 280 "${at[@]}" CFLAGS=-O0 "$@" >"$OUT" 2>"$ERR" || status=$?
	[ "$status" = 0 ] || diag "$(tail -5 "$ERR")"
}
# ones FORMAT: a line for each tool
ones()
{
	# shellcheck disable=SC2059,SC2086 # a format, and words
	printf "$1\n" $tools
}
files_below()
{
	(cd "$1" && find . -type f | sed 's,^\./,,' | sort)
}

# ---- a release
mkdir tree
tar -C "$TOP" --exclude=./build --exclude=./.git --exclude=__pycache__ -cf - . | tar -C tree -xf -
git -C tree init -q
git -C tree add -A
GIT_COMMITTER_DATE=@1700000000 git -C tree -c user.name=a -c user.email=b commit -qm c \
	--date=@1700000000
at=(make --no-print-directory -C)
quietly "make dist" "${at[@]}" tree dist
archive=$(cat "$OUT")
like "$archive" '^build/dist/sketch-tools-[0-9]+\.[0-9]+\.[0-9]+\.tar\.gz$' "says what it made"
mv "tree/$archive" first
find tree -path tree/.git -prune -o -type f -exec touch -d @1600000000 {} +
quietly "make dist once more" bash -c 'umask 077; make --no-print-directory -C tree dist'
same "tree/$archive" first "the same bytes"
echo more >>tree/README.md
run "${at[@]}" tree dist
is "$((status != 0)) $(grep -c 'README.md' "$ERR")" "1 1" "a tree with changes is refused"
git -C tree checkout -q README.md
: >tree/new
run "${at[@]}" tree dist
is "$((status != 0)) $(grep -c 'new' "$ERR")" "1 1" "or with files that git does not know"
tar -xzf first
version=${archive##*-tools-}
version=${version%.tar.gz}
unpacked=sketch-tools-$version
at+=("$unpacked")
run "${at[@]}" dist
is "$((status != 0)) $(grep -c 'no git tree' "$ERR")" "1 1" "nothing is released of a release"

# ---- built without git, and by the user's own words
run "${at[@]}" -n all CC=their-cc AR=their-ar CFLAGS=-Otheirs
ok "their compiler compiles and links" grep -q '^their-cc .* -Otheirs .*-o build/bin/cms-top' "$OUT"
ok "and their archiver" grep -q '^their-ar .* build/lib/libsketch.a' "$OUT"
not_ok "no other does" grep -E '^(cc|gcc|ar) ' "$OUT"
quiet_make -j2
is "$status" 0 "make in what a release unpacks to"
stage=$PWD/stage
quiet_make install DESTDIR="$stage" PREFIX=/opt/it
is "$status" 0 "make install"
{
	ones 'opt/it/bin/%s'
	echo opt/it/include/sketch.h
	echo opt/it/lib/libsketch.a
	echo opt/it/lib/pkgconfig/libsketch.pc
	ones 'opt/it/share/bash-completion/completions/%s'
	ones 'opt/it/share/fish/vendor_completions.d/%s.fish'
	for page in $pages; do echo "opt/it/share/man/man${page##*.}/$page"; done
	ones 'opt/it/share/zsh/site-functions/_%s'
} | sort >want
is "$(files_below "$stage")" "$(cat want)" "puts there what it should, and no more"
is "$("$stage/opt/it/bin/bloom-uniq" <<<"$(printf 'a\na')")" a "a tool runs"

# The example of libsketch(3), by somebody who knows no more than pkg-config says.
if command -v pkg-config >/dev/null; then
	export PKG_CONFIG_PATH=$stage/opt/it/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$stage
	is "$(pkg-config --modversion libsketch)" "$version" "the library's version"
	read -r -a flags <<<"$(pkg-config --cflags --libs libsketch)"
	ok "a program of one's own is built with it" cc -std=c11 -Wall -Wextra -pedantic -Werror \
		-o example "$TOP/samples/example.c" "${flags[@]}"
	expect 0 'new\ta\nnew\t\nseen\ta\n' "runs" ./example words.bloom a '' a
	expect 0 'seen\ta\nnew\tb\n' "remembers" ./example words.bloom a b
	is "$("$stage/opt/it/bin/sketch-info" words.bloom | grep '^records')" $'records\t5' \
		"what the tools read"
	echo junk >junk
	run ./example junk a
	is "$status $(cat "$ERR")" "2 example: junk: not a sketch file" "and says what is wrong"
	not_ok "its own functions may be called as the library's own are" \
		grep -q "multiple definition" <(printf 'int main(void) { return 0; }\n%s' \
			'int bloom_make, file_write, region_new, error_set;' |
			cc -x c - "${flags[@]}" -Wl,--whole-archive -lsketch \
				-Wl,--no-whole-archive -lm -o many 2>&1)
	ok "all of it linked" test -x many
else
	skip "a program is linked with the installed library" "no pkg-config"
fi
is "$(find "$stage" -type f -perm /111 | wc -l) $(find "$stage" -perm /022 ! -type l | wc -l)" \
	"$(wc -w <<<"$tools") 0" "programs can be run, and nothing be written by others"
not_ok "the stage is in nothing installed" grep -rl -- "$stage" "$stage"
quiet_make uninstall DESTDIR="$stage" PREFIX=/opt/it
is "$status $(find "$stage" ! -type d)" "0 " "make uninstall leaves nothing"
rm -r "$stage"
folders=(BINDIR=/b LIBDIR=/l INCLUDEDIR=/i MANDIR=/m)
folders+=(BASHCOMPDIR=/cb ZSHCOMPDIR=/cz FISHCOMPDIR=/cf)
quiet_make install DESTDIR="$stage" "${folders[@]}"
is "$(cd "$stage" && echo *)" "b cb cf cz i l m" "each folder can be chosen"
quiet_make uninstall DESTDIR="$stage" "${folders[@]}"
is "$(find "$stage" ! -type d)" "" "and is cleared again"

# ---- tools that do not run here
cp -r "$unpacked/build/completions" completions
printf '#!/bin/sh\nexit 126\n' >"$unpacked/build/bin/bloom-build"
quiet_make completions
is "$status" 0 "tools for another machine are built for this one, too, to be asked"
is "$(diff -r -x foreign "$unpacked/build/completions" completions)" "" "and answer the same"
rm "$unpacked/build/bin/bloom-build"
quiet_make all

# ---- Debian packages
deb()
{
	quiet_make deb
	cp "$unpacked"/build/deb/*.deb "$1"
}
if command -v dpkg-deb >/dev/null; then
	mkdir one two
	deb one
	is "$status" 0 "make deb"
	touch "$unpacked"/build/{bin/*,lib/libsketch.a} "$unpacked"/man/*
	deb two
	is "$(diff -r one two)" "" "the same bytes once more"
	for package in sketch-tools libsketch-dev; do
		dpkg-deb -x one/${package}_*.deb "$package"
		is "$(dpkg-deb -f one/${package}_*.deb Version)" "$version-1" "$package: version"
		like "$(dpkg-deb -f one/${package}_*.deb Depends)" '^libc6' "$package: needs libc"
		is "$(dpkg-deb -c one/${package}_*.deb | awk '{ print $2 }' | sort -u)" \
			"root/root" "$package: all is root's"
		dpkg-deb --ctrl-tarfile one/${package}_*.deb | tar -xO ./md5sums >sums
		ok "$package: its sums are right" bash -c "cd $package && md5sum -c --quiet ../sums"
		is "$(wc -l <sums)" "$(find "$package" -type f | wc -l)" "of all of it"
	done
	{
		ones 'usr/bin/%s'
		ones 'usr/share/bash-completion/completions/%s'
		printf 'usr/share/doc/sketch-tools/%s\n' changelog.Debian.gz changelog.gz copyright
		ones 'usr/share/fish/vendor_completions.d/%s.fish'
		for page in $pages; do
			[ "${page##*.}" = 3 ] || echo "usr/share/man/man${page##*.}/$page.gz"
		done
		ones 'usr/share/zsh/vendor-completions/_%s'
	} | sort >want
	is "$(files_below sketch-tools)" "$(cat want)" "what is in sketch-tools"
	{
		echo usr/include/sketch.h
		printf 'usr/lib/TRIPLE/%s\n' libsketch.a pkgconfig/libsketch.pc
		printf 'usr/share/doc/libsketch-dev/%s\n' changelog.Debian.gz changelog.gz copyright
		for page in $pages; do
			[ "${page##*.}" != 3 ] || echo "usr/share/man/man3/$page.gz"
		done
	} | sort >want
	is "$(files_below libsketch-dev | sed 's,/lib/[a-z0-9_-]*/,/lib/TRIPLE/,')" \
		"$(cat want)" "what is in libsketch-dev"
	is "$(sketch-tools/usr/bin/bloom-uniq <<<"$(printf 'a\na')")" a "a tool runs"
	ok "the licence is there" grep -q 'Permission to use' \
		sketch-tools/usr/share/doc/sketch-tools/copyright
	ok "and the note of this version" grep -q "^sketch-tools ($version-1)" \
		<(zcat sketch-tools/usr/share/doc/sketch-tools/changelog.Debian.gz)
	ok "a page can be read" test -n "$(zcat sketch-tools/usr/share/man/man1/cms-top.1.gz)"
else
	skip "Debian packages" "no dpkg-deb"
fi

done_testing
