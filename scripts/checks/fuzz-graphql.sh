#!/usr/bin/env bash
# A minute of valid and broken GraphQL queries. The long form: npm run fuzz -- graphql --seconds 600
# The long form looks for stalls of 200 ms, this one for standstills only: other work may share the machine.
set -uo pipefail
cd "$(dirname "$0")/../.."
exec npm run --silent fuzz -- graphql --seconds 60 --stall-ms 2000 --seed 20261121
