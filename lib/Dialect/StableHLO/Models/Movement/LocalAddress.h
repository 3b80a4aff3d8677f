//===- LocalAddress.h - Addresses into a device's part ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gather and scatter into an operand of which a device holds some rows: global
// row numbers become positions of the device's part, and those of other
// devices are recognised.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_LOCALADDRESS_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_LOCALADDRESS_H

#include "Indexing.h"

namespace llmc::stablehlo {

struct LocalAddresses {
  /// In the shape of the device's indices.
  Value indices;
  /// Which positions address this device's rows, in the shape of the indices
  /// without their vector; null when all do. Only for gather.
  Value isHere;
};

/// The indices of a gather (`clamp`: limited to the whole operand first) or of
/// a scatter (foreign and padded rows become out of range) as this device's;
/// the op's `indices` itself when no addressed dimension is split or padded.
LocalAddresses buildLocalAddresses(graph::LocalForm &form, Value operand,
                                   Value indices, const Addressing &addressing,
                                   bool clamp);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_LOCALADDRESS_H
