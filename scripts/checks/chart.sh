#!/usr/bin/env bash
# The Helm chart, with Helm 3 and 4: lint, renderings of five value sets, what Kubernetes and our processes say to them.
set -uo pipefail
cd "$(dirname "$0")/../.."
node scripts/deploy/fetch-helm.mjs || { echo "0 passed, 1 failed"; exit 1; }
exec npm test --silent -- --config scripts/deploy/chart/vitest.config.ts
