//===- Shardings.cpp - Shardy's annotations become layouts ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   func @main(%w {sdy.sharding = #sdy.sharding<@m, [{}, {"tensor"}]>}, ...)
//   %y = sdy.sharding_constraint %x <@m, [{"data"}, {}]>
//   ->
//   dist.state @w {row = #dist.row<rest = #dist.layout<@mesh, [{},
//   {"tensor"}]>>} %y = dist.constraint %x to <@mesh, [{"data"}, {}]>
//
// Axes are those of the program's mesh by name (Shardy: Jakob et al.,
// openxla.org/shardy). Where the configuration gives a layout it counts. A
// mesh without axes, and a mesh of one device, say nothing.
//
// Tests: test/Import/StableHLO/shardings.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Import/Program/Shardings.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Dist/IR/SpreadMarks.h"
#include "llmc/Support/FirstError.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// A whole axis or a part.
static AxisPart partOf(sdy::AxisRefAttr axis) {
  sdy::SubAxisInfoAttr info = axis.getSubAxisInfo();
  return info
             ? AxisPart{axis.getName().str(), info.getPreSize(), info.getSize()}
             : AxisPart{axis.getName().str()};
}

static void readParts(sdy::TensorShardingAttr sharding, Location loc,
                      std::vector<NamedPart> &parts) {
  auto read = [&](ArrayRef<sdy::AxisRefAttr> axes) {
    for (sdy::AxisRefAttr axis : axes)
      if (axis.getSubAxisInfo())
        parts.push_back({partOf(axis), describePlace(loc)});
  };
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
    read(dim.getAxes());
  read(sharding.getReplicatedAxes());
}

/// Whether the sharding says anything; all meshes with axes must have the same.
static rt::Result<bool> readMesh(sdy::TensorShardingAttr sharding,
                                 Operation *op, Shardings &shardings) {
  sdy::MeshAttr mesh = sharding.getMesh(op);
  if (mesh.getAxes().empty())
    return false;
  if (!shardings.mesh)
    shardings.mesh = mesh;
  readParts(sharding, op->getLoc(), shardings.parts);
  if (shardings.mesh.getAxes() == mesh.getAxes())
    return true;
  return rt::makeError(ErrorKind::unsupported,
                       describePlace(op->getLoc()) +
                           "expected one mesh in all shardings, got two with "
                           "different axes");
}

/// What an op that only constrains its operand asks for; null for all others.
static sdy::TensorShardingAttr getConstraint(Operation *op) {
  if (auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op))
    return constraint.getSharding();
  auto place = dyn_cast<sdy::PlaceOp>(op);
  return place ? place.getSharding() : sdy::TensorShardingAttr();
}

/// JAX prints constraints on a mesh without axes for typed keys.
static rt::Status readOp(Operation *op, Shardings &shardings) {
  if (dist::hasSpreadMarks(op))
    return rt::Status::success();
  bool speaks = false;
  if (sdy::TensorShardingAttr sharding = getConstraint(op)) {
    LLMC_TRY_ASSIGN(speaks, readMesh(sharding, op, shardings));
    if (!speaks) {
      op->replaceAllUsesWith(op->getOperands());
      op->erase();
    }
    return rt::Status::success();
  }
  auto list = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(kSharding);
  if (!list)
    return rt::Status::success();
  for (sdy::TensorShardingAttr sharding : list.getShardings()) {
    LLMC_TRY_ASSIGN(bool one, readMesh(sharding, op, shardings));
    speaks |= one;
  }
  if (!speaks)
    op->removeAttr(kSharding);
  return rt::Status::success();
}

rt::Result<Shardings> import::readShardings(func::FuncOp main) {
  Shardings shardings;
  auto read = [&](sdy::TensorShardingAttr sharding,
                  SmallVectorImpl<sdy::TensorShardingAttr> &list) {
    bool speaks = false;
    if (sharding) {
      LLMC_TRY_ASSIGN(speaks, readMesh(sharding, main, shardings));
    }
    list.push_back(speaks ? sharding : sdy::TensorShardingAttr());
    return rt::Status::success();
  };
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    LLMC_TRY(read(main.getArgAttrOfType<sdy::TensorShardingAttr>(i, kSharding),
                  shardings.arguments));
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    LLMC_TRY(
        read(main.getResultAttrOfType<sdy::TensorShardingAttr>(i, kSharding),
             shardings.results));
    main.removeResultAttr(i, StringAttr::get(main.getContext(), kSharding));
  }
  SmallVector<Operation *> ops;
  main.getBody().walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    LLMC_TRY(readOp(op, shardings));
  for (auto op : llvm::make_early_inc_range(
           main->getParentOfType<ModuleOp>().getOps<sdy::MeshOp>()))
    op.erase();
  return shardings;
}

sdy::AxisRefAttr import::makeAxisRef(MLIRContext *context,
                                     const AxisPart &part) {
  sdy::SubAxisInfoAttr info;
  if (part.size > 0)
    info = sdy::SubAxisInfoAttr::get(context, part.preSize, part.size);
  return sdy::AxisRefAttr::get(context, part.name, info);
}

MeshAxes import::axesOf(sdy::MeshAttr mesh) {
  MeshAxes axes;
  if (mesh)
    for (sdy::MeshAxisAttr axis : mesh.getAxes())
      axes.emplace_back(axis.getName().str(), axis.getSize());
  return axes;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
class ShardingConverter {
public:
  ShardingConverter(ModuleOp module, func::FuncOp main, dist::MeshOp mesh,
                    const Shardings &shardings)
      : module(module), main(main), mesh(mesh), shardings(shardings),
        signature(main) {}

  rt::Status run();

private:
  rt::Result<dist::LayoutAttr> convert(sdy::TensorShardingAttr sharding,
                                       Location loc);
  rt::Result<SmallVector<dist::AxisAttr>>
  convertAxes(ArrayRef<sdy::AxisRefAttr> axes, Location loc);
  rt::Result<Value> constrain(OpBuilder &builder, Value value,
                              sdy::TensorShardingAttr sharding, Location loc);
  rt::Status convertOp(Operation *op);
  rt::Status convertArgument(unsigned i);
  rt::Status convertResult(unsigned i);
  /// Whether shardings say anything.
  bool isSplit() { return mesh.getAxes().getNumDevices() > 1; }

  ModuleOp module;
  func::FuncOp main;
  dist::MeshOp mesh;
  const Shardings &shardings;
  dist::Signature signature;
};
} // namespace

/// Axes of size above 1.
rt::Result<SmallVector<dist::AxisAttr>>
ShardingConverter::convertAxes(ArrayRef<sdy::AxisRefAttr> axes, Location loc) {
  std::vector<std::string> known = getWholeAxes(mesh.getAxes());
  auto refuse = [&](const std::string &message) {
    return rt::makeError(ErrorKind::usage, describePlace(loc) + message);
  };
  SmallVector<dist::AxisAttr> converted;
  for (sdy::AxisRefAttr axis : axes) {
    std::string name = axis.getName().str();
    if (!llvm::is_contained(known, name)) {
      std::string near = rt::nearest(name, known);
      return refuse("expected a sharding by axes of 'mesh.axes' (" +
                    llvm::join(known, ", ") + "), got \"" + name + "\"" +
                    (near.empty() ? "" : ", did you mean \"" + near + "\"?"));
    }
    if (mesh.getPipeline() == StringRef(name))
      return refuse("expected a sharding by axes other than the pipeline axis, "
                    "got \"" +
                    name + "\"");
    converted.append(findAxes(mesh.getAxes(), partOf(axis)));
  }
  return converted;
}

rt::Result<dist::LayoutAttr>
ShardingConverter::convert(sdy::TensorShardingAttr sharding, Location loc) {
  MLIRContext *context = mesh.getContext();
  if (!sharding.getUnreducedAxes().empty())
    return rt::makeError(ErrorKind::unsupported,
                         describePlace(loc) +
                             "expected a sharding without unreduced axes");
  SmallVector<dist::DimAttr> dims;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings()) {
    LLMC_TRY_ASSIGN(SmallVector<dist::AxisAttr> axes,
                    convertAxes(dim.getAxes(), loc));
    dims.push_back(dist::DimAttr::get(context, axes, !dim.getIsClosed(),
                                      dim.getPriority().value_or(-1), {}, {}));
  }
  LLMC_TRY_ASSIGN(SmallVector<dist::AxisAttr> replicated,
                  convertAxes(sharding.getReplicatedAxes(), loc));
  return dist::LayoutAttr::get(context,
                               FlatSymbolRefAttr::get(mesh.getSymNameAttr()),
                               dims, {}, replicated);
}

/// The value under the constraint, or itself where that says nothing.
rt::Result<Value> ShardingConverter::constrain(OpBuilder &builder, Value value,
                                               sdy::TensorShardingAttr sharding,
                                               Location loc) {
  LLMC_TRY_ASSIGN(dist::LayoutAttr layout, convert(sharding, loc));
  if (!isSplit())
    return value;
  return Value(
      dist::ConstraintOp::create(builder, loc, value.getType(), value, layout));
}

static void copyMarks(Operation *op, dist::ConstraintOp constraint) {
  constraint.setHint(isa<sdy::PlaceOp>(op));
  for (StringRef mark : {dist::kGroup, dist::kDirection})
    if (Attribute value = op->getAttr(mark))
      constraint->setAttr(mark, value);
}

rt::Status ShardingConverter::convertOp(Operation *op) {
  if (sdy::TensorShardingAttr sharding = getConstraint(op)) {
    OpBuilder builder(op);
    LLMC_TRY_ASSIGN(Value value, constrain(builder, op->getOperand(0), sharding,
                                           op->getLoc()));
    if (auto made = value.getDefiningOp<dist::ConstraintOp>();
        made && value != op->getOperand(0))
      copyMarks(op, made);
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return rt::Status::success();
  }
  auto list = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(kSharding);
  if (!list)
    return rt::Status::success();
  op->removeAttr(kSharding);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (auto [result, sharding] :
       llvm::zip(op->getResults(), list.getShardings())) {
    LLMC_TRY_ASSIGN(Value value,
                    constrain(builder, result, sharding, op->getLoc()));
    result.replaceUsesWithIf(value, [&](OpOperand &use) {
      return use.getOwner() != value.getDefiningOp();
    });
  }
  return rt::Status::success();
}

/// The layout of an input, or at rest of a state.
rt::Status ShardingConverter::convertArgument(unsigned i) {
  if (!shardings.arguments[i])
    return rt::Status::success();
  LLMC_TRY_ASSIGN(
      dist::LayoutAttr layout,
      convert(shardings.arguments[i], main.getArgument(i).getLoc()));
  if (!isSplit())
    return rt::Status::success();
  dist::PortAttr &port = signature.arguments[i];
  FlatSymbolRefAttr symbol = dist::getState(port);
  if (!symbol) {
    if (!port.getLayout())
      port = port.withLayout(layout);
    return rt::Status::success();
  }
  auto state = module.lookupSymbol<dist::StateOp>(symbol);
  dist::RowAttr row = state.getRowAttr();
  if (!row)
    setRowLayouts(state, layout, {}, {}, {});
  else if (!row.getRest())
    setRowLayouts(state, layout, row.getUse(), row.getGradient(),
                  row.getOptimizer());
  return rt::Status::success();
}

rt::Status ShardingConverter::convertResult(unsigned i) {
  if (!shardings.results[i])
    return rt::Status::success();
  Operation *end = main.getBody().front().getTerminator();
  OpBuilder builder(end);
  LLMC_TRY_ASSIGN(Value value, constrain(builder, end->getOperand(i),
                                         shardings.results[i], main.getLoc()));
  // A scalar has no dimension to split.
  if (cast<RankedTensorType>(value.getType()).getRank() > 0)
    end->setOperand(i, value);
  else if (value != end->getOperand(i))
    value.getDefiningOp()->erase();
  return rt::Status::success();
}

rt::Status ShardingConverter::run() {
  SmallVector<Operation *> ops;
  main.getBody().walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    LLMC_TRY(convertOp(op));
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    LLMC_TRY(convertArgument(i));
  signature.write(main);
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    LLMC_TRY(convertResult(i));
  return rt::Status::success();
}

rt::Status import::applyShardings(ModuleOp module, func::FuncOp main,
                                  dist::MeshOp mesh,
                                  const Shardings &shardings) {
  return ShardingConverter(module, main, mesh, shardings).run();
}
