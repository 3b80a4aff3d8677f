#!/usr/bin/env bash
# run.sh: what a GPU makes of llmc's plans, in stages of value; each is bounded, and what went wrong does not end the rest.
#
#   tar -xJf llmc-gpu.tar.xz && llmc-gpu/run.sh > table.txt
#
# Needs the driver, cuBLASLt and NCCL of that machine, and cuDNN for the conformance of convolutions; python3 for
# comparisons, with torch and jax for the peers.
# LLMC_GPU_STAGES names some of: machine conformance kernels small large peers pair. LLMC_GPU_LIBRARIES: folders of CUDA's
# libraries, with colons between, in front of those that are found. LLMC_GPU_PATIENCE: how many times as long each may
# take, where kernels are emulated.
cd "$(dirname "$0")" || exit 2
rm -f out-* trace.json # of an earlier run
export PYTHONUNBUFFERED=1 XLA_PYTHON_CLIENT_PREALLOCATE=false
stages=" ${LLMC_GPU_STAGES:-machine conformance kernels small large peers pair} "
libraries=$PWD/lib${LLMC_GPU_LIBRARIES:+:$LLMC_GPU_LIBRARIES}
# CUDA's libraries may lie in Python packages alone.
for folder in $(python3 -c 'import sys; print(*sys.path)' 2> /dev/null); do
  for each in "$folder"/nvidia/*/lib; do [ -d "$each" ] && libraries+=:$each; done
done
libraries+=:/usr/local/cuda/lib64:/usr/lib/x86_64-linux-gnu:/usr/lib64
# A program of the archive by its own loader.
loader=("$PWD/lib/ld-linux-x86-64.so.2" --library-path "$libraries")
run() { "${loader[@]}" "bin/$1" "${@:2}"; }
stage() { # name title: whether it is to run
  [[ $stages == *" $1 "* ]] && echo "== $2"
}
bounded() { # seconds command...: of a function too; whatever it started ends with it
  set -m # A process group of its own.
  ("${@:2}") &
  local pid=$! limit=$(($1 * ${LLMC_GPU_PATIENCE:-1}))
  (sleep "$limit" && kill -TERM -- "-$pid" && sleep 10 && kill -KILL -- "-$pid") 2> /dev/null &
  local guard=$!
  set +m
  wait "$pid"
  local status=$?
  kill -- "-$guard" 2> /dev/null
  [ "$status" -eq 0 ] || echo "$2 $3: ended with $status"
}
train() { # plan steps name flags...
  run llmc-run "plans/$1" --trust-kernels --steps "$2" --log "out-$3.jsonl" "${@:4}" > "out-$3.txt" 2>&1 && return
  tail -n 3 "out-$3.txt"
  return 1
}
conform() { run "$1" --gtest_brief=1 2>&1 | grep -E '^\[  (FAILED|PASSED|SKIPPED)' | sort -u | tail -n 12; }

if stage machine "machine"; then
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader
  bounded 30 run llmc-doctor --need gpus
fi

if stage conformance "conformance of device, world and communicator"; then
  for test in RuntimeCudaTest RuntimeCudaDeviceTest RuntimeDeviceTest RuntimeCommTest; do
    echo "$test"
    bounded 90 conform "$test"
  done
fi

if stage kernels "each kernel of the small plans beside the bits of a processor, thread by thread"; then
  for plan in small small-bf16 small-fp8 small-pair; do
    bounded 60 run llmc-kernel-bits compare cuda "$PWD/plans/$plan/kernels.so" "truth/$plan.bits"
  done
fi

if stage small "a small GPT, 20 steps: graphs, eager, bf16, FP8, and a processor's figures"; then
  bounded 60 train small 20 small --data corpus.bin
  LLMC_CUDA_GRAPHS=0 bounded 60 train small 20 eager --data corpus.bin
  bounded 60 train small-bf16 20 bf16 --data corpus.bin
  bounded 60 train small-tensor 20 tensor --data corpus.bin
  bounded 60 train small-fp8 20 fp8 --data corpus.bin
  python3 compare.py losses truth/small.jsonl out-small.jsonl out-eager.jsonl out-bf16.jsonl out-tensor.jsonl out-fp8.jsonl
  grep -h "memory: predicted" out-small.txt
fi

if stage large "GPT-2 124M, bf16 and FP8, 16 x 1024 tokens"; then
  bounded 120 train gpt2 30 gpt2 --data tokens.bin
  python3 compare.py rate out-gpt2.jsonl 16384
  grep -h "memory: predicted" out-gpt2.txt
  bounded 120 train gpt2-fp8 30 gpt2-fp8 --data tokens.bin
  python3 compare.py rate out-gpt2-fp8.jsonl 16384
  bounded 60 train gpt2 4 traced --data tokens.bin --trace trace.json
  [ -e trace.json ] && python3 compare.py kernels trace.json
fi

if stage peers "the same step in PyTorch and JAX"; then
  for peer in torch-compile jax torch-eager; do bounded 100 python3 peers.py "$peer"; done
fi

if stage pair "two processes on one GPU, which NCCL may refuse"; then
  pair() { run llmc-launch -n 2 -- "${loader[@]}" bin/llmc-run plans/small-pair --trust-kernels --steps 3 --data corpus.bin 2>&1 | tail -n 3; }
  bounded 60 pair
fi
