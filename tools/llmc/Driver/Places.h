//===- Places.h - Lines of the user's file ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a text has locations, a place is that of the program that printed it,
// `model.py:31:7`. Of an argument such a text has the name alone, and then the
// place is the line of the text that declares it:
//
//     "params['w']"  ->  model.mlir:8
//
// Test: test/Tools/llmc/explain.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_PLACES_H
#define LLMC_TOOLS_LLMC_PLACES_H

#include "llvm/ADT/StringMap.h"
#include <string>

namespace llmc::driver {

class Places {
public:
  /// Reads the text of a model; of what is no text (an .onnx file) it knows
  /// nothing, and names stay names.
  explicit Places(const std::string &model);

  /// A place as `describeLocation` or a plan has it ("mul (model.py:31:7)"),
  /// as a line of a file; of what has none, the line of the model's function.
  std::string resolve(const std::string &place) const;

private:
  std::string model;
  /// The first line of a public function; the file alone where it has none.
  std::string main;
  /// Name of a location -> line.
  llvm::StringMap<int64_t> lines;
};

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_PLACES_H
