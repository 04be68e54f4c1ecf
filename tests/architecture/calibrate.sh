#!/bin/bash
# Does the calibration suite build where nvcc is? The build makes it (MOE_SIM_CUDA=AUTO); this asks the program for its
# commands, and a machine without GPUs for a report. $1: moe-sim. Exit 77 (skipped) where there is no nvcc.
set -euo pipefail
calibrate=$(dirname "$1")/moe-calibrate
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc 2>/dev/null | head -1 || true)
if [[ -z $nvcc ]] || grep -q '^MOE_SIM_CUDA:[A-Z]*=OFF' "$(dirname "$1")/CMakeCache.txt" 2>/dev/null; then
  echo "no nvcc, or MOE_SIM_CUDA=OFF: the suite is not built here"
  exit 77
fi
[[ -x $calibrate ]] || { echo "nvcc is at $nvcc, but $calibrate was not built"; exit 1; }
for command in run verify box report; do
  "$calibrate" "$command" --help >/dev/null || { echo "moe-calibrate has no command $command"; exit 1; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf 'path,op,dtype,gpus,bytes,latency_us\nsuite-1/one_shot,all_reduce,bfloat16,2,1024,5\n' > "$folder/collective.csv"
"$calibrate" report "$folder"
grep -q 'collective.csv | 1 |' "$folder/report.md" || { echo "report.md does not count the rows"; cat "$folder/report.md"; exit 1; }
grep -q '"collective.csv": 1' "$folder/report.json" || { echo "report.json does not count the rows"; exit 1; }
