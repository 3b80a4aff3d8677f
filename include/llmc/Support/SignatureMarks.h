//===- SignatureMarks.h - Attributes of arguments and results ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function keeps the attributes of all its arguments as one uniqued array,
// and so those of its results: `setArgAttr` makes an array as long as the
// signature, which lives as long as the context. Who marks many arguments
// collects the marks here and writes them once.
//
// Tests: test/Import/StableHLO/states.mlir, test/Transforms/Partition
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_SIGNATUREMARKS_H
#define LLMC_SUPPORT_SIGNATUREMARKS_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <vector>

namespace llmc {

/// The marks of a function, to be changed and written back. What is not yet
/// written is seen here alone.
class SignatureMarks {
public:
  explicit SignatureMarks(mlir::FunctionOpInterface function);

  mlir::NamedAttrList &ofArgument(unsigned i) { return arguments[i]; }
  mlir::NamedAttrList &ofResult(unsigned i) { return results[i]; }

  void write();

private:
  mlir::FunctionOpInterface function;
  std::vector<mlir::NamedAttrList> arguments, results;
};

} // namespace llmc

#endif // LLMC_SUPPORT_SIGNATUREMARKS_H
