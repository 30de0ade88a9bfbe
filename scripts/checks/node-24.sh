#!/usr/bin/env bash
# The current LTS of Node: a copy of the sources with an empty home is installed, built and tested by it, but for the slow
# tests that ask what Node has no part in (scripts/README.md).
set -uo pipefail
cd "$(dirname "$0")/../.."

node=$(node scripts/fetch-node.mjs) || { echo "0 passed, 1 failed"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home" "$work/shoal"
git ls-files -z --cached --others --exclude-standard |
  tar --create --null --files-from=- --ignore-failed-read 2>/dev/null | tar --extract --directory "$work/shoal"
cd "$work/shoal" || exit 1

export HOME="$work/home" PATH="$node/bin:$PATH"
unset XDG_CACHE_HOME
echo "Node $(node --version), $(node -p process.versions.v8)"
# What these look for is in files, journals and C++, not in Node; `npm test` runs them.
without=(
  packages/native/src/cpp-sources packages/native/src/linker
  packages/vector-index/src/{measured-recall,beyond-memory-recall,row-codes,snapshot-by-change}
  packages/kv/src/{lost-files,full-disk}
  packages/shard/src/{repair-shard,copied-graph,copies}
  packages/storage-node/src/{closed-copies,copied-graphs,copies-at-faults,damaged-copies,copies-memory,random-copies}
  packages/coordinator/src/etcd/etcd-faults
  e2e/src/process/{repair,vectors-beyond-memory}
)
SHOAL_TESTS_WITHOUT="${without[*]/%/.*}" npm test --silent -- packages/ e2e/src/scenarios/ e2e/src/process/ e2e/src/auth/attacks e2e/src/auth/api-keys e2e/clients/
