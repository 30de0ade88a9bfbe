#!/usr/bin/env bash
# The commands of deploy/MACHINES.md, on three machines made of namespaces. Needs root and etcd.
set -uo pipefail
cd "$(dirname "$0")/../.."
exec npm test --silent -- --config scripts/deploy/machines/vitest.config.ts
