//===- WriterFaults.cpp - Mistakes of the writer for GPUs -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See WriterFaults.h.
//
// Test: test/Codegen/writer-faults.test
//
//===----------------------------------------------------------------------===//

#include "WriterFaults.h"

#if LLMC_SEEDED_FAULTS

#include "llmc/Runtime/Base/Status.h"
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace llmc::kernels {

static std::optional<WriterFault> readWriterFault() {
  const char *text = std::getenv("LLMC_WRITER_FAULT");
  if (!text || !*text)
    return {};
  std::string_view asked = text;
#define LLMC_WRITER_FAULT(name, breaks)                                        \
  if (asked == #name)                                                          \
    return WriterFault::name;
#include "WriterFaults.def"
#define LLMC_WRITER_FAULT(name, breaks)                                        \
  if (asked == #name)                                                          \
    return WriterFault::name;
#include "Calls/CallFaults.def"
  std::fprintf(stderr,
               "error[usage]: expected LLMC_WRITER_FAULT to name a fault of "
               "WriterFaults.def or CallFaults.def, got '%s'\n",
               text);
  std::exit(rt::exitCode(rt::ErrorKind::usage));
}

// Read before main, as in SeededFault.cpp.
static const std::optional<WriterFault> seededFault = readWriterFault();

bool isSeeded(WriterFault fault) { return seededFault == fault; }

} // namespace llmc::kernels

#endif // LLMC_SEEDED_FAULTS
