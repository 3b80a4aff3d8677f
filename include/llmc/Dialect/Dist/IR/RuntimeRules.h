//===- RuntimeRules.h - Draws and rules as the runtime has them -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Initial values and hyper values are computed by the runtime's functions
// (Runtime/Base), in the interpreter and in a plan alike. Here the attributes
// of `dist` become the runtime's structs, in one place.
//
//   #dist.draw<normal, 0.02>               Draw{normal, a = 0, b = 0.02}
//   #dist.rule<step, base = 1.0>           HyperRule{step, base = 1}
//   #dist.data<"x", kind = array>          DataRule{array}
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_RUNTIMERULES_H
#define LLMC_DIALECT_DIST_IR_RUNTIMERULES_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Runtime/Base/DataRule.h"
#include "llmc/Runtime/Base/HyperRule.h"
#include "llmc/Runtime/Base/Random.h"
#include "llmc/Support/StoredElements.h"

namespace llmc::dist {

rt::Draw getRuntimeDraw(DrawAttr draw);

rt::HyperRule getRuntimeRule(RuleAttr rule);

rt::DataRule getRuntimeRule(DataAttr data);

/// The attribute of an input that lies `offset` rows after a sample's first.
DataAttr getDataAttr(mlir::MLIRContext *context, llvm::StringRef source,
                     const rt::DataRule &rule, int64_t offset);

using llmc::getRuntimeDType;

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_RUNTIMERULES_H
