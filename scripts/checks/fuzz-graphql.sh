#!/usr/bin/env bash
# A minute of valid and broken GraphQL queries. The long form: npm run fuzz -- graphql --seconds 600
set -uo pipefail
cd "$(dirname "$0")/../.."
exec npm run --silent fuzz -- graphql --seconds 60
