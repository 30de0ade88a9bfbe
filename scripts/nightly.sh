#!/usr/bin/env bash
# npm run nightly: the long forms, each with a fresh seed that it prints. Hours on two cores; names of steps choose some of them.
# The last line is the sum.
set -uo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0
failed=0
seed=$((RANDOM * 32768 + RANDOM))
wanted=" $* "

# A step that ends badly, or says nothing of what it ran, counts as failed at least once.
step() {
  local name=$1 line count
  shift
  [ "$wanted" = "  " ] || [[ "$wanted" == *" $name "* ]] || return 0
  echo "== $name: $*"
  "$@" </dev/null 2>&1 | tee "$log"
  local code=${PIPESTATUS[0]}
  line=$(grep -E '^ *(Tests +)?[0-9]+ (passed|failed)' "$log" | tail -n 1)
  count=$(grep -oE '[0-9]+ passed' <<<"$line" | grep -oE '[0-9]+' || echo 0)
  passed=$((passed + count))
  count=$(grep -oE '[0-9]+ failed' <<<"$line" | grep -oE '[0-9]+' || echo 0)
  if [ "$count" -eq 0 ] && { [ "$code" -ne 0 ] || [ -z "$line" ]; }; then count=1; fi
  failed=$((failed + count))
}

npm run --silent build || exit 1

echo "seed $seed"
step fence env FENCE_REQUESTS=4 NO_COLOR=1 node_modules/.bin/vitest run packages/coordinator/src/schema-fence.model.test.ts
step kills env SHOAL_KILL_ROUNDS=50 SHOAL_TEST_SEED="$seed" NO_COLOR=1 node_modules/.bin/vitest run \
  packages/kv/src/{killed-process,lost-files}.native.test.ts e2e/src/faults/lost-data.test.ts
# What npm test asks with the same seed every time.
mapfile -t seeded < <(grep -rlE --include=*.test.ts 'SHOAL_TEST_SEED|testSeed\(\)' packages/*/src packages/modules/*/src e2e/src |
  grep -v 'cluster\.test\.ts$')
step seeds env SHOAL_FUZZ_REQUESTS=2000 SHOAL_TEST_SEED="$seed" SEED="$seed" NO_COLOR=1 node_modules/.bin/vitest run "${seeded[@]}"
step flips env SHOAL_FLIPS=500 SHOAL_TABLE_FLIPS=150 SHOAL_REPAIR_FLIPS=60 SHARD_FLIP_ROUNDS=400 SHOAL_INDEX_ROUNDS=60 \
  SHOAL_TEST_SEED="$seed" NO_COLOR=1 node_modules/.bin/vitest run \
  packages/kv/src/{damaged-files,damaged-tables}.native.test.ts packages/shard/src/{repair-shard,flipped-bits}.native.test.ts \
  packages/inverted-index/src/inverted-index.model.test.ts
step recall env SHOAL_RECALL_ROWS=100000 SHOAL_TEST_SEED="$seed" NO_COLOR=1 node_modules/.bin/vitest run \
  packages/vector-index/src/measured-recall.native.test.ts
step floods env SHOAL_FAIR_SECONDS=20 DRAIN_REQUESTS=100000 NO_COLOR=1 node_modules/.bin/vitest run \
  e2e/src/safety/{fair-shares,load-balancer}.test.ts
step simulate npm run --silent simulate -- --seeds 10000 --seed "$seed"
step oracle npm run --silent oracle -- --seed "$seed"
step fuzz-rest npm run --silent fuzz -- rest --seconds 600 --stall-ms 200 --seed "$seed"
step fuzz-graphql npm run --silent fuzz -- graphql --seconds 600 --stall-ms 200 --seed "$seed"
step faults npm run --silent faults -- --seed "$seed"
step faults-cluster npm run --silent faults -- --on cluster --seed "$seed"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
