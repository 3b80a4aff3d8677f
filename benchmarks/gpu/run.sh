#!/usr/bin/env bash
# run.sh: what a GPU makes of llmc's plans, in stages of value; each is bounded, and what went wrong does not end the rest.
#
#   tar -xJf llmc-gpu.tar.xz && llmc-gpu/run.sh > table.txt
#
# Needs the driver, cuBLASLt and NCCL of that machine; python3 for comparisons, with torch and jax for the peers.
cd "$(dirname "$0")" || exit 2
export PYTHONUNBUFFERED=1 XLA_PYTHON_CLIENT_PREALLOCATE=false
# CUDA's libraries may lie in Python packages alone.
for folder in $(python3 -c 'import sys; print(*sys.path)' 2> /dev/null); do
  for library in "$folder"/nvidia/*/lib; do [ -d "$library" ] && found=${found:+$found:}$library; done
done
# run name arguments...: a program of the archive by its own loader.
run() { LD_LIBRARY_PATH= ./lib/ld-linux-x86-64.so.2 --library-path "$PWD/lib:${LD_LIBRARY_PATH:-}${found:+:$found}:/usr/local/cuda/lib64:/usr/lib/x86_64-linux-gnu:/usr/lib64" "bin/$1" "${@:2}"; }
stage() { echo "== $1"; }
bounded() { # seconds command...: of a function too
  ( "${@:2}" ) & local pid=$!
  ( sleep "$1"; kill -TERM "$pid" 2> /dev/null ) & local guard=$!
  wait "$pid"; local status=$?
  kill "$guard" 2> /dev/null
  [ "$status" -eq 0 ] || echo "ended with $status"
}
train() { run llmc-run "plans/$1" --trust-kernels --steps "$2" --log "out-$3.jsonl" "${@:4}" > "out-$3.txt" 2>&1 || tail -3 "out-$3.txt"; }

stage "machine"
nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader
bounded 30 run llmc-doctor --need gpus

stage "conformance of device, world and communicator"
for test in RuntimeCudaTest RuntimeDeviceTest RuntimeCommTest; do
  bounded 90 run "$test" --gtest_brief=1 2>&1 | grep -E '^\[  (FAILED|PASSED)|ended' | sort -u | tail -12
done

stage "a small GPT, 20 steps: graphs, eager, and a processor's figures"
bounded 60 train small 20 small --data corpus.bin
LLMC_CUDA_GRAPHS=0 bounded 60 train small 20 eager --data corpus.bin
bounded 60 train small-bf16 20 bf16 --data corpus.bin
python3 compare.py losses truth/small.jsonl out-small.jsonl out-eager.jsonl out-bf16.jsonl
grep -h "memory: predicted" out-small.txt

stage "GPT-2 124M, bf16, 16 x 1024 tokens"
bounded 120 train gpt2 30 gpt2 --data tokens.bin
python3 compare.py rate out-gpt2.jsonl 16384
grep -h "memory: predicted" out-gpt2.txt
bounded 60 train gpt2 4 traced --data tokens.bin --trace trace.json
python3 compare.py kernels trace.json
bounded 100 python3 peers.py torch-compile
bounded 100 python3 peers.py jax
bounded 60 python3 peers.py torch-eager

stage "two processes on one GPU"
bounded 60 run llmc-launch -n 2 -- ./lib/ld-linux-x86-64.so.2 --library-path "$PWD/lib:${LD_LIBRARY_PATH:-}${found:+:$found}" bin/llmc-run plans/small-pair --trust-kernels --steps 3 --data corpus.bin 2>&1 | tail -3
