#!/usr/bin/env bash
# Debian's cloud kernel and static busybox for x64 and arm64, unpacked into .cache/kernels for test/slow/guard-kernels.test.ts.
# apt-get fetches them with lists of its own: nothing is installed, and the machine knows no further architecture.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C

fetch() { # an architecture, as Debian names it
  local place=$PWD/.cache/kernels/$1 work kernel
  [ ! -e "$place" ] || return 0
  mkdir -p .cache/kernels
  work=$(mktemp -d "$place.XXXXXX")
  trap "rm -rf '$work'" EXIT
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/packages" "$work/tree" "$work/whole"
  local options=(-qq -o "APT::Architecture=$1" -o "APT::Architectures=$1" -o "Dir::State=$work/state" -o Dir::State::status=/dev/null
    -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=)
  apt-get "${options[@]}" update
  kernel=$(apt-cache "${options[@]}" depends "linux-image-cloud-$1" | sed -n 's/^ *Depends: \(linux-image-\)/\1/p')
  (cd "$work/packages" && apt-get "${options[@]}" download "$kernel" busybox-static)
  for package in "$work"/packages/*.deb; do dpkg -x "$package" "$work/tree"; done
  mv "$work"/tree/boot/vmlinuz-* "$work/whole/vmlinuz"
  mv "$work"/tree/bin/busybox "$work/whole/busybox"
  mv "$work/whole" "$place"
  rm -rf "$work"
  echo "fetched $kernel for $1"
}
fetch amd64
fetch arm64
