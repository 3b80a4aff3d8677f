//===- FuzzPlan.cpp - Plans of any bytes ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes are read as a plan, and what is one is verified as the loader does it.
// A plan carries a hash of itself, so bytes as they come are refused at once;
// the hash is therefore made good first.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Verify/PlanVerify.h"

using namespace llmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  constexpr size_t kHeader = 32;
  if (size >= kHeader) {
    rt::plan::resealPlan(bytes);
  }
  if (auto plan = rt::plan::parsePlan(bytes)) {
    (void)rt::plan::verifyPlan(*plan);
  }
  return 0;
}
