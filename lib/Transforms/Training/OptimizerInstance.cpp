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
// for all parameters.
//
// Test: test/Transforms/Training/build-update.mlir
//===----------------------------------------------------------------------===//

#include "OptimizerInstance.h"
#include "TrainingMarks.h"
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

RankedTensorType Optimizer::mapType(RankedTensorType type,
                                    RankedTensorType parameter) const {
  Type element = type.getElementType();
  if (element == parameterType.getElementType() &&
      parameter.getElementTypeBitWidth() > type.getElementTypeBitWidth())
    element = parameter.getElementType();
  bool isWhole = isOnElements() && type.getShape() == parameterType.getShape();
  return RankedTensorType::get(isWhole ? parameter.getShape() : type.getShape(),
                               element);
}

RankedTensorType Optimizer::getMomentType(StringRef moment,
                                          RankedTensorType parameter) const {
  for (const Argument &argument : arguments)
    if (argument.kind == Kind::Moment && argument.name == moment)
      return mapType(argument.type, parameter);
  return {};
}

/// A function on an element has values of one element or scalars, and what is
/// made from an element is one.
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

/// Clones `op` with the mapped result types.
static LogicalResult
cloneOp(OpBuilder &builder, Location loc, Operation &op, IRMapping &mapping,
        llvm::function_ref<RankedTensorType(RankedTensorType)> mapType) {
  DenseElementsAttr constant;
  if (matchPattern(&op, m_Constant(&constant)) && constant.isSplat()) {
    auto type = mapType(cast<RankedTensorType>(op.getResult(0).getType()));
    Attribute element = constant.getSplatValue<Attribute>();
    auto real = dyn_cast<FloatAttr>(element);
    double number =
        real ? real.getValueAsDouble()
             : static_cast<double>(cast<IntegerAttr>(element).getInt());
    mapping.map(op.getResult(0),
                stablehlo::constantSplat(builder, loc, type, number));
    return success();
  }
  Operation *clone = builder.clone(op, mapping);
  clone->setLoc(loc);
  for (OpResult result : clone->getResults())
    result.setType(mapType(cast<RankedTensorType>(result.getType())));
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
    if (failed(cloneOp(builder, loc, op, mapping, map)))
      return failure();
  for (unsigned i : resultOrder)
    results.push_back(mapping.lookup(body.getTerminator()->getOperand(i)));
  return success();
}
