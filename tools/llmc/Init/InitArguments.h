//===- InitArguments.h - What arguments of a model may be -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A guess that `llmc init` writes down for the user to read: what the file
// says; then trees of floats are parameters, and what has no tree above it is
// an input. The import decides, by what the configuration then says.
//
// Test: test/EndToEnd/Families/init.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_INITARGUMENTS_H
#define LLMC_TOOLS_LLMC_INITARGUMENTS_H

#include "llmc/Import/Program/MakeProgram.h"
#include "llmc/Runtime/Base/ComplexNames.h"

namespace llmc::driver {

struct GuessedArgument {
  enum class Kind { Input, Parameter, Other };
  Kind kind = Kind::Other;
  std::string name, fullName, root;
  /// The end of the name where it is a part of a complex argument; else "".
  std::string part;
  mlir::RankedTensorType type;
  /// The file has its initial value.
  bool hasValue = false;

  /// Of the argument in the file.
  std::string wholeName() const {
    return name.substr(0, name.size() - part.size());
  }
  /// Whether what names the real part speaks for it too.
  bool isImaginary() const { return part == rt::kPartEnds[1]; }
  bool isInteger() const {
    return !isa<mlir::FloatType>(type.getElementType());
  }
};

/// Whether the file computes new states itself, with an optimizer of its own.
bool isWholeStep(const import::Graph &graph);

std::vector<GuessedArgument> guessArguments(const import::Graph &graph);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_INITARGUMENTS_H
