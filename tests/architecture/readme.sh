#!/usr/bin/env bash
# The README shows what the program really prints.
[ -x build/moe-sim ] || { echo "skipped: the README's commands need the program in build/"; exit 77; }
scripts/update-readme --check
