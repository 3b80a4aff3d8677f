#!/usr/bin/env bash
# test.sh: installs what is missing, builds, runs every test. The last line is
# "N passed, N failed, N skipped"; skipped tests are listed with what they lack.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
scripts/setup.sh
echo "build: preset dev (clang-22, -O1), in build/dev"
installed=$SECONDS
scripts/build.sh dev all llmc-test-depends
built=$SECONDS
echo "build: $((built - installed)) s"
results=build/dev/test-results.json
status=0
/usr/lib/llvm-22/bin/lit -q --timeout 600 -j "$(nproc)" --output "$results" build/dev/test build/dev/test/Unit || status=$?
python3 scripts/test_summary.py "$results"
echo "time: packages $((installed - started)) s, build $((built - installed)) s, tests $((SECONDS - built)) s"
python3 scripts/test_summary.py --counts "$results"
exit "$status"
