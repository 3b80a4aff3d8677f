//===- ProgramOps.cpp - Meshes, states and hyper values -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the symbols that say what there is. Tested by
// test/Dialect/Dist/invalid-program.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Runtime/Base/ComplexNames.h"
#include "llmc/Runtime/Base/Names.h"

using namespace mlir;
using namespace llmc::dist;

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

void MeshOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                   MeshAxesAttr axes, StringRef pipeline) {
  build(builder, state, builder.getStringAttr(name), axes,
        pipeline.empty() ? StringAttr() : builder.getStringAttr(pipeline),
        DenseI64ArrayAttr(), MachineAttr());
}

/// Meshes of a module stand side by side.
static LogicalResult verifyPlace(MeshOp mesh) {
  Operation *before = mesh->getPrevNode();
  while (before && !isa<MeshOp>(before))
    before = before->getPrevNode();
  if (before && before != mesh->getPrevNode())
    return mesh.emitOpError()
           << "expected to follow mesh @" << cast<MeshOp>(before).getSymName()
           << " at once, got other ops between";
  return success();
}

LogicalResult MeshOp::verify() {
  if (failed(verifyPlace(*this)))
    return failure();
  if (!isPublic())
    return emitOpError() << "must be public: types name it, which symbol uses "
                            "do not show";
  if (getPipeline() && !getAxes().contains(*getPipeline()))
    return emitOpError() << "expected an axis of the mesh as pipeline, got \""
                         << *getPipeline() << "\"";
  if (getMachine() && getMachine()->getAxes())
    for (NamedAttribute axis : getMachine()->getAxes())
      if (!getAxes().contains(axis.getName()))
        return emitOpError() << "expected axes of the mesh in 'machine', got "
                             << axis.getName();
  if (!getDevices())
    return success();
  int64_t numDevices = getAxes().getNumDevices();
  ArrayRef<int64_t> devices = *getDevices();
  if (static_cast<int64_t>(devices.size()) != numDevices)
    return emitOpError() << "expected " << numDevices << " device ids, got "
                         << devices.size();
  SmallVector<bool> seen(numDevices, false);
  for (int64_t device : devices) {
    if (device < 0 || device >= numDevices || seen[device])
      return emitOpError() << "expected each device id below " << numDevices
                           << " once, got " << device;
    seen[device] = true;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

void StateOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                    RankedTensorType type, Role role, Attribute source,
                    StringRef of) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getTypeAttrName(state.name), TypeAttr::get(type));
  state.addAttribute(getRoleAttrName(state.name),
                     RoleAttr::get(builder.getContext(), role));
  if (source)
    state.addAttribute(getSourceAttrName(state.name), source);
  if (!of.empty())
    state.addAttribute(getOfAttrName(state.name),
                       FlatSymbolRefAttr::get(builder.getContext(), of));
}

/// A type that a device holds as it is: static shape, no encoding, numbers.
static LogicalResult verifyPlainTensor(Operation *op, RankedTensorType type) {
  if (type.hasStaticShape() && !type.getEncoding() &&
      type.getElementType().isIntOrFloat())
    return success();
  return op->emitOpError() << "expected numbers in a static shape without "
                              "encoding, got "
                           << type;
}

/// Verifies what initial values the state has.
static LogicalResult verifySource(StateOp state) {
  if (!state.getSource())
    return success();
  Attribute source = *state.getSource();
  RankedTensorType type = state.getTensorType();
  if (state.isPart())
    return state.emitOpError()
           << "is a part and takes initial values from its whole, got source "
           << source;
  if (auto draw = dyn_cast<DrawAttr>(source)) {
    bool fractional = draw.isNormal() || draw.getKind() == DrawKind::Uniform;
    if (fractional && !isa<FloatType>(type.getElementType()))
      return state.emitOpError()
             << "expected float elements for a random source, got "
             << type.getElementType();
    return success();
  }
  auto file = dyn_cast<FileAttr>(source);
  if (!file)
    return state.emitOpError()
           << "expected a #dist.draw or #dist.file as source, got " << source;
  Type dtype = file.getDtype() ? file.getDtype() : type.getElementType();
  int64_t bytes = type.getNumElements() *
                  llvm::divideCeil(dtype.getIntOrFloatBitWidth(), 8);
  // A part of complex elements has the region of both.
  std::string name = llmc::rt::unescapeName(state.getSymName());
  bool isPart = llmc::rt::parsePartName(name).has_value();
  if (file.getBytes() != bytes && !(isPart && file.getBytes() == 2 * bytes))
    return state.emitOpError() << "expected a source of " << bytes
                               << " bytes, got " << file.getBytes();
  return success();
}

static LogicalResult verifyRow(StateOp state) {
  if (!state.getRow())
    return success();
  int64_t rank = state.getTensorType().getRank();
  RowAttr row = *state.getRow();
  if (row.getOptimizer() && state.getRole() != Role::Parameter)
    return state.emitOpError() << "expected a layout of optimizer states in "
                                  "the row of a parameter alone";
  for (LayoutAttr layout :
       {row.getRest(), row.getUse(), row.getGradient(), row.getOptimizer()})
    if (layout && layout.getRank() != rank)
      return state.emitOpError()
             << "expected layouts of " << rank << " dims in its row, got "
             << layout.getRank();
  for (Type type :
       {row.getStored(), row.getComputed(), row.getSent(), row.getAccumulate()})
    if (type && !type.isIntOrFloat())
      return state.emitOpError()
             << "expected integer or float types in its row, got " << type;
  return success();
}

LogicalResult StateOp::verify() {
  RankedTensorType type = getTensorType();
  if (failed(verifyPlainTensor(*this, type)) || failed(verifyRow(*this)))
    return failure();
  if (getRole() != Role::Optimizer && getOf())
    return emitOpError() << "expected `of` on optimizer states alone, got it "
                            "on role '"
                         << stringifyRole(getRole()) << "'";
  if (getRole() == Role::Optimizer && !getOf())
    return emitOpError() << "expected `of = @parameter` of an optimizer state";
  if (isPart()) {
    ArrayRef<int64_t> sizes = getBoxSizes().value_or(ArrayRef<int64_t>());
    ArrayRef<int64_t> offsets = getBoxOffsets().value_or(ArrayRef<int64_t>());
    if (sizes != type.getShape() || offsets.size() != sizes.size())
      return emitOpError() << "expected a box of the part's shape";
  } else if (getBoxSizes() || getBoxOffsets()) {
    return emitOpError() << "expected a box on parts alone";
  }
  return verifySource(*this);
}

/// Verifies that a part lies inside its whole and is like it.
static LogicalResult verifyPart(StateOp part, SymbolTableCollection &tables) {
  auto whole =
      tables.lookupNearestSymbolFrom<StateOp>(part, part.getPartOfAttr());
  if (!whole)
    return part.emitOpError() << "expected state " << part.getPartOfAttr()
                              << " in the module, got none";
  auto fail = [&]() {
    InFlightDiagnostic diag = part.emitOpError();
    diag.attachNote(whole.getLoc()) << "whole state is defined here";
    return diag;
  };
  RankedTensorType type = whole.getTensorType();
  if (whole.isPart())
    return fail() << "expected a whole state, got part " << whole.getSymName();
  if (whole.getRole() != part.getRole())
    return fail() << "expected role '" << stringifyRole(whole.getRole())
                  << "' of its whole, got '" << stringifyRole(part.getRole())
                  << "'";
  if (type.getElementType() != part.getTensorType().getElementType() ||
      type.getRank() != part.getTensorType().getRank())
    return fail() << "expected rank and element type of " << type << ", got "
                  << part.getTensorType();
  for (auto [offset, size, whole] : llvm::zip_equal(
           *part.getBoxOffsets(), *part.getBoxSizes(), type.getShape()))
    if (offset < 0 || size > whole - offset)
      return fail() << "expected a box inside " << type << ", got offset "
                    << offset << " and size " << size;
  return success();
}

LogicalResult StateOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (getOfAttr()) {
    auto parameter =
        tables.lookupNearestSymbolFrom<StateOp>(*this, getOfAttr());
    if (!parameter || parameter.getRole() != Role::Parameter)
      return emitOpError() << "expected parameter " << getOfAttr()
                           << " in the module, got none";
  }
  return isPart() ? verifyPart(*this, tables) : success();
}

//===----------------------------------------------------------------------===//
// Buffer
//===----------------------------------------------------------------------===//

LogicalResult BufferOp::verify() {
  if (failed(verifyPlainTensor(*this, getTensorType())))
    return failure();
  if (getBoxes().empty())
    return emitOpError() << "expected at least one box";
  return success();
}

namespace {
/// A box of a buffer: offsets and local shape.
struct LocalBox {
  FlatSymbolRefAttr state;
  ArrayRef<int64_t> offsets;
  SmallVector<int64_t> shape;

  bool overlaps(const LocalBox &other) const {
    for (size_t i = 0; i < offsets.size(); ++i)
      if (offsets[i] >= other.offsets[i] + other.shape[i] ||
          other.offsets[i] >= offsets[i] + shape[i])
        return false;
    return true;
  }
};
} // namespace

/// The state of a box: that of the buffer, or a part of it.
static FailureOr<StateOp> findStateOfBox(BufferOp buffer, BoxAttr box,
                                         SymbolTableCollection &tables) {
  auto state = tables.lookupNearestSymbolFrom<StateOp>(buffer, box.getState());
  if (!state)
    return buffer.emitOpError()
           << "expected state " << box.getState() << " in the module, got none";
  if (state.getSymName() != buffer.getOf() &&
      state.getPartOf() != buffer.getOf())
    return buffer.emitOpError() << "expected boxes of " << buffer.getOfAttr()
                                << " or its parts, got " << box.getState();
  return state;
}

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &tables) {
  RankedTensorType type = getTensorType();
  if (!tables.lookupNearestSymbolFrom<StateOp>(*this, getOfAttr()))
    return emitOpError() << "expected state " << getOfAttr()
                         << " in the module, got none";
  SmallVector<LocalBox> boxes;
  for (BoxAttr box : getBoxes().getAsRange<BoxAttr>()) {
    FailureOr<StateOp> found = findStateOfBox(*this, box, tables);
    if (failed(found))
      return failure();
    StateOp state = *found;
    RankedTensorType whole = state.getTensorType();
    if (whole.getElementType() != type.getElementType() ||
        whole.getRank() != type.getRank())
      return emitOpError() << "expected rank and element type of state "
                           << box.getState() << ", " << whole << ", got "
                           << type;
    FailureOr<MeshOp> mesh = findMesh(*this, box.getLayout().getMesh(), tables);
    if (failed(mesh) || failed(verifyLayoutOnMesh(
                            box.getLayout(), whole.getShape(), mesh->getAxes(),
                            [&] { return emitOpError(); })))
      return failure();
    LocalBox local{
        box.getState(), box.getOffsets().asArrayRef(),
        box.getLayout().getLocalShape(whole.getShape(), mesh->getAxes())};
    for (auto [offset, size, bound] :
         llvm::zip_equal(local.offsets, local.shape, type.getShape()))
      if (size > bound - offset)
        return emitOpError()
               << "expected the box of " << box.getState() << " inside " << type
               << ", got offset " << offset << " and size " << size;
    for (const LocalBox &other : boxes)
      if (local.overlaps(other))
        return emitOpError()
               << "expected boxes apart, got those of " << other.state
               << " and " << local.state << " overlapping";
    boxes.push_back(std::move(local));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Hyper value
//===----------------------------------------------------------------------===//

LogicalResult HyperOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  Type element = type.getElementType();
  if (type.getRank() != 0 || type.getEncoding() ||
      !(isa<FloatType>(element) || element.isSignlessInteger()))
    return emitOpError()
           << "expected a tensor of rank 0 of a float or signless integer, got "
           << type;
  if (getRule().getKind() >= RuleKind::Constant && !isa<FloatType>(element))
    return emitOpError() << "expected a float for rule '"
                         << stringifyRuleKind(getRule().getKind()) << "', got "
                         << element;
  return success();
}
