//===- WalkthroughScratch.cpp - What the library asks for -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of its own: a plan and a backend have contractions of one name.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Comm/Backend.h"
#include "llmc/Runtime/Executor/Contractions.h"

namespace llmc::rt::test {

int64_t scratchOf(const plan::Contraction &contraction, int threads);

int64_t scratchOf(const plan::Contraction &contraction, int threads) {
  Result<const Backend *> backend = findBackend("cpu");
  if (!backend.ok()) {
    return 0;
  }
  Result<uint64_t> bytes =
      (*backend)->contractionScratch(shapeOf(contraction, threads, "matmul"));
  return bytes.ok() ? static_cast<int64_t>(*bytes) : 0;
}

} // namespace llmc::rt::test
