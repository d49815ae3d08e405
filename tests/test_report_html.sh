# SPDX-License-Identifier: GPL-2.0-or-later
# The HTML report in a real browser: it opens in light, in dark, on a phone and on
# paper; without a word on the console and without a request to anybody. That
# the checks can see such things is tried on a page that has them.
. tests/lib.sh
requires python3
requires xmllint
requires gnuplot
requires pdftotext

browser=
for b in chromium-headless-shell chromium; do
	command -v $b >/dev/null && { browser=$b; break; }
done

for kind in many sweep bench evil; do
	mkdir "$tmp/$kind"
	python3 tests/make_journals.py "$tmp/$kind" $kind >/dev/null
	"$KONTEST" store add --store "$tmp/$kind.db" "$tmp/$kind"/* >/dev/null
	"$KONTEST" report --store "$tmp/$kind.db" --format html -o "$tmp/$kind.html"
	# the page is XML too, so that nothing is left to a browser's guesses
	xmllint --noout --nonet "$tmp/$kind.html" || fail "$kind.html is not well-formed"
	grep -Eqi '[>: (]-?(nan|inf)[< ,)]' "$tmp/$kind.html" && fail "$kind.html shows a NaN"
	grep -Eqi 'https?:|<(script|iframe|img|object|embed|form)' "$tmp/$kind.html" &&
		fail "$kind.html leads elsewhere"
	grep -Eo '(src|href)="[^"]*"' "$tmp/$kind.html" | grep -Ev '="(#|data:,")' &&
		fail "$kind.html leads elsewhere"
done
"$KONTEST" report --store "$tmp/many.db" --format html >"$tmp/again.html"
cmp "$tmp/many.html" "$tmp/again.html" || fail "the same store gives other bytes"
grep -q 'timed-out: not done after 1800 s' "$tmp/many.html" || fail "a censored run is not shown"
grep -q 'Kernel panic - not syncing' "$tmp/many.html" || fail "a panic is not shown"
grep -q '<title[^>]*>Time under process_load over sched/base_slice_ns</title>' "$tmp/sweep.html" ||
	fail "no sweep curve"
[ "$(grep -c '<title[^>]*>tiobench, .*: ' "$tmp/bench.html")" = 4 ] || fail "not one plot a phase of tiobench"

# no gnuplot: a remedy, and no file
mkdir "$tmp/empty"
status=0
env PATH="$tmp/empty" "$KONTEST" report --store "$tmp/many.db" --format html -o "$tmp/none.html" 2>"$tmp/err" || status=$?
[ $status = 2 ] || fail "status $status without gnuplot: $(cat "$tmp/err")"
grep -q "gnuplot is missing.*apt-get install gnuplot-nox" "$tmp/err" || fail "$(cat "$tmp/err")"
[ ! -e "$tmp/none.html" ] && [ -z "$(ls -A "$tmp" | grep '^\.none')" ] || fail "half a report was left behind"

[ "$browser" ] || { echo "no chromium: pages were not opened in one"; exit 0; }

# browse NAME PAGE [OPTION...] - open a page; what it said is in NAME.log, what it
# asked for in NAME.net
browse() {
	local name=$1 page=$2
	shift 2
	timeout 150 $browser --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--disable-background-networking --no-first-run --hide-scrollbars \
		--user-data-dir="$tmp/profile" --host-resolver-rules="MAP * ~NOTFOUND" \
		--enable-logging=stderr --log-net-log="$tmp/$name.net" "$@" "file://$page" \
		>"$tmp/$name.log" 2>&1 || fail "$browser: status $?: $(tail -5 "$tmp/$name.log")"
}
console() { grep -c ':CONSOLE' "$tmp/$1.log" || :; }
# requests NAME - all that is no file of ours
requests() { grep -o '"url":"[^"]*"' "$tmp/$1.net" | grep -Ev '"(file:///|data:)' | sort -u; }

printf '<!DOCTYPE html><meta http-equiv=Content-Security-Policy content="script-src '\''none'\''"><script>1</script><img src=http://outside.invalid/x.png>' >"$tmp/bad.html"
browse bad "$tmp/bad.html" --screenshot="$tmp/bad.png"
[ "$(console bad)" -ge 1 ] || fail "the browser's console was not seen: $(cat "$tmp/bad.log")"
requests bad | grep -q 'outside.invalid' || fail "a request was not seen"

browse light "$tmp/many.html" --window-size=1280,1600 --screenshot="$tmp/light.png"
browse dark "$tmp/evil.html" --window-size=390,1600 --blink-settings=preferredColorScheme=0 \
	--screenshot="$tmp/dark.png"
browse paper "$tmp/many.html" --no-pdf-header-footer --print-to-pdf="$tmp/paper.pdf"
for name in light dark paper; do
	[ "$(console $name)" = 0 ] || fail "$name: $(grep CONSOLE "$tmp/$name.log")"
	[ -z "$(requests $name)" ] || fail "$name asked for $(requests $name)"
done

# luminance PNG - mean of its pixels, 0 to 255, and how many colours there are
luminance() {
	python3 - "$1" <<'EOF'
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n"
at, idat = 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    body = data[at + 8:at + 8 + size]
    if kind == b"IHDR":
        width, height, depth, color = struct.unpack(">IIBB", body[:10])
    idat += body if kind == b"IDAT" else b""
    at += 12 + size
assert depth == 8 and color in (2, 6)
n = 3 if color == 2 else 4
raw, line = zlib.decompress(idat), width * n
before, total, colours = bytearray(line), 0, set()
for y in range(height):
    kind, row = raw[y * (line + 1)], bytearray(raw[y * (line + 1) + 1:(y + 1) * (line + 1)])
    for i in range(line):
        a = row[i - n] if i >= n else 0
        b, c = before[i], before[i - n] if i >= n else 0
        p = a + b - c
        near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        row[i] = (row[i] + (0, a, b, (a + b) // 2, near)[kind]) & 255
    for x in range(0, line, 8 * n):
        total += (row[x] * 2 + row[x + 1] * 5 + row[x + 2]) // 8
        colours.add(bytes(row[x:x + 3]))
    before = row
print(total // (height * len(range(0, line, 8 * n))), len(colours))
EOF
}
set -- $(luminance "$tmp/light.png")
[ "$1" -gt 220 ] && [ "$2" -gt 20 ] || fail "the light page is of luminance $1, with $2 colours"
set -- $(luminance "$tmp/dark.png")
[ "$1" -lt 70 ] && [ "$2" -gt 20 ] || fail "the dark page is of luminance $1, with $2 colours"
pdftotext -layout "$tmp/paper.pdf" "$tmp/paper.txt"
for text in 'mm against mainline' 'Verdicts' '2.5.70-mm3-deadline' 'Provenance'; do
	grep -q -- "$text" "$tmp/paper.txt" || fail "no '$text' on paper"
done
