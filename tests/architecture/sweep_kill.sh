#!/bin/bash
# A sweep killed (kill -9) ten times at random moments: the file opens, nothing is lost or twice, and --resume ends with
# the content of an undisturbed run, whatever the thread count.
set -euo pipefail
sim=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
points() { exec "$sim" sweep experiments/kimi-k2.5-int4-tp8.yaml --axis batch=1..64 --axis context=1k,4k,16k --axis plan.tp=1,8 "$@"; }
sweep() { (points "$@"); }

sweep --csv "$dir/whole.csv" --json-file "$dir/whole.json" --threads 2 > /dev/null
resume=()
for try in 1 2 3 4 5 6 7 8 9 10; do
  points --db "$dir/killed.db" "${resume[@]}" --threads $((1 + try % 2)) > /dev/null 2> "$dir/err" &
  pid=$!
  sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
  kill -9 $pid 2> /dev/null || true
  wait $pid 2> /dev/null || true
  [ -s "$dir/killed.db" ] && resume=(--resume)
done
sweep --db "$dir/killed.db" "${resume[@]}" --threads 1 --csv "$dir/killed.csv" --json-file "$dir/killed.json" > /dev/null
cmp "$dir/whole.csv" "$dir/killed.csv"
cmp "$dir/whole.json" "$dir/killed.json"

# The same points as three shards, merged.
for i in 1 2 3; do sweep --db "$dir/part$i.db" --shard $i/3 > /dev/null; done
"$sim" merge "$dir/all.db" "$dir"/part?.db --csv "$dir/merged.csv" > /dev/null
cmp "$dir/whole.csv" "$dir/merged.csv"
echo "ten kills, three shards: same content"
