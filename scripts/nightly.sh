#!/usr/bin/env bash
# nightly.sh: what is too slow for every change. Each part can be run alone:
#   scripts/nightly.sh [runtime] [tsan] [asan] [gcc] [cross] [faults] [plans] [random] [oracles] [derivatives] [families] [narrow] [layouts] [torch] [processes] [checkpoints]
#     [lanes] [fuzz] [readers] [mutate]
# runtime  the runtime house alone, without LLVM, and its tests
# tsan     the runtime under ThreadSanitizer: pool, cursors, collectives; and a
#          plan of the dev build on eight devices, in several orders
# asan     the tests under AddressSanitizer and UBSan, but for those that compare
#          figures alone, count, or repeat others on more meshes (MLIR itself is not
#          instrumented)
# gcc      everything compiled by g++ without a precompiled header; the unit tests
# cross    trains on each mesh of test/EndToEnd/Inputs/meshes.txt with all options, twice
# faults   which test catches each fault of SeededFaults.def: at least 38
# plans    takes away waits, breaks, shuffles, poisons and hides the memory of the plans
#          of these meshes
# random   600 random programs of each kind, compiled to plans for their meshes and executed;
#          4,000 texts with random annotations on up to 16 devices in lockstep, and 1,000 wrong ones;
#          200 random losses, several microbatches against one batch; random convolutions
#          and windows, dropout and noise against JAX; random uses of ops that are written
#          with others against XLA
# oracles  what the suite compares with JAX and one device in part: the example, gradients on
#          all meshes, all element types, whole steps and manual regions on more meshes; the tests of
#          ONNX backends by kernels and on devices
# derivatives  each row of docs/derivatives.md against jax.grad, by kernels too
# families the families of models on every mesh, against one device and JAX
# narrow   the families in bf16, f16 and FP8 against JAX with the same policy; curves of 200 steps
# layouts  what the families communicate, and what is said of it; strategies; recipes; nine models on the way
#          of the tutorial
# torch    PyTorch's exports, optimized and not, against PyTorch and on every mesh; raised and not
# processes  processes that are killed or stopped and links that are cut between two
#          hosts, at 50 random moments each, and 50 of one host's; each case of meshes.txt with a process for each device
# checkpoints  runs that write checkpoints and are killed 200 times, ended by signals and full disks; resumed on other
#          meshes, in other precisions and numbers of processes
# lanes    kernels of GPUs thread by thread: 1,000 random programs have the bits of the
#          processor's; 34 mistakes of their writer; what ptxas says, where it is; sin, cos and tan of all f32
#          against the C library (half an hour), functions of f64 against long double;
#          400 random convolutions; experts without capacity by products of groups, and by exchanges of
#          counted rows;
#          all families of models on stand-ins of CUDA's libraries
# fuzz     10,000 mutated models, interpreted and compiled, and 10,000 mutated
#          plans, loaded and run, under AddressSanitizer and UBSan
# readers  the readers of models by libFuzzer, 100,000 texts and 100,000 ONNX files, and
#          those of configurations, plans and arrays, four minutes each, under
#          AddressSanitizer and UBSan; what they found is kept
# mutate   100 slips drawn at random: would a test fail? (LLMC_MUTATION_SEED)
#
# asan, gcc, fuzz and mutate stop after about 50 minutes (LLMC_NIGHTLY_MINUTES), keep what they have done
# (tests passed on this tree, files compiled, inputs tried with these programs,
# mutants judged) and go on the next time; they pass when nothing is left. The
# survivors of mutate are tried again by `scripts/mutate.py --again --output ...`.
# Each part prints one line for docs/status.md: its figure and its minutes. The
# last line is "nightly: N of M parts passed".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
scripts/setup.sh
all=(runtime tsan asan gcc cross faults plans random oracles derivatives families narrow layouts torch processes checkpoints lanes fuzz readers mutate)
[ $# -gt 0 ] || set -- "${all[@]}"
# Containers and allocators that cross into MLIR carry no marks; MLIR keeps its globals.
# A test wants to see the signal of a file that shrinks end the process.
export ASAN_OPTIONS=handle_sigbus=0:allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0:strict_string_checks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1
minutes=${LLMC_NIGHTLY_MINUTES:-50} # of a part
log=build/nightly
mkdir -p "$log"

# build preset target...: within the minutes of the part; ninja goes on the next time.
build() {
  local preset=$1 left=$((minutes * 60 - (SECONDS - started)))
  timeout "$((left > 60 ? left : 60))" scripts/build.sh "$@" && return
  [ $? -eq 124 ] && echo "build of $preset not finished: run it again"
  return 1
}

# tests preset regex-of-tests-left-out suite...: in the minutes that are left.
tests() {
  local preset=$1 without=$2
  shift 2
  build "$preset" all llmc-test-depends || return 1
  python3 scripts/resume_tests.py "build/$preset" --minutes "$(((minutes * 60 - (SECONDS - started)) / 60 + 1))" \
    --filter-out "$without" "$@"
}

part_runtime() { tests runtime '' build/runtime/test build/runtime/test/Unit; }
part_tsan() {
  local status=0 out=build/tsan/eight order figure
  tests tsan '' build/tsan/test/Unit | tee "$log/tsan-tests" || status=1
  figure=$(tail -1 "$log/tsan-tests")
  build dev llmc || return 1
  build/dev/bin/llmc compile test/EndToEnd/Inputs/gpt-four.mlir --config examples/gpt/gpt-zero1.toml \
    --mesh pipe=2,data=2,tensor=2 --set training.microbatches=4 --threads 1 -o "$out" || return 1
  for order in 1 2 3 4 5 6 7 8; do
    build/tsan/bin/llmc-run "$out/plan.llmc" --data examples/gpt/corpus.bin --steps 10 \
      --threads $((order % 4 + 1)) --shuffle "$order" --trust-kernels >"$out/$order.log" 2>&1 ||
      { cat "$out/$order.log"; status=1; }
  done
  echo "$figure; a compiled plan on 8 devices in 8 orders, exit status $status"
  return "$status"
}
part_asan() {
  tests asan 'Layering/|Docs/|EndToEnd/(meshes|gradients|gpus|jax|pairs|Onnx/large|places|plan-size|same-bits|counts|summary|Programs)|ReshardPlannerTest|PlanCaseTest' \
    build/asan/test build/asan/test/Unit
}
part_gcc() { tests gcc 'ReshardPlannerTest|(Plan|Mesh|Op)CaseTest' build/gcc/test/Unit; }
part_cross() {
  build dev llmc || return 1
  python3 test/EndToEnd/meshes.py --cross --twice --llmc build/dev/bin/llmc \
    --model test/EndToEnd/Inputs/gpt-four.mlir --config examples/gpt/gpt.toml \
    --zero-config examples/gpt/gpt-zero1.toml -o build/dev/cross test/EndToEnd/Inputs/meshes.txt
}
part_faults() {
  cmake --preset dev >/dev/null || return 1 # the switch is on in the preset
  build dev llmc llmc-plan-probe OpCaseTest MeshCaseTest || return 1
  python3 test/EndToEnd/faults.py --build build/dev -o build/dev/faults --table docs/faults.md
}
part_plans() {
  build dev llmc llmc-plan-probe || return 1
  python3 test/EndToEnd/probe_plans.py --bin build/dev/bin --data examples/gpt/corpus.bin \
    --model test/EndToEnd/Inputs/gpt-four.mlir --config examples/gpt/gpt.toml \
    --zero-config examples/gpt/gpt-zero1.toml -o build/dev/plans test/EndToEnd/Inputs/meshes.txt
}
# Whole trainings on stand-ins: convolutions, orders, and products of groups.
lanes_dropless() {
  local out=build/dev/lanes python=.venv/bin/python
  rm -rf "$out"
  $python test/EndToEnd/Strategies/models.py "$out" || return 1
  $python test/EndToEnd/gpus.py --bin build/dev/bin --stand-ins build/dev/test/Runtime/StandIn/lib \
    --model "$out/gpt-dropless.mlir" --config test/EndToEnd/Inputs/dropless.toml --data examples/gpt/corpus.bin --steps 5 \
    --cases "" data=2 expert=2 -o "$out/out" || return 1
  LD_LIBRARY_PATH=build/dev/test/Runtime/StandIn/lib $python test/EndToEnd/oracle/dropless.py --llmc build/dev/bin/llmc \
    --device cuda:fibers --only manual -o "$out/exchanges"
}
# FP8 by cuBLASLt: families with current and with delayed scales, on one device and on meshes.
lanes_eight() {
  local scaling eight status=0
  for scaling in current delayed; do
    eight="precision=fp8 fp8_scaling=$scaling attention=products"
    .venv/bin/python test/EndToEnd/gpus.py --bin build/dev/bin --stand-ins build/dev/test/Runtime/StandIn/lib \
      --model test/EndToEnd/Inputs/gpt-four.mlir --config examples/gpt/gpt.toml --data examples/gpt/corpus.bin --steps 3 \
      --cases "$eight" "data=2 $eight" "data=2,tensor=2 $eight" "data=4 zero=1 $eight" \
      "pipe=2,data=2 microbatches=2 $eight" "data=2 precision=fp8 fp8_scaling=$scaling" -o "build/dev/lanes-eight-$scaling" || status=1
    JAX_PLATFORMS=cpu .venv/bin/python test/EndToEnd/Families/gpus.py --bin build/dev/bin \
      --stand-ins build/dev/test/Runtime/StandIn/lib --only llama,mlp,vit,cnn,scan --precision fp8 --scaling "$scaling" \
      -o "build/dev/families-eight-$scaling" test/EndToEnd/Families/table.txt || status=1
  done
  return "$status"
}
part_lanes() {
  build dev all llmc-test-depends || return 1
  local status=0 tests=build/dev/test/Unit/tests/KernelObjectTest
  LLMC_TEST_SEED=7 LLMC_TEST_CASES=1000 LLMC_TEST_SHOW=1 $tests --gtest_filter='Lanes.RandomPrograms' | tee "$log/lanes" || status=1
  LLMC_TEST_SEED=7 LLMC_TEST_CASES=100 $tests --gtest_brief=1 --gtest_filter='LaneStages.Drawn' || status=1
  python3 test/Codegen/writer_faults.py --table lib/Transforms/Kernels/WriterFaults.def --tests $tests | tee "$log/lane-faults"
  grep -E '^(33|34) of 34 caught' "$log/lane-faults" || status=1
  LLMC_TEST_SEED=7 LLMC_TEST_CASES=400 $tests --gtest_filter='CallLanes.RandomConvolutions:CallLanes.WideTiles' || status=1
  LLMC_TEST_SEED=7 LLMC_TEST_CASES=100 $tests --gtest_filter='AttendLanes.Random:KernelMoves.*' || status=1
  scripts/gpu_kernels.py || [ $? -eq 15 ] || status=1
  scripts/gpu_kernels.py --only "gpt, FP8" || [ $? -eq 15 ] || status=1
  LLMC_TEST_STRIDE=1 LLMC_TEST_COUNT=200000 LLMC_TEST_SHOW=1 $tests --gtest_filter='Angles.*:*/Functions.*' | tee "$log/functions" || status=1
  lanes_dropless || status=1
  python3 test/EndToEnd/cuda.py --bin build/dev/bin --libraries build/dev/test/Runtime/StandIn/lib \
    --model test/EndToEnd/Inputs/gpt-tiny.mlir --config examples/gpt/gpt.toml -o build/dev/lanes-cuda \
    "" data=2 tensor=2 pipe=2,data=2 pipe=2,data=2,tensor=2 || status=1
  .venv/bin/python test/EndToEnd/gpus.py --bin build/dev/bin --stand-ins build/dev/test/Runtime/StandIn/lib \
    --model test/EndToEnd/Inputs/gpt-four.mlir --config examples/gpt/gpt.toml --data examples/gpt/corpus.bin --steps 2 \
    -o build/dev/lanes-gpus || status=1
  JAX_PLATFORMS=cpu .venv/bin/python test/EndToEnd/Families/gpus.py --bin build/dev/bin --stand-ins build/dev/test/Runtime/StandIn/lib \
    --jobs "$(nproc)" -o build/dev/families-gpus test/EndToEnd/Families/table.txt | tee "$log/lane-families"
  [ "${PIPESTATUS[0]}" -eq 0 ] || status=1
  JAX_PLATFORMS=cpu .venv/bin/python test/EndToEnd/Families/gpus.py --bin build/dev/bin --stand-ins build/dev/test/Runtime/StandIn/lib \
    --only cnn,resnet,unet,diffusion --target cuda:fibers+cudnn -o build/dev/families-cudnn test/EndToEnd/Families/table.txt |
    tee "$log/lane-cudnn"
  [ "${PIPESTATUS[0]}" -eq 0 ] || status=1
  JAX_PLATFORMS=cpu .venv/bin/python test/EndToEnd/Families/gpus.py --bin build/dev/bin --stand-ins build/dev/test/Runtime/StandIn/lib \
    --only llama,vit,encoder_decoder --target cuda:fibers+cudnn --precision bf16 --wide-heads --calls attention \
    -o build/dev/families-cudnn-attention test/EndToEnd/Families/table.txt | tee "$log/lane-attention"
  [ "${PIPESTATUS[0]}" -eq 0 ] || status=1
  lanes_eight || status=1
  echo "$(grep 'programs on lanes' "$log/lanes"); $(tail -1 "$log/lane-faults"); $(grep 'patterns' "$log/functions"); $(tail -1 "$log/lane-families"); cuDNN: $(tail -1 "$log/lane-cudnn"); its attention: $(tail -1 "$log/lane-attention")"
  return "$status"
}
# Layouts and derivatives are what these two test: kernels are compiled quickly, with the same bits.
part_random() {
  local -x LLMC_KERNEL_EFFORT=${LLMC_KERNEL_EFFORT:-quick}
  build dev PlanCaseTest AnnotatedCaseTest OpCaseTest MeshCaseTest llmc || return 1
  LLMC_TEST_SEED=3 LLMC_TEST_CASES=600 LLMC_TEST_SHOW=1 build/dev/test/Unit/tests/PlanCaseTest | tee "$log/random"
  local status=$? annotated=build/dev/test/Unit/tests/AnnotatedCaseTest
  LLMC_TEST_SEED=7 LLMC_TEST_CASES=60 build/dev/test/Unit/tests/OpCaseTest --gtest_brief=1 || status=1
  LLMC_TEST_SEED=7 LLMC_TEST_CASES=1000 build/dev/test/Unit/tests/MeshCaseTest --gtest_brief=1 || status=1
  LLMC_TEST_SEED=7 LLMC_TEST_CASES=4000 LLMC_TEST_SHOW=1 $annotated --gtest_filter='*Agree*' 2>/dev/null |
    tee "$log/annotated" || status=1
  LLMC_TEST_SEED=7 LLMC_TEST_CASES=1000 LLMC_TEST_SHOW=1 $annotated --gtest_filter='*Refused*' 2>/dev/null |
    tee -a "$log/annotated" || status=1
  python3 test/EndToEnd/loss_terms.py --llmc build/dev/bin/llmc --out "$log/losses" --first 1000 --count 200 \
    --interpret --meshes "pipe=2,data=2; data=2" | tee "$log/losses.txt" || status=1
  grep -c 'plans executed' "$log/random" >/dev/null &&
    echo "$(grep 'plans executed' "$log/random" | paste -sd';'); $(grep -E 'in lockstep|wrong texts' "$log/annotated" |
      paste -sd';'); $(tail -1 "$log/losses.txt")"
  python3 test/EndToEnd/names.py --llmc build/dev/bin/llmc --corpus "$PWD/examples/gpt/corpus.bin" \
    --seeds $(seq 101 250) -o build/dev/names || status=1
  JAX_PLATFORMS=cpu .venv/bin/python test/EndToEnd/oracle/windows.py --llmc build/dev/bin/llmc -o build/dev/windows || status=1
  JAX_PLATFORMS=cpu .venv/bin/python test/EndToEnd/oracle/windows.py --llmc build/dev/bin/llmc --float f32 --engines kernels \
    --convolutions 128 --windows 0 --only 'conv_[0-9]*' -o build/dev/windows-f32 || status=1
  JAX_PLATFORMS=cpu .venv/bin/python test/EndToEnd/oracle/expansions.py --llmc build/dev/bin/llmc --count 32 --seed 7 \
    -o build/dev/expansions || status=1
  JAX_PLATFORMS=cpu .venv/bin/python test/EndToEnd/oracle/expansions.py --llmc build/dev/bin/llmc --cases structure --count 32 \
    --seed 7 -o build/dev/structure || status=1
  JAX_PLATFORMS=cpu .venv/bin/python test/EndToEnd/oracle/expansions.py --llmc build/dev/bin/llmc --cases dynamic --count 32 \
    --seed 7 -o build/dev/dynamic || status=1
  .venv/bin/python test/EndToEnd/oracle/dropout.py --llmc build/dev/bin/llmc -o build/dev/dropout || status=1
  .venv/bin/python test/EndToEnd/oracle/random_loops.py --llmc build/dev/bin/llmc --count 60 -o build/dev/random-loops || status=1
  .venv/bin/python test/EndToEnd/oracle/random_loops.py --llmc build/dev/bin/llmc --count 60 --derived -o build/dev/random-loops ||
    status=1
  return "$status"
}
part_oracles() {
  local -x LLMC_KERNEL_EFFORT=${LLMC_KERNEL_EFFORT:-quick}
  build dev llmc llmc-onnx-backend || return 1
  local llmc=build/dev/bin/llmc out=build/dev/oracles oracle=test/EndToEnd/oracle status=0 how
  local python="env JAX_PLATFORMS=cpu .venv/bin/python"
  $python $oracle/check_gpt.py --llmc $llmc -o $out/example || status=1
  for optimizer in sgd momentum; do
    $python $oracle/check_gpt.py --llmc $llmc --tiny --optimizer $optimizer --microbatches 4 --max-norms 1.0 -o "$out/$optimizer" || status=1
  done
  $python test/EndToEnd/meshes.py --llmc $llmc --model test/EndToEnd/Inputs/gpt-four.mlir --config examples/gpt/gpt.toml \
    --zero-config examples/gpt/gpt-zero1.toml --set training.precision=f64 --steps 1 --bar 1e-12 --gradients 1e-11 \
    -o $out/gradients test/EndToEnd/Inputs/meshes.txt || status=1
  $python $oracle/random_bits.py --llmc $llmc --engine interpret -o $out/bits || status=1
  $python $oracle/semantics.py --llmc $llmc -o $out/semantics || status=1
  $python $oracle/train_steps.py --llmc $llmc -o $out/steps || status=1
  $python $oracle/manual.py --llmc $llmc -o $out/manual || status=1
  $python $oracle/manual.py --llmc $llmc --only '*.derived,*.halves' -o $out/manual || status=1
  $python $oracle/manual.py --llmc $llmc --runs 3 --only '*.stored,*.called' -o $out/manual || status=1
  $python $oracle/loops.py --llmc $llmc --runs 11 -o $out/loops || status=1
  $python $oracle/loops.py --llmc $llmc --runs 11 --only '*.derived' -o $out/loops || status=1
  $python $oracle/delayed_loops.py --llmc $llmc -o $out/delayed_loops || status=1
  $python $oracle/attention.py --llmc $llmc --runs 10 -o $out/attention || status=1
  $python $oracle/raised_ops.py --llmc $llmc --runs 9 -o $out/raised_ops || status=1
  $python $oracle/varied_losses.py --llmc $llmc --runs 4 -o $out/varied_losses || status=1
  $python $oracle/spectral_losses.py --llmc $llmc --runs 4 -o $out/spectral_losses || status=1
  $python $oracle/complex_models.py --llmc $llmc --runs 5 -o $out/complex_models || status=1
  $python $oracle/complex_steps.py --llmc $llmc -o $out/complex_steps || status=1
  $python $oracle/linear_algebra.py --llmc $llmc --runs 4 -o $out/linear_algebra || status=1
  $python $oracle/stored_elements.py --llmc $llmc -o $out/stored_elements || status=1
  $python $oracle/grouped_dot.py --llmc $llmc -o $out/grouped_dot || status=1
  $python $oracle/dropless.py --llmc $llmc -o $out/dropless || status=1
  $python test/EndToEnd/pairs.py --llmc $llmc -o $out/all_pairs docs/composition.md || status=1
  $python test/EndToEnd/pairs.py --llmc $llmc --only "fp8 contractions" -o $out/pairs docs/composition.md || status=1
  for how in --kernels --devices=2 --devices=4; do
    build/dev/bin/llmc-onnx-backend /usr/share/libonnx-testdata/data test/EndToEnd/Onnx/tests.txt \
      test/EndToEnd/Onnx/unsupported.txt "$how" || status=1
  done
  $python $oracle/prepared.py --llmc $llmc --random 150 -o $out/prepared || status=1
  $python $oracle/onnx_steps.py --llmc $llmc -o $out/onnx_steps || status=1
  $python $oracle/onnx_gradients.py --llmc $llmc --runs 7 -o $out/onnx_gradients || status=1
  echo "oracles: exit status $status"
  return "$status"
}
part_derivatives() {
  build dev llmc llmc-run || return 1
  JAX_PLATFORMS=cpu .venv/bin/python test/EndToEnd/oracle/derivatives.py --llmc build/dev/bin/llmc \
    --table docs/derivatives.md -o build/dev/derivatives
}
part_fuzz() {
  build asan llmc llmc-model-fuzz llmc-plan-fuzz || return 1
  build dev llmc || return 1
  python3 test/Fuzz/fuzz.py --build build/asan --compiler build/dev/bin/llmc -o build/asan/fuzz \
    --count 10000 --minutes "$(((minutes * 60 - (SECONDS - started)) / 60 + 1))"
}
part_readers() {
  build dev llmc || return 1
  build fuzz llmc-fuzz-text llmc-fuzz-config llmc-fuzz-plan llmc-fuzz-arrays llmc-fuzz-onnx || return 1
  python3 test/Fuzz/readers.py --build build/fuzz --compiler build/dev/bin/llmc -o build/fuzz/readers --seconds 240 --models 100000
}
part_mutate() {
  local seed=${LLMC_MUTATION_SEED:-2026}
  scripts/mutate.py --seed "$seed" --count 100 --minutes "$minutes" --table docs/mutation.md
}
part_families() {
  build dev llmc || return 1
  .venv/bin/python test/EndToEnd/Families/train_families.py --llmc build/dev/bin/llmc --jobs "$(nproc)" -o build/dev/families
}
part_narrow() {
  build dev llmc || return 1
  local precision
  for precision in bf16 f16 fp8; do
    .venv/bin/python test/EndToEnd/Families/narrow_families.py --llmc build/dev/bin/llmc --precision $precision \
      -o "build/dev/narrow-$precision" test/EndToEnd/Families/table.txt || return 1
  done &&
    .venv/bin/python test/EndToEnd/oracle/narrow_curves.py --llmc build/dev/bin/llmc -o build/dev/curves &&
    .venv/bin/python test/EndToEnd/oracle/narrow_curves.py --llmc build/dev/bin/llmc --precision fp8 -o build/dev/curves-fp8
}
part_layouts() {
  local -x LLMC_KERNEL_EFFORT=${LLMC_KERNEL_EFFORT:-quick}
  build dev llmc llmc-opt || return 1
  .venv/bin/python test/EndToEnd/Families/collectives.py --llmc build/dev/bin/llmc -o build/dev/collectives &&
    .venv/bin/python test/EndToEnd/Families/remarks.py --llmc build/dev/bin/llmc --llmc-opt build/dev/bin/llmc-opt \
      -o build/dev/remarks &&
    .venv/bin/python test/EndToEnd/Families/repeated.py --llmc build/dev/bin/llmc --llmc-opt build/dev/bin/llmc-opt \
      -o build/dev/remarks &&
    .venv/bin/python test/EndToEnd/Families/recipes.py --llmc build/dev/bin/llmc -o build/dev/recipes &&
    .venv/bin/python test/EndToEnd/Strategies/strategies.py --llmc build/dev/bin/llmc -o build/dev/strategies &&
    .venv/bin/python test/EndToEnd/Families/tutorial.py --llmc build/dev/bin/llmc --jobs "$(nproc)" -o build/dev/tutorial
}

part_torch() {
  build dev llmc || return 1
  .venv/bin/python test/EndToEnd/Torch/check.py --llmc build/dev/bin/llmc --all --jobs "$(nproc)" -o build/dev/torch &&
    .venv/bin/python test/EndToEnd/raising.py --llmc build/dev/bin/llmc -o build/dev/raising train onnx &&
    JAX_PLATFORMS=cpu .venv/bin/python test/EndToEnd/raising.py --llmc build/dev/bin/llmc -o build/dev/raising train jax
}

part_processes() {
  build dev llmc llmc-run llmc-launch llmc-gloo || return 1
  local job=(--bin build/dev/bin --model test/EndToEnd/Inputs/gpt-four.mlir --config examples/gpt/gpt.toml
    --data examples/gpt/corpus.bin)
  .venv/bin/python test/EndToEnd/hosts.py "${job[@]}" --faults 150 --seed 7 -o build/dev/processes &&
    .venv/bin/python test/EndToEnd/buckets.py --bin build/dev/bin --inputs test/EndToEnd/Inputs --example examples/gpt \
      -o build/dev/buckets &&
    .venv/bin/python test/EndToEnd/processes.py "${job[@]}" --meshes test/EndToEnd/Inputs/meshes.txt \
      --zero-config examples/gpt/gpt-zero1.toml --faults 50 --seed 7 -o build/dev/processes
}

part_checkpoints() {
  build dev llmc llmc-run llmc-launch llmc-export llmc-gloo || return 1
  .venv/bin/python test/EndToEnd/checkpoints.py same meshes precision processes --bin build/dev/bin \
    --examples examples --inputs test/EndToEnd/Inputs -o build/dev/checkpoints &&
    .venv/bin/python test/EndToEnd/checkpoint_faults.py --bin build/dev/bin --model test/EndToEnd/Inputs/gpt-tiny.mlir \
      --config examples/gpt/gpt.toml --data examples/gpt/corpus.bin -o build/dev/checkpoints --kills 200 --seed 7
}

passed=0
for part in "$@"; do
  if ! declare -F "part_$part" >/dev/null; then
    echo "nightly: expected ${all[*]}, got '$part'"
    exit 2
  fi
  echo "=== $part"
  started=$SECONDS
  "part_$part" 2>&1 | tee "$log/$part.log"
  if [ "${PIPESTATUS[0]}" -eq 0 ]; then
    passed=$((passed + 1)) verdict=passed
  else
    verdict=FAILED
  fi
  echo "figure: $part $verdict in $(((SECONDS - started + 30) / 60)) minutes: $(tail -1 "$log/$part.log")"
done
echo "nightly: $passed of $# parts passed"
[ "$passed" -eq $# ]
