#!/usr/bin/env bash
# build.sh [preset] [target...]: configures when needed and builds (default preset: dev).
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-dev}
shift || true
[ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" >/dev/null
ninja -C "build/$preset" --quiet "$@"
