#!/usr/bin/env bash
# quickstart.sh: from a fresh Debian 12 to a model that trains. Installs what is
# missing, builds the driver, then trains the GPT of examples/gpt on eight virtual
# devices: two pipeline stages, each with two data ranks and two tensor ranks.
# Arguments are handed on: scripts/quickstart.sh --steps 10
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --no-venv
echo "build: preset dev (clang-22, -O1), in build/dev"
started=$SECONDS
scripts/build.sh dev llmc
echo "build: $((SECONDS - started)) s"
command=(llmc train examples/gpt/gpt.mlir --config examples/gpt/gpt.toml
  --mesh pipe=2,data=2,tensor=2 --steps 50 "$@")
echo "+ ${command[*]}"
PATH=build/dev/bin:$PATH exec "${command[@]}"
