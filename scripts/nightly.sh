#!/usr/bin/env bash
# nightly.sh: what is too slow for every change. Each part can be run alone:
#   scripts/nightly.sh [runtime] [tsan] [asan] [gcc] [cross] [faults] [plans] [random]
# runtime  the runtime house alone, without LLVM, and its tests
# tsan     the runtime under ThreadSanitizer: pool, cursors, collectives; and a
#          plan of the dev build on eight devices, in several orders
# asan     everything under AddressSanitizer and UBSan: mutated plans and bad
#          input of every kind among the tests (MLIR itself is not instrumented)
# gcc      everything compiled by g++ without a precompiled header
# cross    trains on each mesh of test/EndToEnd/Inputs/meshes.txt with all options
# faults   which test catches each fault of test/EndToEnd/faults.md: at least 38
# plans    takes away waits, breaks, shuffles and poisons the plans of these meshes
# random   600 random programs of each kind, compiled to plans for their meshes and executed
# The last line is "nightly: N of M parts passed".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
scripts/setup.sh
[ $# -gt 0 ] || set -- runtime tsan asan gcc cross faults plans random
# Containers and allocators that cross into MLIR carry no marks; MLIR keeps its globals.
export ASAN_OPTIONS=allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0:strict_string_checks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1
lit=/usr/lib/llvm-22/bin/lit

# run_tests preset [lit-argument...]: builds what tests need, runs them.
run_tests() {
  local preset=$1 status=0
  shift
  scripts/build.sh "$preset" all llmc-test-depends || return 1
  local results=build/$preset/test-results.json
  "$lit" -q --timeout 1800 -j "$(nproc)" --output "$results" "$@" || status=1
  python3 scripts/test_summary.py "$results"
  python3 scripts/test_summary.py --counts "$results"
  return "$status"
}

part_runtime() { run_tests runtime build/runtime/test build/runtime/test/Unit; }
part_tsan() {
  local status=0 out=build/tsan/eight order
  run_tests tsan build/tsan/test/Unit || status=1
  scripts/build.sh dev llmc || return 1
  build/dev/bin/llmc compile test/EndToEnd/Inputs/gpt-four.mlir --config examples/gpt/gpt-zero1.toml \
    --mesh pipe=2,data=2,tensor=2 --set training.microbatches=4 --threads 1 -o "$out" || return 1
  for order in 1 2 3 4 5 6 7 8; do
    build/tsan/bin/llmc-run "$out/plan.llmc" --data examples/gpt/corpus.bin --steps 10 \
      --threads $((order % 4 + 1)) --shuffle "$order" --trust-kernels >"$out/$order.log" 2>&1 ||
      { cat "$out/$order.log"; status=1; }
  done
  return "$status"
}
part_asan() { run_tests asan build/asan/test build/asan/test/Unit; }
part_gcc() { run_tests gcc build/gcc/test build/gcc/test/Unit; }
part_cross() {
  scripts/build.sh dev llmc || return 1
  python3 test/EndToEnd/meshes.py --cross --llmc build/dev/bin/llmc \
    --model test/EndToEnd/Inputs/gpt-four.mlir --config examples/gpt/gpt.toml \
    --zero-config examples/gpt/gpt-zero1.toml -o build/dev/cross test/EndToEnd/Inputs/meshes.txt
}
part_faults() {
  cmake --preset dev >/dev/null || return 1 # the switch is on in the preset
  scripts/build.sh dev llmc llmc-plan-probe OpCaseTest MeshCaseTest || return 1
  python3 test/EndToEnd/faults.py --build build/dev -o build/dev/faults --table docs/faults.md
}
part_plans() {
  scripts/build.sh dev llmc llmc-plan-probe || return 1
  python3 test/EndToEnd/probe_plans.py --bin build/dev/bin --data examples/gpt/corpus.bin \
    --model test/EndToEnd/Inputs/gpt-four.mlir --config examples/gpt/gpt.toml \
    --zero-config examples/gpt/gpt-zero1.toml -o build/dev/plans test/EndToEnd/Inputs/meshes.txt
}
part_random() {
  scripts/build.sh dev PlanCaseTest || return 1
  LLMC_TEST_SEED=3 LLMC_TEST_CASES=600 LLMC_TEST_SHOW=1 build/dev/test/Unit/tests/PlanCaseTest
}

passed=0
for part in "$@"; do
  if ! declare -F "part_$part" >/dev/null; then
    echo "nightly: expected runtime, tsan, asan, gcc, cross, faults, plans or random, got '$part'"
    exit 2
  fi
  echo "=== $part"
  if "part_$part"; then
    passed=$((passed + 1))
  else
    echo "FAILED: $part"
  fi
done
echo "nightly: $passed of $# parts passed"
[ "$passed" -eq $# ]
