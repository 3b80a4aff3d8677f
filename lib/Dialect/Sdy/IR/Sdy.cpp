//===- Sdy.cpp - The sdy dialect ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration, and the checks of shardings against their mesh and their type,
// on the constraint op and on the discardable attributes `sdy.sharding`.
// Tests: test/Dialect/Sdy/{ops,invalid}.mlir.
//
//===----------------------------------------------------------------------===//

#include "OpAssembly.h"
#include "Verification.h"
#include "llmc/Support/PublishedDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llmc/Dialect/Sdy/IR/SdyDialect.cpp.inc"
#define GET_OP_CLASSES
#include "llmc/Dialect/Sdy/IR/SdyOps.cpp.inc"

using namespace mlir;
using namespace llmc;
using namespace llmc::sdy;

void SdyDialect::initialize() {
  allowUnknownOperations();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "llmc/Dialect/Sdy/IR/SdyOps.cpp.inc"
      >();
}

std::optional<Dialect::ParseOpHook>
SdyDialect::getParseOperationHook(StringRef) const {
  return getUnknownOpHook();
}

//===----------------------------------------------------------------------===//
// A sharding against its mesh and type
//===----------------------------------------------------------------------===//

MeshAttr TensorShardingAttr::getMesh(Operation *op) const {
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef()))
    return mesh;
  auto found = SymbolTable::lookupNearestSymbolFrom<MeshOp>(
      op, cast<FlatSymbolRefAttr>(getMeshOrRef()));
  return found ? found.getMesh() : MeshAttr();
}

namespace {
/// Part [begin, end) of an axis, counted in its major-to-minor divisors.
struct AxisPart {
  AxisRefAttr axis;
  int64_t begin, end;
};
} // namespace

/// The axis exists, its part divides it and overlaps none in `used`; then it is
/// added there.
static LogicalResult useAxis(EmitError emitError, AxisRefAttr axis,
                             MeshAttr mesh, SmallVectorImpl<AxisPart> &used) {
  std::optional<int64_t> size = mesh.getAxisSize(axis.getName());
  if (!size)
    return emitError() << "expected an axis of the mesh, got \""
                       << axis.getName() << "\"";
  AxisPart part = {axis, 1, *size};
  if (SubAxisInfoAttr info = axis.getSubAxisInfo()) {
    part = {axis, info.getPreSize(), info.getPreSize() * info.getSize()};
    if (*size % part.end != 0 || info.getSize() == *size)
      return emitError() << "expected a proper sub-axis of axis \""
                         << axis.getName() << "\" of size " << *size
                         << ", got (" << info.getPreSize() << ")"
                         << info.getSize();
  }
  for (const AxisPart &other : used) {
    bool apart = part.end <= other.begin || other.end <= part.begin;
    if (other.axis.getName() == axis.getName() &&
        (!apart || axis == other.axis))
      return emitError() << "expected each part of an axis once, got \""
                         << axis.getName() << "\" twice";
  }
  used.push_back(part);
  return success();
}

/// A mesh without axes: what lies on it lies whole on one device, whatever its
/// rank, and so does an op without results. JAX places callbacks so.
static bool isOneDevice(MeshAttr mesh) { return mesh.getAxes().empty(); }

LogicalResult sdy::verifySharding(EmitError emitError, Operation *op,
                                  TensorShardingAttr sharding, Type type) {
  MeshAttr mesh = sharding.getMesh(op);
  if (!mesh)
    return emitError() << "expected a mesh of that name, got "
                       << sharding.getMeshOrRef();
  size_t dims = sharding.getDimShardings().size();
  if (dims == 0 && isOneDevice(mesh))
    return success();
  auto tensor = dyn_cast<ShapedType>(type);
  size_t rank = tensor && tensor.hasRank() ? tensor.getRank() : 0;
  if (dims != rank)
    return emitError() << "expected a sharding of " << rank
                       << (rank == 1 ? " dimension" : " dimensions") << ", as "
                       << type << " has, got " << dims;
  SmallVector<AxisPart> used;
  for (DimensionShardingAttr dim : sharding.getDimShardings())
    for (AxisRefAttr axis : dim.getAxes())
      if (failed(useAxis(emitError, axis, mesh, used)))
        return failure();
  for (ArrayRef<AxisRefAttr> axes :
       {sharding.getReplicatedAxes(), sharding.getUnreducedAxes()})
    for (AxisRefAttr axis : axes)
      if (failed(useAxis(emitError, axis, mesh, used)))
        return failure();
  return success();
}

LogicalResult ShardingConstraintOp::verifySymbolUses(SymbolTableCollection &) {
  return verifySharding([&] { return emitOpError(); }, *this, getSharding(),
                        getType());
}

LogicalResult PlaceOp::verifySymbolUses(SymbolTableCollection &) {
  return verifySharding([&] { return emitOpError(); }, *this, getSharding(),
                        getType());
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

ParseResult sdy::parseDirection(AsmParser &parser, StringAttr &direction) {
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  direction = StringAttr::get(parser.getContext(), word);
  return success();
}

void sdy::printDirection(AsmPrinter &printer, Operation *,
                         StringAttr direction) {
  printer << direction.getValue();
}

LogicalResult PropagationBarrierOp::verify() {
  StringRef direction = getAllowedDirection();
  if (llvm::is_contained({"NONE", "FORWARD", "BACKWARD"}, direction))
    return success();
  return emitOpError() << "expected the direction NONE, FORWARD or BACKWARD, "
                          "got '"
                       << direction << "'";
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

/// The one attribute name that carries a sharding.
static constexpr StringLiteral kSharding = "sdy.sharding";

LogicalResult SdyDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  if (attribute.getName() != kSharding)
    return success();
  auto list = dyn_cast<TensorShardingPerValueAttr>(attribute.getValue());
  if (!list)
    return op->emitOpError("expected a #sdy.sharding_per_value in '")
           << kSharding << "', got " << attribute.getValue();
  ArrayRef<TensorShardingAttr> shardings = list.getShardings();
  if (op->getNumResults() == 0 && shardings.size() == 1)
    if (MeshAttr mesh = shardings[0].getMesh(op); mesh && isOneDevice(mesh))
      return success();
  if (shardings.size() != op->getNumResults())
    return op->emitOpError("expected a sharding for each of ")
           << op->getNumResults() << " results, got " << shardings.size();
  for (auto [sharding, type] : llvm::zip(shardings, op->getResultTypes()))
    if (failed(verifySharding([&] { return op->emitOpError(); }, op, sharding,
                              type)))
      return failure();
  return success();
}

/// A sharding on argument or result `index` of a function.
static LogicalResult verifySignature(Operation *op, StringRef what,
                                     unsigned index, Type type,
                                     NamedAttribute attribute) {
  if (attribute.getName() != kSharding)
    return success();
  auto emitError = [&] {
    return op->emitOpError() << what << " #" << index << " ";
  };
  auto sharding = dyn_cast<TensorShardingAttr>(attribute.getValue());
  if (!sharding)
    return emitError() << "expected a #sdy.sharding in '" << kSharding
                       << "', got " << attribute.getValue();
  return verifySharding(emitError, op, sharding, type);
}

LogicalResult SdyDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned index,
                                                   NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || index >= function.getNumArguments())
    return success();
  return verifySignature(op, "argument", index,
                         function.getArgumentTypes()[index], attribute);
}

LogicalResult
SdyDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                        NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || index >= function.getNumResults())
    return success();
  return verifySignature(op, "result", index, function.getResultTypes()[index],
                         attribute);
}
