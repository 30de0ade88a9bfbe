#!/usr/bin/env bash
# Scenarios, oracle and fault rows in their short forms, on clusters of real processes with etcd and, where links are cut,
# network namespaces. The long forms: npm run faults -- --on cluster, npm run oracle -- --target cluster
set -uo pipefail
cd "$(dirname "$0")/../.."
exec npm test --silent -- --config e2e/vitest.cluster.config.ts
