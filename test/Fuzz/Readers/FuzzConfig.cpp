//===- FuzzConfig.cpp - Configurations of any bytes -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Config/Sources.h"

using namespace llmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  rt::Result<rt::Config> config = rt::parseConfig(text, "fuzz.toml", {});
  if (config) {
    (void)rt::findSources(*config);
  }
  return 0;
}
