//===- KnownFunctions.cpp - JAX's functions with a rule of their own ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %m = maximum %x, %z                 logaddexp(%x, %z): the cotangent of %y
//   ...                                 goes to %x and %z by the table's rule,
//   %y = select %p, %s, %a              and to none of the ops between
//
// The table's functions are on scalars of f64: constants are compared as
// rounded to the graph's type, and broadcasts, reshapes and conversions that
// change nothing are looked through where the table has another op.
//
// Test: test/Transforms/Training/differentiate-functions.mlir
//===----------------------------------------------------------------------===//

#include "KnownFunctions.h"
#include "../TrainingMarks.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using llmc::training::KnownCall;
using llmc::training::KnownFunctions;

static const char *const kTable =
#include "JaxFunctions.inc"
    ;

bool training::hasRuleMark(Operation *op) {
  return op->getLoc()
      ->walk([](Location part) {
        auto named = dyn_cast<NameLoc>(part);
        bool isMark =
            named && (named.getName().getValue().contains("custom_jvp_call") ||
                      named.getName().getValue().contains("custom_vjp_call"));
        return isMark ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The op computes with constants alone.
static bool isClosed(Operation *op) {
  return llvm::all_of(op->getOperands(),
                      [](Value v) { return matchPattern(v, m_Constant()); });
}

/// The op repeats or renames its operand: all elements keep their value.
static bool isView(Operation *op) {
  if (auto convert = dyn_cast<stablehlo::ConvertOp>(op))
    return convert.getOperand().getType() == convert.getResult().getType();
  return isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(op);
}

static bool haveSameAttributes(Operation *a, Operation *b) {
  return a->getName() == b->getName() &&
         a->getPropertiesAsAttribute() == b->getPropertiesAsAttribute();
}

/// JAX prints the broadcast of a constant anew for each use.
static bool isSame(Value a, Value b) {
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || a.getType() != b.getType() || !haveSameAttributes(x, y))
    return false;
  if (isa<stablehlo::ConstantOp>(x))
    return true;
  return isView(x) && isSame(x->getOperand(0), y->getOperand(0));
}

/// `number` rounded to a type of the text is the constant. A text that was
/// widened has the numbers of its narrower type.
static bool isRounded(APFloat number, const APFloat &constant) {
  bool losesInfo;
  for (const llvm::fltSemantics *type :
       {&constant.getSemantics(), &APFloat::IEEEsingle(), &APFloat::BFloat(),
        &APFloat::IEEEhalf()}) {
    APFloat rounded = number, value = constant;
    rounded.convert(*type, APFloat::rmNearestTiesToEven, &losesInfo);
    rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    if (rounded.bitwiseIsEqual(value))
      return true;
  }
  return false;
}

namespace {
/// One attempt to find a function's ops above one value.
class Matcher {
public:
  explicit Matcher(KnownCall &call) : call(call) {}
  bool match(Value wanted, Value value);

private:
  bool matchConstant(DenseElementsAttr wanted, Value value);

  KnownCall &call;
  /// Values of the table, and what they are in the graph.
  llvm::DenseMap<Value, Value> found;
};
} // namespace

bool Matcher::matchConstant(DenseElementsAttr wanted, Value value) {
  SmallVector<Operation *> views;
  while (Operation *op = value.getDefiningOp()) {
    views.push_back(op);
    if (!isView(op))
      break;
    value = op->getOperand(0);
  }
  DenseFPElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat() ||
      !isRounded(wanted.getSplatValue<APFloat>(),
                 elements.getSplatValue<APFloat>()))
    return false;
  call.body.insert(views.begin(), views.end());
  return true;
}

bool Matcher::match(Value wanted, Value value) {
  if (Value known = found.lookup(wanted))
    return isSame(known, value);
  if (isa<BlockArgument>(wanted)) {
    found[wanted] = value;
    return value.getType() == call.result().getType();
  }
  DenseElementsAttr constant;
  if (matchPattern(wanted, m_Constant(&constant)))
    return matchConstant(constant, value);
  Operation *pattern = wanted.getDefiningOp(), *op = value.getDefiningOp();
  // JAX converts numbers of Python after it has computed with them.
  bool isNumber =
      isClosed(pattern) && isa_and_nonnull<stablehlo::ConvertOp>(op);
  if (op && op->getName() != pattern->getName() && (isView(op) || isNumber)) {
    call.body.insert(op);
    return match(wanted, op->getOperand(0));
  }
  if (!op || !haveSameAttributes(pattern, op))
    return false;
  for (auto [x, y] : llvm::zip_equal(pattern->getOperands(), op->getOperands()))
    if (!match(x, y))
      return false;
  found[wanted] = value;
  call.body.insert(op);
  if (op == call.root)
    for (BlockArgument argument : call.function.getArguments())
      call.arguments.push_back(found.lookup(argument));
  return true;
}

KnownFunctions::KnownFunctions(MLIRContext *context)
    : table(parseSourceString<ModuleOp>(kTable, context, "JaxFunctions.mlir")) {
  for (auto function : table->getOps<func::FuncOp>())
    if (!function.isDeclaration() &&
        !function.getName().ends_with(".derivative"))
      functions.push_back(
          {function,
           function.front().getTerminator()->getOperand(0).getDefiningOp()});
}

bool KnownFunctions::hasDerivativeOfOps(StringRef name) {
  auto function = table->lookupSymbol<func::FuncOp>(name);
  return function && function.isDeclaration();
}

std::optional<KnownCall> KnownFunctions::match(Operation *root) {
  for (auto [function, last] : functions) {
    if (root->getName() != last->getName())
      continue;
    auto name =
        root->getAttrOfType<StringAttr>(dist::DistDialect::kJaxFunction);
    if (function->hasAttr("named") &&
        (!name || name.getValue() != function.getName()))
      continue;
    KnownCall call;
    call.function = function;
    call.root = root;
    bool isMarked = !function->hasAttr("marked");
    if (!Matcher(call).match(last->getResult(0), root->getResult(0)))
      continue;
    for (Operation *op : call.body)
      isMarked |= hasRuleMark(op);
    if (isMarked)
      return call;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The derivative
//===----------------------------------------------------------------------===//

/// A scalar's type in the table for tensors of type `like`.
static RankedTensorType mapType(Type type, RankedTensorType like) {
  Type element = cast<RankedTensorType>(type).getElementType();
  return element.isF64() ? like : like.clone(element);
}

void KnownFunctions::buildDerivative(OpBuilder &builder, const KnownCall &call,
                                     Value cotangent,
                                     SmallVectorImpl<Value> &gradients) {
  func::FuncOp function = call.function;
  auto rule = table->lookupSymbol<func::FuncOp>(
      (function.getName() + ".derivative").str());
  auto type = cast<RankedTensorType>(call.result().getType());
  Location loc = call.root->getLoc();
  SmallVector<Value> arguments(call.arguments);
  arguments.append({call.result(), cotangent});
  IRMapping mapping;
  mapping.map(rule.getArguments(), arguments);
  for (Operation &op : rule.front().without_terminator()) {
    RankedTensorType mapped = mapType(op.getResult(0).getType(), type);
    DenseElementsAttr constant;
    if (matchPattern(&op, m_Constant(&constant))) {
      double number = constant.getSplatValue<APFloat>().convertToDouble();
      mapping.map(op.getResult(0),
                  stablehlo::constantSplat(builder, loc, mapped, number));
      continue;
    }
    Operation *clone = builder.clone(op, mapping);
    clone->setLoc(loc);
    clone->getResult(0).setType(mapped);
  }
  for (Value result : rule.front().getTerminator()->getOperands())
    gradients.push_back(mapping.lookup(result));
}
