//===- FuzzOnnx.cpp - ONNX models of any bytes ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes are read as a model, its ops are listed, and it is imported as far as
// the first phase. The model lies in no folder, so that data beside it would
// have to be found elsewhere.
//
//===----------------------------------------------------------------------===//

#include "llmc/Import/Onnx/Import.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <cstdlib>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

using namespace llmc;

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
  std::string path = "/proc/self/fd/" + std::to_string(file);
  mlir::MLIRContext &context = getContext();
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  (void)onnx::listOps(path);
  (void)onnx::readGraph(context, path, {});
  close(file);
  return 0;
}
