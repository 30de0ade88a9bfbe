#!/usr/bin/env bash
# Makes fakes for the two images that the Dockerfile starts from, out of the Debian packages of this machine and the Node
# and npm on the PATH, for machines that reach no registry of images: localhost/shoal-build-base and localhost/shoal-run-base.
# Needs Debian, root, buildah and g++.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
node=$(readlink -f "$(command -v node)")
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")

# The named packages, with all that they depend on.
with_dependencies() {
  apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances "$@" | grep -E '^[a-z0-9]' | cut -d: -f1 | sort -u
}

# copy_packages FOLDER PACKAGE...: their files, without those for reading.
copy_packages() {
  local folder=$1
  shift
  mkdir -p "$folder"/usr/{bin,sbin,lib,lib64} "$folder"/{etc,tmp,root,proc,sys,dev,var/tmp}
  chmod 1777 "$folder/tmp" "$folder/var/tmp"
  for name in bin sbin lib lib64; do ln -s "usr/$name" "$folder/$name"; done
  for package in $(with_dependencies "$@"); do dpkg -L "$package" 2>/dev/null || true; done |
    grep -vE '^/usr/share/(doc|man|info|locale|lintian|bug|perl)|^/\.$' | sort -u |
    tar -C / --create --no-recursion --ignore-failed-read --files-from=- 2>/dev/null |
    tar -C "$folder" --extract --keep-directory-symlink
  cp -a /etc/ssl "$folder/etc/"
  printf 'root:x:0:0:root:/root:/bin/sh\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' >"$folder/etc/passwd"
  printf 'root:x:0:\nnonroot:x:65532:\n' >"$folder/etc/group"
}

# commit_folder FOLDER IMAGE
commit_folder() {
  local container
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$1" / >/dev/null
  buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  # What this machine trusts, Node trusts, too.
  buildah config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$container"
  buildah commit --quiet --rm "$container" "$2" >/dev/null
}

copy_packages "$work/run" libc6 libstdc++6 tzdata
commit_folder "$work/run" localhost/shoal-run-base

copy_packages "$work/build" bash coreutils findutils grep sed ca-certificates libc6-dev g++ libstdc++6
mkdir -p "$work/build/usr/local/bin" "$work/build/usr/local/lib/node_modules"
cp "$node" "$work/build/usr/local/bin/node"
cp -a "$npm" "$work/build/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/build/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$work/build/usr/local/bin/npx"
[ -e "$work/build/usr/bin/sh" ] || ln -s bash "$work/build/usr/bin/sh"
commit_folder "$work/build" localhost/shoal-build-base
