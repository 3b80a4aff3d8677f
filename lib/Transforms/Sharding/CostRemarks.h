//===- CostRemarks.h - Costs of a program, one line for equals --*- C++ -*-===//
//-*-//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remarks of category `costs` say what the layouts of a program cost that its
// user may want otherwise: conflicts, replicated work, gathers, padding. `llmc
// compile --remarks` writes them to a file. Facts that differ in numbers of
// blocks alone (`blocks.3.w`) and have one place in the model's text are one
// remark, `blocks.*.w`, with how often it is true.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_COSTREMARKS_H
#define LLMC_LIB_TRANSFORMS_SHARDING_COSTREMARKS_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace llmc {

/// Whether somebody listens: otherwise no text need be made.
bool wantsRemarks(mlir::MLIRContext &context);

class CostRemarks {
public:
  explicit CostRemarks(StringRef category = "costs") : category(category) {}
  /// A fact of the kind `name`. Text without decimal points: numbers after a
  /// point are those of blocks.
  void add(StringRef name, mlir::Location loc, const std::string &text);
  /// In the order in which they were added first.
  void emit() const;

private:
  struct Fact {
    std::string name;
    mlir::Location loc;
    std::string text;
    int64_t times = 0;
  };
  StringRef category;
  std::vector<Fact> facts;
  llvm::StringMap<size_t> numbers;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_SHARDING_COSTREMARKS_H
