#!/usr/bin/env bash
# docs/claims.md shows what the program really answers, and draws no conclusion that it contradicts.
[ -x build/moe-sim ] || { echo "skipped: the claims need the program in build/"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
scripts/update-claims --check
