#!/bin/bash
# The same sweep over local MPI ranks gives the same rows; when a rank is killed, what was written stays and --resume
# completes it. Skipped where there is no mpirun or the program was built without MPI.
set -euo pipefail
sim=$1
command -v mpirun > /dev/null || { echo "no mpirun: skipped"; exit 77; }
"$sim" --version | grep -q MPI || { echo "built without MPI: skipped"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ranks() { mpirun --allow-run-as-root --oversubscribe --mca btl self,vader --mca plm isolated -n 3 "$sim" "$@"; }
args=(sweep experiments/kimi-k2.5-int4-tp8.yaml --axis batch=1..64 --axis context=1k,4k --threads 1)

"$sim" "${args[@]}" --csv "$dir/whole.csv" > /dev/null
ranks "${args[@]}" --db "$dir/mpi.db" --csv "$dir/mpi.csv" > /dev/null
cmp "$dir/whole.csv" "$dir/mpi.csv"

ranks "${args[@]}" --db "$dir/killed.db" > /dev/null 2>&1 &
job=$!
for _ in $(seq 200); do
  worker=$(pgrep -f "$dir/killed.db" | while read -r p; do
    tr '\0' '\n' < "/proc/$p/environ" 2> /dev/null | grep -q '^OMPI_COMM_WORLD_RANK=1$' && echo "$p"; done | head -1 || true)
  [ -n "$worker" ] && break
  sleep 0.05
done
[ -z "$worker" ] || { sleep 0.2; kill -9 "$worker" 2> /dev/null || true; }
wait $job || true
resume=()
[ -s "$dir/killed.db" ] && resume=(--resume)
ranks "${args[@]}" --db "$dir/killed.db" "${resume[@]}" --csv "$dir/killed.csv" > /dev/null
cmp "$dir/whole.csv" "$dir/killed.csv"
echo "three ranks, one killed: same content"
