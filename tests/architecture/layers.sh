#!/bin/bash
# Does every file include only what its layer may include? sim/LAYERS says "layer: layers it may include".
# Run from the repository root. Says every breach, then fails.
set -euo pipefail

declare -A may_include
while IFS=: read -r layer allowed; do
  [[ -z $layer || $layer == \#* ]] && continue
  may_include[$layer]=" $layer $allowed "
done < sim/LAYERS

breaches=0
breach() { echo "$1"; breaches=$((breaches + 1)); }

while read -r file; do
  layer=${file#sim/}
  layer=${layer%%/*}
  if [[ -z ${may_include[$layer]:-} ]]; then
    breach "layer $layer is not in sim/LAYERS: $file"
    continue
  fi
  while read -r included; do
    if [[ ${may_include[$layer]} != *" $included "* ]]; then breach "$layer may not include $included: $file"; fi
  done < <(sed -nE 's|^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^/"]+)/.*|\1|p' "$file" | sort -u)
done < <(find sim -mindepth 2 -name '*.[ch]pp' | sort)

[[ $breaches -eq 0 ]] || { echo "$breaches breaches of sim/LAYERS"; exit 1; }
