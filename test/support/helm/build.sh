#!/bin/sh
# Builds the helm that go.mod names, once, and prints the path of the binary. Needs Go and some minutes.
# The result lives outside the repository, in $XDG_CACHE_HOME/birdfeed, one file for each content of go.mod and go.sum.
#
#   build.sh            builds it unless it is there
#   build.sh --built    only says where it is, or why it is not there: not built (status 1), no Go (69)
set -eu
cd "$(dirname "$0")"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/birdfeed"
binary="$cache/helm-$(cat go.mod go.sum | sha256sum | cut -c 1-16)"
if [ ! -x "$binary" ]; then
  command -v go >/dev/null || { echo "it is built from source, and Go is not installed" >&2; exit 69; }
  [ "${1-}" != --built ] || { echo "run test/support/helm/build.sh, once" >&2; exit 1; }
  mkdir -p "$cache"
  partial=$(mktemp "$cache/helm.XXXXXX")
  trap 'rm -f "$partial"' EXIT
  echo "helm: building it, once, in $cache" >&2
  CGO_ENABLED=0 GOWORK=off nice -n 19 go build -mod=readonly -trimpath -buildvcs=false -ldflags '-s -w' \
    -o "$partial" helm.sh/helm/v4/cmd/helm
  chmod 755 "$partial"
  mv "$partial" "$binary"
fi
echo "$binary"
