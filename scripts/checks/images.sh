#!/usr/bin/env bash
# The images: built from bases made on this machine with the Node of the Dockerfile, looked into, and started with a
# read-only root.
set -uo pipefail
cd "$(dirname "$0")/../.."
exec npm test --silent -- --config scripts/deploy/images/vitest.config.ts
