#!/bin/bash
# The report is one file: nothing is loaded from elsewhere, and a browser has nothing to complain about, in light and dark.
# The browser part is skipped with a message where chromium is absent.
set -euo pipefail
sim=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$sim" sweep experiments/kimi-k2.5-int4-tp8.yaml --axis batch=1,8,64 --axis context=1k,16k --db "$dir/s.db" > /dev/null
"$sim" report experiments/kimi-k2.5-int4-tp8.yaml "$dir/s.db" --out "$dir/report.html" > /dev/null 2>&1
page=$dir/report.html
if grep -Eo '(src|href)="[^"]*"|url\([^)]*\)|@import' "$page" | grep -Ev 'href="data:,"|url\(#' ; then echo "the page loads something from elsewhere"; exit 1; fi
for title in "The answer" "Where the step goes" "One layer" "Links" "Traffic between GPUs" "Kernels" "What would help" "Inputs" "What one user gets"; do
  grep -q "<h2>$title" "$page" || { echo "no section \"$title\""; exit 1; }
done
[ "$(stat -c %s "$page")" -lt 600000 ] || { echo "the page is larger than 600 KB"; exit 1; }
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo "sections are there; no chromium, so the page was not opened"; exit 77; }
for theme in 0 1; do
  timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --user-data-dir="$dir/profile" --enable-logging=stderr --v=0 \
    --blink-settings=preferredColorScheme=$theme --dump-dom "file://$page" > "$dir/dom.html" 2> "$dir/log"
  if grep -E 'CONSOLE' "$dir/log"; then echo "the browser complains"; exit 1; fi
  grep -q 'data-tip' "$dir/dom.html" || { echo "the script of the page did not run"; exit 1; }
done
echo "no console message in both themes"
