//===- Remarks.h - What a program costs, as a file --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `llmc compile --remarks=<file>` writes the remarks of category `costs` of all
// passes, one on each line, in the order of the passes and of the text:
//
//     model.py:31:7: gather: 'w' is gathered over {"data"} ...
//
// Test: test/Tools/llmc/remarks.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_REMARKS_H
#define LLMC_TOOLS_LLMC_REMARKS_H

#include "llmc/Runtime/Base/Status.h"
#include "mlir/IR/MLIRContext.h"
#include <string>

namespace llmc::driver {

/// Collects remarks from here on; what is emitted before is lost.
class RemarkFile {
public:
  /// An empty path: nobody listens, and passes make no text.
  RemarkFile(mlir::MLIRContext &context, std::string path);

  rt::Status write() const;

private:
  std::string path, text;
};

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_REMARKS_H
