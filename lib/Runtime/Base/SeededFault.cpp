//===- SeededFault.cpp - Mistakes made on demand --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Tools/llmc/seeded-faults.test
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/SeededFault.h"

#if LLMC_SEEDED_FAULTS

#include "llmc/Runtime/Base/Status.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

using namespace llmc;

static std::optional<Fault> readEnvironment() {
  const char *text = std::getenv("LLMC_FAULT");
  if (!text || !*text)
    return {};
  std::string_view asked = text;
#define LLMC_SEEDED_FAULT(name, group, breaks)                                 \
  if (asked == #name)                                                          \
    return Fault::name;
#include "llmc/Runtime/Base/SeededFaults.def"
  std::fprintf(stderr,
               "error[usage]: expected LLMC_FAULT to name a fault of "
               "SeededFaults.def, got '%s'\n",
               text);
  std::exit(rt::exitCode(rt::ErrorKind::usage));
}

// Read before main: a test whose fault is misspelt must not pass for one that
// no test catches, nor run without a fault.
static const std::optional<Fault> kSeeded = readEnvironment();

bool llmc::isSeeded(Fault fault) { return kSeeded == fault; }

#endif // LLMC_SEEDED_FAULTS
