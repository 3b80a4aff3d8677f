//===- FetchNames.h - What sums and other slots are called ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient of `W` is fetched as "grad.W". The gradient of a part of a state
// is fetched as a box of the whole's:
//
//   #dist.port<gradient @W.1>, @W.1 part of @W   ->   "grad.W"
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_PROGRAM_FETCHNAMES_H
#define LLMC_ANALYSIS_PROGRAM_FETCHNAMES_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"
#include "mlir/IR/SymbolTable.h"
#include <optional>

namespace llmc {

/// The part of a state whose gradient is summed in the slot of `port`; else
/// null.
dist::StateOp getSummedPart(mlir::SymbolTableCollection &tables,
                            ModuleOp module, dist::PortAttr port);

/// The name of the gradient of `state`, a symbol.
std::string getGradientName(StringRef state);

/// The user's name of the state whose gradient has this name; nothing where it
/// is no gradient's.
std::optional<StringRef> parseGradientName(StringRef name);

/// The name of a slot in plans: a sum's kind and state or metric, else the
/// symbol or name of the port.
std::string getSlotName(dist::PortAttr port);

/// The name under which the sum in the slot of `port` is fetched.
std::string getFetchName(mlir::SymbolTableCollection &tables, ModuleOp module,
                         dist::PortAttr port);

} // namespace llmc

#endif // LLMC_ANALYSIS_PROGRAM_FETCHNAMES_H
