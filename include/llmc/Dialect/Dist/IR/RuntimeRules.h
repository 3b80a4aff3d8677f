//===- RuntimeRules.h - Draws and rules as the runtime has them -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Initial values and hyper values are computed by the runtime's functions
// (Runtime/Base), in the interpreter and in a plan alike. Here the attributes
// of `dist` become the runtime's structs, in one place.
//
//   #dist.draw<normal, 0.02>                        Draw{normal, 0, 0.02}
//   #dist.rule<step>                                the number of the step,
//   from 0 #dist.rule<schedule, "step", [1.0]>             the same from 1
//   #dist.rule<schedule, "constant", [0.001]>       0.001
//   #dist.rule<schedule, "warmup_cosine", [base, warmup, total, last]>
//
// Constants of a schedule are base, warmup, total, last; those at the end that
// are 0 may be absent.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_RUNTIMERULES_H
#define LLMC_DIALECT_DIST_IR_RUNTIMERULES_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Runtime/Base/DType.h"
#include "llmc/Runtime/Base/HyperRule.h"
#include "llmc/Runtime/Base/Random.h"

namespace llmc::dist {

rt::Draw getRuntimeDraw(DrawAttr draw);

/// Nothing for an unknown schedule, or for more than four constants.
std::optional<rt::HyperRule> getRuntimeRule(RuleAttr rule);

/// Nothing for types that the runtime does not store.
std::optional<rt::DType> getRuntimeDType(mlir::Type element);

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_RUNTIMERULES_H
