#!/usr/bin/env bash
# A minute of broken requests against every REST operation. The long form: npm run fuzz -- rest --seconds 600
set -uo pipefail
cd "$(dirname "$0")/../.."
exec npm run --silent fuzz -- rest --seconds 60
