#!/usr/bin/env bash
# Installs the programs that the checks need beside Node and a C++ compiler (Debian packages; needs root).
set -euo pipefail

missing=()
command -v g++ >/dev/null || missing+=(g++)
command -v strace >/dev/null || missing+=(strace)
command -v mount >/dev/null || missing+=(mount)
command -v chromium >/dev/null || missing+=(chromium)
[ ${#missing[@]} -eq 0 ] && exit 0

echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
