//===- ManualRegions.cpp - Regions of one device --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembly of the region, and the checks that what a device has is its part of
// operands and results. Tests: test/Dialect/Sdy/{manual,invalid-manual}.mlir.
//
//===----------------------------------------------------------------------===//

#include "OpAssembly.h"
#include "Verification.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::sdy;

ParseResult sdy::parseManualBody(OpAsmParser &parser, Region &body) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseRegion(body, arguments))
    return failure();
  return success();
}

void sdy::printManualBody(OpAsmPrinter &printer, Operation *, Region &body) {
  printer << "(";
  llvm::interleaveComma(
      body.getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Parts of tensors
//===----------------------------------------------------------------------===//

/// What a device has of a tensor; manual axes stand before others. `sharding`
/// has been verified against `global`.
static FailureOr<RankedTensorType>
getLocalType(EmitError emitError, TensorShardingAttr sharding, MeshAttr mesh,
             ManualAxesAttr manual, RankedTensorType global) {
  SmallVector<int64_t> shape(global.getShape());
  for (auto [dim, size] : llvm::zip(sharding.getDimShardings(), shape)) {
    bool isFree = false;
    for (AxisRefAttr axis : dim.getAxes()) {
      if (!manual.contains(axis.getName())) {
        isFree = true;
        continue;
      }
      if (isFree)
        return emitError() << "expected manual axes before others, got \""
                           << axis.getName() << "\" after one that is not";
      if (axis.getSubAxisInfo())
        return emitError() << "expected whole manual axes, got a part of \""
                           << axis.getName() << "\"";
      int64_t parts = *mesh.getAxisSize(axis.getName());
      if (size % parts != 0)
        return emitError() << "expected a size that \"" << axis.getName()
                           << "\" of size " << parts << " divides, got "
                           << global;
      size /= parts;
    }
  }
  return RankedTensorType::get(shape, global.getElementType());
}

static LogicalResult verifyPart(EmitError emitError, Operation *op,
                                TensorShardingAttr sharding,
                                ManualAxesAttr manual, Type whole, Type part) {
  auto global = dyn_cast<RankedTensorType>(whole);
  if (!global || !global.hasStaticShape())
    return emitError() << "expected a tensor of static shape, got " << whole;
  if (failed(verifySharding(emitError, op, sharding, whole)))
    return failure();
  MeshAttr mesh = sharding.getMesh(op);
  for (StringAttr axis : manual.getAxes())
    if (!mesh.getAxisSize(axis))
      return emitError() << "expected an axis of the mesh as manual axis, got "
                         << axis;
  FailureOr<RankedTensorType> local =
      getLocalType(emitError, sharding, mesh, manual, global);
  if (failed(local))
    return failure();
  auto got = dyn_cast<RankedTensorType>(part);
  if (got && got.getShape() == local->getShape() &&
      got.getElementType() == local->getElementType())
    return success();
  return emitError() << "expected " << *local << " of each device, got "
                     << part;
}

LogicalResult ToLocalOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyPart([&] { return emitOpError(); }, *this, getSharding(),
                    getManualAxes(), getInput().getType(), getType());
}

LogicalResult ToGlobalOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyPart([&] { return emitOpError(); }, *this, getSharding(),
                    getManualAxes(), getType(), getInput().getType());
}

//===----------------------------------------------------------------------===//
// The region
//===----------------------------------------------------------------------===//

/// A sharding and a value of the region for each of `types`, of which there are
/// operands or results.
static LogicalResult verifyList(ManualComputationOp op, StringRef what,
                                TensorShardingPerValueAttr list,
                                TypeRange types, TypeRange parts) {
  if (list.getShardings().size() != types.size())
    return op.emitOpError("expected a sharding for each of ")
           << types.size() << " " << what << "s, got "
           << list.getShardings().size();
  if (parts.size() != types.size())
    return op.emitOpError("expected a region with a value for each of ")
           << types.size() << " " << what << "s, got " << parts.size();
  for (size_t i = 0; i < types.size(); ++i) {
    auto emitError = [&] {
      return op.emitOpError() << what << " #" << i << " ";
    };
    if (failed(verifyPart(emitError, op, list.getShardings()[i],
                          op.getManualAxes(), types[i], parts[i])))
      return failure();
  }
  return success();
}

LogicalResult ManualComputationOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.empty() || !isa<ReturnOp>(body.back()))
    return emitOpError("expected a region that ends in 'sdy.return'");
  for (auto outer = (*this)->getParentOfType<ManualComputationOp>(); outer;
       outer = outer->getParentOfType<ManualComputationOp>())
    for (StringAttr axis : getManualAxes().getAxes())
      if (outer.getManualAxes().contains(axis))
        return emitOpError("expected axes that are not manual outside, got ")
               << axis;
  return success();
}

LogicalResult ManualComputationOp::verifySymbolUses(SymbolTableCollection &) {
  Block &body = getBody().front();
  if (body.empty())
    return success();
  if (failed(verifyList(*this, "operand", getInShardings(), getOperandTypes(),
                        body.getArgumentTypes())))
    return failure();
  return verifyList(*this, "result", getOutShardings(), getResultTypes(),
                    body.back().getOperandTypes());
}
