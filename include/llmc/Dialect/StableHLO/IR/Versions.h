//===- Versions.h - Since when StableHLO has an op --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// StableHLO promises to read texts of its versions from 0.9.0 on; most ops are
// as old as that. Source: the least versions that openxla/stablehlo states in
// stablehlo/dialect/VhloOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_VERSIONS_H
#define LLMC_DIALECT_STABLEHLO_IR_VERSIONS_H

#include "llvm/ADT/StringRef.h"

namespace llmc::stablehlo {

/// "1.4.0" for "stablehlo.tan"; "" for what is no op of StableHLO, though texts
/// have it as a call.
llvm::StringRef getFirstVersion(llvm::StringRef op);

} // namespace llmc::stablehlo

#endif // LLMC_DIALECT_STABLEHLO_IR_VERSIONS_H
