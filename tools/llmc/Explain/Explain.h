//===- Explain.h - What was decided, where and why --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `llmc explain` prints what a plan needs and moves: memory by kind and stage,
// collectives, gathers, replication, padding, conflicts, recomputation,
// kernels. Each line has the line of the user's file; what is equal in several
// blocks is one line, and without `--all` a section is cut after its largest
// rows. `docs/explain.md` reads one.
//
// Tests: test/Tools/llmc/explain.test, test/EndToEnd/Families/explain.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_EXPLAIN_H
#define LLMC_TOOLS_LLMC_EXPLAIN_H

#include "../Driver/Remarks.h"
#include "../Options/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace llmc::driver {

/// Of a module after phase `plan` and the remarks of its passes.
rt::Result<std::string> explain(mlir::ModuleOp module, const Remarks &remarks,
                                const Options &options,
                                const rt::Config &config);

/// `llmc explain`. Errors: as `llmc compile`, those of `--strict` and of memory
/// after what is explained.
rt::Status runExplain(const Options &options);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_EXPLAIN_H
