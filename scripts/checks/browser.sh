#!/usr/bin/env bash
# The pages for people, in Debian's Chromium.
set -uo pipefail
cd "$(dirname "$0")/../.."
exec npm test --silent -- --config e2e/browser/vitest.config.ts
