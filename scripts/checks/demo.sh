#!/usr/bin/env bash
# The demo, from its import of 50,000 words to its clean end.
set -uo pipefail
cd "$(dirname "$0")/../.."

if npm run --silent demo; then
  echo "1 passed, 0 failed"
else
  echo "0 passed, 1 failed"
  exit 1
fi
