#!/usr/bin/env bash
# The images: built from bases made on this machine, looked into, and one started with a read-only root.
set -uo pipefail
cd "$(dirname "$0")/../.."
exec npm test --silent -- --config scripts/deploy/images/vitest.config.ts
