#!/usr/bin/env bash
# setup.sh: installs what llmc needs on Debian 12. Idempotent: a second run
# installs nothing and says so.
#   scripts/setup.sh            packages to build and test, and .venv with jax, onnx and tensorboard (oracles of the tests)
#   scripts/setup.sh --no-venv  Debian packages only
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  cmake ninja-build g++ git ca-certificates            # build
  clang-22 lld-22 llvm-22-dev llvm-22-tools            # compiler, linker, LLVM, lit and FileCheck
  libmlir-22-dev mlir-22-tools libzstd-dev zlib1g-dev  # MLIR
  clang-format-22 clang-tidy-22 libclang-rt-22-dev     # style, sanitizers
  libflatbuffers-dev flatbuffers-compiler libxxhash-dev libfmt-dev  # plan files, hashes, text
  libcli11-dev libtomlplusplus-dev nlohmann-json3-dev  # command line, configuration, JSON
  libdnnl-dev                                          # contractions on CPU
  libgloo-dev libopenmpi-dev openmpi-bin               # messages between processes
  libgtest-dev libgmock-dev libbenchmark-dev           # tests, benchmarks
  libonnx-testdata                                     # the public tests of ONNX backends
  python3 python3-venv python3-psutil                  # lit and its time limit, oracles
  iproute2                                             # hosts that tests make
  chromium-headless-shell                              # shows reports to a test
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: all ${#packages[@]} Debian packages are there"
else
  echo "setup: installing ${missing[*]}"
  as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

[ "${1:-}" = "--no-venv" ] && exit 0
# Oracles and generators of the tests; never needed to build or to run llmc.
oracles=("jax==0.10.2" "optax==0.2.8" "numpy" "onnx" "tensorboard")
stamp=.venv/.oracles
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "${oracles[*]}" ]; then
  echo "setup: .venv has ${oracles[*]}"
else
  echo "setup: installing ${oracles[*]} into .venv (oracles of the tests)"
  if /usr/bin/python3 -m venv .venv && .venv/bin/pip install -q --disable-pip-version-check "${oracles[@]}"; then
    echo "${oracles[*]}" >"$stamp"
  else
    echo "setup: no Python packages; tests that need them will be skipped and counted"
  fi
fi
