//===- OptimizerInstance.cpp - An optimizer applied to one state ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   func @sgd(%p, %g: tensor<1xf32>, %lr: tensor<f32>) {
//     %l = broadcast_in_dim %lr            // for a parameter of 4x12:
//     %d = multiply %l, %g                 //   %l : tensor<4x12xf32>
//     %n = subtract %p, %d                 //   multiply, subtract of 4x12
//     return %n }
//
// What depends on hyper values alone stays scalar, so that it is computed once
// for all parameters. A sum over the element is one over all elements.
//
// Test: test/Transforms/Training/build-update.mlir
//===----------------------------------------------------------------------===//

#include "OptimizerInstance.h"
#include "../TrainingMarks.h"
#include "llmc/Dialect/Dist/IR/UpdateMarks.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace llmc;
using llmc::dist::PortKind;
using llmc::training::Optimizer;

FailureOr<Optimizer> Optimizer::read(func::FuncOp function) {
  Optimizer optimizer;
  optimizer.function = function;
  if (function.isExternal())
    return emitRefusal(function.getLoc())
           << "expected optimizer @" << function.getName() << " to have a body";
  if (failed(optimizer.readArguments()) || failed(optimizer.readResults()))
    return failure();
  if (optimizer.isOnElements() && failed(optimizer.checkElementwise()))
    return failure();
  return optimizer;
}

/// What an argument of this port is, or nothing.
static std::optional<Optimizer::Kind> getKind(dist::PortAttr port) {
  if (dist::isPort(port, PortKind::Parameter))
    return Optimizer::Kind::Parameter;
  if (dist::isPort(port, PortKind::Gradient))
    return Optimizer::Kind::Gradient;
  if (dist::isPort(port, PortKind::Moment))
    return Optimizer::Kind::Moment;
  if (dist::isPort(port, PortKind::Hyper))
    return Optimizer::Kind::Hyper;
  return std::nullopt;
}

/// Of a moment or hyper value.
static std::string getName(dist::PortAttr port) {
  if (port.getSymbol())
    return port.getSymbol().getValue().str();
  return port.getName() ? port.getName().str() : "";
}

LogicalResult Optimizer::readArguments() {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (!type)
      return emitRefusal(function.getLoc())
             << "expected argument " << i << " of optimizer @"
             << function.getName() << " to be a tensor";
    dist::PortAttr port = dist::getArgumentPort(function, i);
    std::optional<Kind> kind = getKind(port);
    if (!kind)
      return emitRefusal(function.getLoc())
             << "expected argument " << i << " of optimizer @"
             << function.getName()
             << " to be parameter, gradient, moment or hyper, got "
             << (port ? dist::stringifyPortKind(port.getKind()) : "no port");
    arguments.push_back({*kind, getName(port), type});
    if (*kind == Kind::Parameter)
      parameterType = type;
  }
  for (Kind kind : {Kind::Parameter, Kind::Gradient}) {
    int64_t count = llvm::count_if(
        arguments, [&](const Argument &a) { return a.kind == kind; });
    if (count != 1)
      return emitRefusal(function.getLoc())
             << "expected one argument '"
             << (kind == Kind::Parameter ? "parameter" : "gradient")
             << "' of an optimizer, got " << count;
  }
  return success();
}

LogicalResult Optimizer::readResults() {
  MLIRContext *context = function.getContext();
  SmallVector<dist::PortAttr> wanted = {
      dist::PortAttr::get(context, PortKind::Parameter)};
  for (StringRef moment : getMoments())
    wanted.push_back(dist::PortAttr::get(context, PortKind::Moment, moment));
  if (function.getNumResults() != wanted.size())
    return emitRefusal(function.getLoc())
           << "expected " << wanted.size()
           << " results of an optimizer (the parameter and each moment), got "
           << function.getNumResults();
  for (dist::PortAttr port : wanted) {
    std::optional<unsigned> found;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (dist::getResultPort(function, i) == port)
        found = i;
    if (!found)
      return emitRefusal(function.getLoc())
             << "expected a result " << port << " of an optimizer, got none";
    resultOrder.push_back(*found);
  }
  return success();
}

SmallVector<StringRef> Optimizer::getMoments() const {
  SmallVector<StringRef> moments;
  for (const Argument &argument : arguments)
    if (argument.kind == Kind::Moment)
      moments.push_back(argument.name);
  return moments;
}

/// A shape of the function for a parameter of this shape.
SmallVector<int64_t> Optimizer::mapShape(ArrayRef<int64_t> shape,
                                         ArrayRef<int64_t> parameter) const {
  ArrayRef<int64_t> own = parameterType.getShape();
  if (isOnElements())
    return SmallVector<int64_t>(shape == own ? parameter : shape);
  SmallVector<int64_t> mapped(shape);
  if (function->hasAttr(dist::kSizes))
    for (int64_t &size : mapped)
      if (const int64_t *at = llvm::find(own, size); at != own.end())
        size = parameter[at - own.begin()];
  return mapped;
}

RankedTensorType Optimizer::mapType(RankedTensorType type,
                                    RankedTensorType parameter) const {
  Type element = type.getElementType();
  if (element == parameterType.getElementType() &&
      parameter.getElementTypeBitWidth() > type.getElementTypeBitWidth())
    element = parameter.getElementType();
  return RankedTensorType::get(mapShape(type.getShape(), parameter.getShape()),
                               element);
}

RankedTensorType Optimizer::getMomentType(StringRef moment,
                                          RankedTensorType parameter) const {
  for (const Argument &argument : arguments)
    if (argument.kind == Kind::Moment && argument.name == moment)
      return mapType(argument.type, parameter);
  return {};
}

/// Whether the op, on an element, speaks of all elements: their sum, or their
/// number. It is applied to a flat parameter, so to speak.
static bool isOnAllElements(Operation &op) {
  return isa<stablehlo::ReduceOp, stablehlo::GetDimensionSizeOp>(op);
}

/// A function on an element has values of one element or scalars, and what is
/// made from an element is one, but for what is made from all.
LogicalResult Optimizer::checkElementwise() const {
  auto isElement = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getShape() == parameterType.getShape();
  };
  auto isScalar = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 0;
  };
  for (Operation &op : getFunction().front().without_terminator()) {
    if (isOnAllElements(op) && llvm::all_of(op.getResultTypes(), isScalar))
      continue;
    bool isLifted = llvm::any_of(op.getOperandTypes(), isElement);
    auto fits = [&](Type type) {
      return isElement(type) || (isScalar(type) && !isLifted);
    };
    if (op.getNumRegions() || !llvm::all_of(op.getResultTypes(), fits))
      return emitRefusal(&op) << "expected ops on elements and scalars in an "
                                 "optimizer of one element";
  }
  return success();
}

using MapType = llvm::function_ref<RankedTensorType(RankedTensorType)>;

/// A splat of the mapped type; false where `op` is no such constant.
static bool cloneSplat(OpBuilder &builder, Location loc, Operation &op,
                       IRMapping &mapping, MapType mapType) {
  DenseElementsAttr constant;
  if (!matchPattern(&op, m_Constant(&constant)) || !constant.isSplat())
    return false;
  auto type = mapType(cast<RankedTensorType>(op.getResult(0).getType()));
  Attribute element = constant.getSplatValue<Attribute>();
  auto real = dyn_cast<FloatAttr>(element);
  double number =
      real ? real.getValueAsDouble()
           : static_cast<double>(cast<IntegerAttr>(element).getInt());
  mapping.map(op.getResult(0),
              stablehlo::constantSplat(builder, loc, type, number));
  return true;
}

/// The size itself: that of all elements for a function on one.
static void cloneSize(OpBuilder &builder, Location loc,
                      stablehlo::GetDimensionSizeOp op, IRMapping &mapping,
                      bool isOnElements) {
  auto type = cast<RankedTensorType>(mapping.lookup(op.getOperand()).getType());
  int64_t size = isOnElements
                     ? type.getNumElements()
                     : type.getDimSize(static_cast<int64_t>(op.getDimension()));
  mapping.map(op.getResult(),
              stablehlo::constantSplat(builder, loc,
                                       cast<RankedTensorType>(op.getType()),
                                       static_cast<double>(size)));
}

static void mapTypes(Operation *op, MapType mapType) {
  auto map = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      value.setType(mapType(type));
  };
  op->walk([&](Operation *inner) {
    for (Value result : inner->getResults())
      map(result);
    for (Region &region : inner->getRegions())
      for (BlockArgument argument : region.getArguments())
        map(argument);
  });
}

/// Clones `op` with the mapped types.
static LogicalResult cloneOp(OpBuilder &builder, Location loc, Operation &op,
                             IRMapping &mapping, MapType mapType,
                             bool isOnElements) {
  if (cloneSplat(builder, loc, op, mapping, mapType))
    return success();
  if (auto size = dyn_cast<stablehlo::GetDimensionSizeOp>(op)) {
    cloneSize(builder, loc, size, mapping, isOnElements);
    return success();
  }
  Operation *clone = builder.clone(op, mapping);
  clone->walk([&](Operation *inner) { inner->setLoc(loc); });
  mapTypes(clone, mapType);
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(clone);
      reduce && isOnElements) {
    int64_t rank =
        cast<RankedTensorType>(clone->getOperand(0).getType()).getRank();
    reduce.setDimensions(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  }
  if (failed(verify(clone)))
    return emitRefusal(&op) << "cannot be applied to a whole parameter";
  return success();
}

LogicalResult Optimizer::instantiate(OpBuilder &builder, Location loc,
                                     ValueRange operands,
                                     SmallVectorImpl<Value> &results) const {
  Block &body = getFunction().front();
  IRMapping mapping;
  RankedTensorType parameter;
  for (auto [argument, operand] : llvm::zip_equal(arguments, operands))
    if (argument.kind == Kind::Parameter)
      parameter = cast<RankedTensorType>(operand.getType());
  auto map = [&](RankedTensorType type) { return mapType(type, parameter); };
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    RankedTensorType wanted = map(argument.type);
    auto type = cast<RankedTensorType>(operands[i].getType());
    if (type.getShape() != wanted.getShape())
      return emitRefusal(getFunction().getLoc())
             << "expected argument " << i << " of @" << getFunction().getName()
             << " of shape [" << wanted.getShape() << "], got ["
             << type.getShape() << "]";
    mapping.map(body.getArgument(i),
                stablehlo::convertTo(builder, loc, operands[i],
                                     wanted.getElementType()));
  }
  for (Operation &op : body.without_terminator())
    if (failed(cloneOp(builder, loc, op, mapping, map, isOnElements())))
      return failure();
  for (unsigned i : resultOrder)
    results.push_back(mapping.lookup(body.getTerminator()->getOperand(i)));
  return success();
}
