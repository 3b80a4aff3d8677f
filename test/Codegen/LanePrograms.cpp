//===- LanePrograms.cpp - Programs on a processor and on lanes ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LanePrograms.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include <cstring>
#include <gtest/gtest.h>

namespace llmc::test {

static int64_t countProducts(KernelRunner &runner) {
  int64_t products = 0;
  runner.getFunction().walk([&](dist::ContractOp) { ++products; });
  return products;
}

void expectSameBits(KernelRunner &processor, const std::string &text,
                    uint64_t seed, const std::string &what) {
  KernelRunner lanes(text, seed, RunOn::Lanes);
  ASSERT_TRUE(lanes.isReady()) << lanes.takeMessages() << what;
  ASSERT_TRUE(lanes.run()) << lanes.getLaneError() << what;
  // A kernel adds up what cuBLASLt cannot in another order than the library of
  // a processor; test/Codegen/CallLanesTest.cpp compares these.
  if (countProducts(lanes) != countProducts(processor))
    return;
  for (auto [number, expected] : llvm::enumerate(processor.getResults())) {
    const HostTensor &got = lanes.getResults()[number];
    ASSERT_EQ(got.getNumBytes(), expected.getNumBytes());
    // A tensor of no elements has no bytes to compare.
    if (got.getNumBytes() == 0)
      continue;
    EXPECT_EQ(std::memcmp(got.bytes(), expected.bytes(), got.getNumBytes()), 0)
        << "result " << number << "\n"
        << what;
  }
}

bool runBoth(const std::string &text, uint64_t seed, const std::string &what) {
  KernelRunner processor(text, seed);
  if (!processor.run())
    return false;
  expectSameBits(processor, text, seed, what);
  return true;
}

static std::string fill(StringRef text, int64_t rows, int64_t columns,
                        const std::string &type) {
  std::string filled;
  for (char c : text)
    filled += c == 'R'   ? std::to_string(rows)
              : c == 'C' ? std::to_string(columns)
              : c == 'T' ? type
                         : std::string(1, c);
  return filled;
}

void expectSame(StringRef text, int64_t rows, int64_t columns,
                const std::string &type) {
  std::string filled = fill(text, rows, columns, type);
  EXPECT_TRUE(runBoth(filled, /*seed=*/columns, filled));
}

} // namespace llmc::test
