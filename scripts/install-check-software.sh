#!/usr/bin/env bash
# Installs the programs that the checks need beside Node and a C++ compiler (Debian packages; needs root).
set -euo pipefail

missing=()
command -v g++ >/dev/null || missing+=(g++)
command -v clang++ >/dev/null || missing+=(clang)
command -v strace >/dev/null || missing+=(strace)
command -v mount >/dev/null || missing+=(mount)
command -v chromium >/dev/null || missing+=(chromium)
command -v etcd >/dev/null || missing+=(etcd-server)
command -v ip >/dev/null || missing+=(iproute2)
command -v nft >/dev/null || missing+=(nftables)
command -v etcdctl >/dev/null || missing+=(etcd-client)
command -v unzip >/dev/null || missing+=(unzip)
command -v curl >/dev/null || missing+=(curl)
command -v buildah >/dev/null || missing+=(buildah)
command -v haproxy >/dev/null || missing+=(haproxy)
[ ${#missing[@]} -eq 0 ] && exit 0

echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
