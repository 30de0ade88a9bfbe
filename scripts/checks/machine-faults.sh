#!/usr/bin/env bash
# The fault rows of one process that need strace, root or control groups; the other ones are part of npm test.
set -uo pipefail
cd "$(dirname "$0")/../.."
exec npm run --silent faults -- --short --on process --seed 20261120 R3 R10 R29
