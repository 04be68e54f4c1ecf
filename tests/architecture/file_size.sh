#!/bin/bash
# Is every file small enough to read in one sitting? At most 300 lines. Run from the repository root.
set -euo pipefail

too_long=$(find sim tests -type f -exec awk 'END { if (NR > 300) print FILENAME ": " NR " lines, at most 300" }' {} \;)
[[ -z $too_long ]] || { echo "$too_long"; exit 1; }
