//===- FuzzText.cpp - Models of any bytes ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes are scanned for their ops and imported as a model, as far as the first
// phase. An attribute lives as long as its context, so that a context serves a
// few inputs only.
//
//===----------------------------------------------------------------------===//

#include "llmc/Import/StableHLO/Import.h"
#include "llmc/Import/Text/ScanOps.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <cstdlib>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

using namespace llmc;

/// What the texts of test/Import and models of one input need.
constexpr const char *kConfig = R"(
[mesh]
axes = ["data", "tensor"]
[data.inputs]
x = 0
[[init]]
match = "*"
draw = "zeros"
)";

static mlir::MLIRContext &getContext() {
  constexpr int kInputs = 32;
  static std::unique_ptr<mlir::MLIRContext> context;
  static int uses = 0;
  if (uses++ % kInputs == 0) {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(
        registry, mlir::MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
  }
  return *context;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int file = memfd_create("model", 0);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size))
    std::abort();
  mlir::MLIRContext &context = getContext();
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  import::scanOps(context, {reinterpret_cast<const char *>(data), size});
  static const auto config = rt::parseConfig(kConfig, "fuzz.toml", {});
  // What is said of layouts is read for several devices only.
  for (const char *mesh : {"", "data=2,tensor=4"})
    (void)import::importStableHLO(context,
                                  "/proc/self/fd/" + std::to_string(file),
                                  {*config, {}, mesh, {}, false});
  close(file);
  return 0;
}
