//===- CallPlace.h - Where an inlined op was called -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JAX prints no place for the ops of its own jitted functions (jnp.linalg.qr).
// Inlined, such an op takes the place of its call, so that messages name a line
// of the user's; what asks whose op it is can tell the two apart.
//
//   loc("jit(f)/jit(qr)/geqrf"(fused<"call">["f"("model.py":7:10)]))
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_CALLPLACE_H
#define LLMC_SUPPORT_CALLPLACE_H

#include "mlir/IR/Location.h"

namespace llmc {

/// `place`, as that of the call of an op without a place.
mlir::Location makeCallPlace(mlir::Location place);
/// Made by makeCallPlace.
bool isCallPlace(mlir::Location location);
/// A file and line stand in `location`, and not as those of a call.
bool hasOwnPlace(mlir::Location location);

} // namespace llmc

#endif // LLMC_SUPPORT_CALLPLACE_H
