//===- ReadModule.h - Foreign text under limits -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's parser recurses over nesting and trusts its input; here text of
// others is scanned first: models as JAX prints them, optimizers of the user.
//
// Tests: test/Import/StableHLO/malformed.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_IMPORT_TEXT_READMODULE_H
#define LLMC_IMPORT_TEXT_READMODULE_H

#include "llmc/Runtime/Base/Status.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llmc::import {

/// Error 3 for what no reader should see: bytecode, NUL bytes, other encodings
/// than UTF-8, brackets that nest too deep. `file` is where `text` is from.
rt::Status checkText(llvm::StringRef text, const std::string &file);

/// Reads and checks the text of `path`. Errors: 3 (malformed: `checkText`,
/// syntax, verification), 5 (unknown ops, all of them in one table).
rt::Result<mlir::OwningOpRef<mlir::ModuleOp>>
readModule(mlir::MLIRContext &context, const std::string &path);

/// The same of `text`, which messages say is from `file`.
rt::Result<mlir::OwningOpRef<mlir::ModuleOp>>
parseText(mlir::MLIRContext &context, llvm::StringRef text,
          const std::string &file);

} // namespace llmc::import

#endif // LLMC_IMPORT_TEXT_READMODULE_H
