//===- GraphContext.h - A context with every graph dialect ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests of graph ops share: a context in which all graph dialects and
// their answers are registered, and which keeps the diagnostics.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_DIALECT_GRAPH_GRAPHCONTEXT_H
#define LLMC_TEST_DIALECT_GRAPH_GRAPHCONTEXT_H

#include "llmc/Support/HostTensor.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace llmc::test {

/// Names of the dialects whose ops must answer.
ArrayRef<StringRef> getGraphDialects();

class GraphContext {
public:
  GraphContext();
  /// Of a context that has more.
  explicit GraphContext(std::unique_ptr<MLIRContext> given);

  MLIRContext *get() { return context.get(); }
  /// Null when `text` has an error; see `getMessages`.
  mlir::OwningOpRef<ModuleOp> parse(StringRef text);
  /// All diagnostics up to now, one on each line; forgets them.
  std::string takeMessages();

private:
  void keepMessages();

  std::unique_ptr<MLIRContext> context;
  std::string messages;
};

/// The first function of the module.
mlir::func::FuncOp getFunction(ModuleOp module);

/// Random values of `argument`'s type. Floats lie in [-1, 1) and integers in
/// [0, 4) unless attributes on the argument say otherwise:
///   test.low, test.high   bounds of the values (f64)
///   test.values           the values themselves (dense elements)
HostTensor drawArgument(mlir::func::FuncOp function, unsigned argument,
                        uint64_t seed);
/// Random floats in [-1, 1), or zeros for other types.
HostTensor drawTensor(RankedTensorType type, uint64_t seed);

} // namespace llmc::test

#endif // LLMC_TEST_DIALECT_GRAPH_GRAPHCONTEXT_H
