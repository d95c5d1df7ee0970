#!/usr/bin/env bash
# Damaged, cut, lengthened, foreign, future files: refused in a line; never wrong, never a crash
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

seq 1 100 >list
bloom-build -n 100 -o f.bloom list

# ---- what people really feed to it
gzip -nc f.bloom >f.gz 2>.tap/ok || printf '\037\213\010\0\0\0\0\0' >f.gz
: >empty
sed 's/$/\r/' f.bloom >unix2dos.bloom
tr -d '\r' <f.bloom >dos2unix.bloom
iconv -f latin1 -t utf-8 f.bloom >latin1.bloom 2>.tap/ok || cp empty latin1.bloom
tr '\200-\377' '\0-\177' <f.bloom >seven-bits.bloom
tail -c +2 f.bloom >headless.bloom
cat f.bloom f.bloom >twice.bloom
{ cat f.bloom; echo; } >newline.bloom
base64 f.bloom >base64.bloom 2>.tap/ok || cp list base64.bloom
printf '#!/bin/sh\necho hello\n' >script
cp "$BIN/bloom-query" program
for file in f.gz empty unix2dos.bloom dos2unix.bloom latin1.bloom seven-bits.bloom headless.bloom \
	twice.bloom newline.bloom base64.bloom script program list; do
	clean_error "bloom-query $file" "$file" bloom-query "$file" list
	clean_error "sketch-info $file" "$file" sketch-info "$file"
	clean_error "sketch-info --json <$file" "" bash -c "exec sketch-info --json - <$file"
	[ "$file" != empty ] || continue # is one to be made
	clean_error "bloom-build --append $file" "$file" bloom-build --append "$file" list
done

# ---- which of them it is
says() # FILE REGEX
{
	bloom-query "$1" list 2>"$ERR"
	like "$(cat "$ERR")" "$2" "$1 is said to be what it is"
}
says f.gz 'not a sketch|foreign|no sketch|gzip'
says list 'not a sketch|foreign|no sketch'
says empty 'empty|truncated'
says twice.bloom 'lengthened|longer|bytes follow'
head -c 300 f.bloom >cut.bloom
says cut.bloom 'truncated|shorter'

checks damage.py
checks crafted.py

done_testing
