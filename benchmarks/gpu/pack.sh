#!/usr/bin/env bash
# pack.sh: everything that run.sh needs on a machine with a GPU, in one archive of at most 60 MiB.
#
#   benchmarks/gpu/pack.sh [build folder, build/dev] [output folder, build/gpu]
#
# Nothing is built there: programs go with their shared libraries (but for NVIDIA's), plans are compiled here for
# sm_90, and what a processor computes by the same models is there to be compared with. With
# LLMC_GPU_TARGET=cuda:fibers the plans run on the stand-ins of the tests, so that run.sh itself can be tried:
#
#   LLMC_GPU_TARGET=cuda:fibers benchmarks/gpu/pack.sh
#   LLMC_GPU_PATIENCE=5 LLMC_GPU_STAGES="machine conformance kernels small pair" LLMC_GPU_LIBRARIES=$PWD/build/dev/test/Runtime/StandIn/lib build/gpu/llmc-gpu/run.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/dev} out=${2:-build/gpu}
pack=$out/llmc-gpu target=${LLMC_GPU_TARGET:-cuda:sm_90}
rm -rf "$out" && mkdir -p "$pack"/{bin,lib,plans,truth}

stand_ins=$build/test/Runtime/StandIn/lib
[ -e "$stand_ins/libcuda.so.1" ] || { echo "no stand-ins in $stand_ins"; exit 1; }
programs=(bin/llmc-run bin/llmc-doctor bin/llmc-launch bin/llmc-kernel-bits)
tests=(RuntimeCudaTest RuntimeCudaDeviceTest RuntimeDeviceTest RuntimeCommTest)
for program in "${programs[@]}" "${tests[@]/#/test/Unit/tests/}"; do
  strip -o "$pack/bin/$(basename "$program")" "$build/$program"
done
# What carries messages between processes is found beside the libraries.
mkdir "$pack/lib/llmc"
[ ! -e "$build/lib/llmc/libllmc-gloo.so" ] || strip -o "$pack/lib/llmc/libllmc-gloo.so" "$build/lib/llmc/libllmc-gloo.so"
# The loader and the C library too: the other machine may be older.
find "$pack/bin" "$pack/lib/llmc" -type f -exec ldd {} + | grep -o '/[^ ]*' | grep -v ':$' | sort -u | while read -r library; do
  cp -L "$library" "$pack/lib/"
done

python=.venv/bin/python
gpt() { "$python" examples/gpt/make_gpt.py "$@"; }
small=examples/gpt/gpt.mlir config=examples/gpt/gpt.toml
compile() { "$build/bin/llmc" compile "$1" --config "$config" "${@:4}" --target "$2" -o "$pack/plans/$3" > "$out/$3.txt"; }
compile "$small" cpu small-cpu
compile "$small" "$target" small
# Tensor cores add in an order of their own: without bits to compare, with losses.
compile "$small" "$target" small-tensor --set 'training.precision="bf16"'
products=(--set 'training.precision="bf16"' --set 'training.attention="products"')
compile "$small" "$target" small-bf16 "${products[@]}"
eight=(--set 'training.precision="fp8"' --set 'training.attention="products"')
compile "$small" "$target" small-fp8 "${eight[@]}"
compile "$small" "$target" small-pair --mesh data=2
# What the kernels make of random memory, thread by thread on this processor, with the bits of the processor's own.
for each in small small-bf16 small-fp8 small-pair; do
  flags=()
  [ $each != small-fp8 ] || flags=("${eight[@]}")
  [ $each != small-bf16 ] || flags=("${products[@]}")
  [ $each != small-pair ] || flags=(--mesh data=2)
  compile_to() { "$build/bin/llmc" compile "$small" --config "$config" "${flags[@]}" --target cuda:fibers "$@" > /dev/null; }
  compile_to --compile-to memory -o "$out/$each.mlir" && compile_to -o "$out/$each.fibers"
  "$build/test/Codegen/llmc-kernel-pairs" "$out/$each.mlir"
  LD_LIBRARY_PATH=$stand_ins "$build/bin/llmc-kernel-bits" record cuda "$out/$each.fibers/kernels.so" "$pack/truth/$each.bits"
done
gpt --layers 12 --d 768 --heads 12 --seq 1024 --vocab 50304 --batch 16 -o "$out/gpt2.mlir"
compile "$out/gpt2.mlir" "$target" gpt2 --set 'training.precision="bf16"' --set data.dtype='"u16"'
compile "$out/gpt2.mlir" "$target" gpt2-fp8 --set 'training.precision="fp8"' --set data.dtype='"u16"'

cp examples/gpt/corpus.bin "$pack/"
# Tokens of a vocabulary of 50,304 for the large model: their values do not matter for time.
"$python" - "$pack/tokens.bin" <<'END'
import sys
import numpy
numpy.random.default_rng(1).integers(0, 50304, 1 << 19).astype("<u2").tofile(sys.argv[1])
END
"$build/bin/llmc-run" "$pack/plans/small-cpu" --data examples/gpt/corpus.bin --steps 20 --log "$pack/truth/small.jsonl" > "$out/small-cpu.txt"
cp benchmarks/gpu/{run.sh,compare.py,peers.py} "$pack/"
tar -C "$out" -cJf "$out/llmc-gpu.tar.xz" llmc-gpu
size=$(stat -c %s "$out/llmc-gpu.tar.xz")
echo "$out/llmc-gpu.tar.xz: $((size >> 20)) MiB"
[ "$size" -le $((60 << 20)) ]
