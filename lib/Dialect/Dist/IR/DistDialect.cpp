//===- DistDialect.cpp - The dist dialect ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers attributes and ops. The marks of the dialect on other dialects' ops
// are verified in Marks.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"

using namespace mlir;
using namespace llmc::dist;

#include "llmc/Dialect/Dist/IR/DistDialect.cpp.inc"

namespace {
/// Layouts are long and repeat: they print as aliases.
struct DistAsmInterface : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (isa<LayoutAttr>(attr)) {
      os << "layout";
      return AliasResult::FinalAlias;
    }
    return AliasResult::NoAlias;
  }
};
} // namespace

void DistDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "llmc/Dialect/Dist/IR/DistOps.cpp.inc"
      >();
  addInterfaces<DistAsmInterface>();
}
