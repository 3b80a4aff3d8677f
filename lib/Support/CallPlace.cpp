//===- CallPlace.cpp - Where an inlined op was called ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Import/StableHLO/call-places.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Support/CallPlace.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

static constexpr llvm::StringLiteral kCall = "call";

Location llmc::makeCallPlace(Location place) {
  MLIRContext *context = place.getContext();
  return FusedLoc::get(context, {place}, StringAttr::get(context, kCall));
}

bool llmc::isCallPlace(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  if (!fused)
    return false;
  auto mark = dyn_cast_or_null<StringAttr>(fused.getMetadata());
  return mark && mark.getValue() == kCall;
}

bool llmc::hasOwnPlace(Location location) {
  return location
      ->walk([](Location part) {
        if (isCallPlace(part))
          return WalkResult::skip();
        return isa<FileLineColLoc>(part) ? WalkResult::interrupt()
                                         : WalkResult::advance();
      })
      .wasInterrupted();
}
