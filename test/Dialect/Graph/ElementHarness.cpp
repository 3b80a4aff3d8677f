//===- ElementHarness.cpp - Scalar code against evaluation ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ElementHarness.h.
//
//===----------------------------------------------------------------------===//

#include "ElementHarness.h"
#include "EvaluatedOps.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::test;

static Type getSignless(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? IntegerType::get(type.getContext(), integer.getWidth())
                 : type;
}

/// Element `i` as an attribute of the signless type.
static TypedAttr getElementAttr(const HostTensor &tensor, int64_t i) {
  Type type = getSignless(tensor.getElementType());
  if (isa<FloatType>(type))
    return FloatAttr::get(type, tensor.getFloat(i));
  return IntegerAttr::get(type,
                          APInt(type.getIntOrFloatBitWidth(),
                                static_cast<uint64_t>(tensor.getInt(i)),
                                /*isSigned=*/false, /*implicitTrunc=*/true));
}

namespace {
/// Runs straight-line scalar code by folding.
class ScalarFolder {
public:
  ScalarFolder(MLIRContext *context) : builder(context) {
    builder.setInsertionPointToEnd(&block);
  }

  OpBuilder &getBuilder() { return builder; }

  Value makeIndex(int64_t value, Location loc) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  /// The number that `value` is; null when an op does not fold.
  Attribute get(Value value) {
    while (Operation *op = getNext())
      runOp(op);
    return constants.lookup(value);
  }

private:
  /// Ops that upstream does not fold: for some types, outside of their domain,
  /// or where rounding loses something.
  static Attribute foldFunction(Operation *op, ArrayRef<Attribute> operands) {
    auto x = dyn_cast_or_null<FloatAttr>(operands.empty() ? Attribute()
                                                          : operands[0]);
    if (!x)
      return {};
    using Function = double (*)(double);
    Function function =
        llvm::TypeSwitch<Operation *, Function>(op)
            .Case<math::AcosOp>([](auto) { return Function(std::acos); })
            .Case<math::AcoshOp>([](auto) { return Function(std::acosh); })
            .Case<math::AsinOp>([](auto) { return Function(std::asin); })
            .Case<math::AsinhOp>([](auto) { return Function(std::asinh); })
            .Case<math::AtanOp>([](auto) { return Function(std::atan); })
            .Case<math::AtanhOp>([](auto) { return Function(std::atanh); })
            .Case<math::CoshOp>([](auto) { return Function(std::cosh); })
            .Case<math::SinhOp>([](auto) { return Function(std::sinh); })
            .Case<math::SinOp>([](auto) { return Function(std::sin); })
            .Case<math::TanOp>([](auto) { return Function(std::tan); })
            .Case<math::CbrtOp>([](auto) { return Function(std::cbrt); })
            .Case<math::ErfcOp>([](auto) { return Function(std::erfc); })
            .Case<math::ErfOp>([](auto) { return Function(std::erf); })
            .Case<math::ExpOp>([](auto) { return Function(std::exp); })
            .Case<math::LogOp>([](auto) { return Function(std::log); })
            .Case<math::SqrtOp>([](auto) { return Function(std::sqrt); })
            .Case<math::TanhOp>([](auto) { return Function(std::tanh); })
            .Case<math::RsqrtOp>([](auto) -> Function {
              return [](double value) { return 1 / std::sqrt(value); };
            })
            .Case<arith::TruncFOp>([](auto) -> Function {
              return [](double value) { return value; };
            })
            .Default([](auto) { return Function(nullptr); });
    if (!function)
      return {};
    return FloatAttr::get(op->getResult(0).getType(),
                          function(x.getValueAsDouble()));
  }

  /// The same for two operands.
  static Attribute foldBinary(Operation *op, ArrayRef<Attribute> operands) {
    if (!isa<math::Atan2Op, math::PowFOp>(op))
      return {};
    auto x = dyn_cast_or_null<FloatAttr>(operands[0]);
    auto y = dyn_cast_or_null<FloatAttr>(operands[1]);
    if (!x || !y)
      return {};
    double lhs = x.getValueAsDouble(), rhs = y.getValueAsDouble();
    return FloatAttr::get(op->getResult(0).getType(),
                          isa<math::PowFOp>(op) ? std::pow(lhs, rhs)
                                                : std::atan2(lhs, rhs));
  }

  /// The first op that has not been run.
  Operation *getNext() {
    if (last)
      return last->getNextNode();
    return block.empty() ? nullptr : &block.front();
  }

  void runOp(Operation *op) {
    last = op;
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(constants.lookup(operand));
    SmallVector<OpFoldResult> folded;
    if (succeeded(op->fold(operands, folded)) && folded.size() == 1) {
      if (auto value = dyn_cast<Value>(folded[0]))
        constants[op->getResult(0)] = constants.lookup(value);
      else
        constants[op->getResult(0)] = cast<Attribute>(folded[0]);
    } else if (Attribute result = foldFunction(op, operands)) {
      constants[op->getResult(0)] = result;
    } else if (Attribute result = foldBinary(op, operands)) {
      constants[op->getResult(0)] = result;
    } else {
      failedOp = op->getName().getStringRef().str();
    }
  }

public:
  std::string failedOp;

private:
  Block block;
  OpBuilder builder;
  llvm::DenseMap<Value, Attribute> constants;
  Operation *last = nullptr;
};

/// One op with its operands and evaluated results.
struct Sample : EvaluatedOp {
  /// The element of result `result` at `index` by the scalar code.
  Attribute run(unsigned result, ArrayRef<int64_t> index, std::string &error) {
    ScalarFolder scalars(op->getContext());
    OpBuilder &builder = scalars.getBuilder();
    SmallVector<Value> indices;
    for (int64_t i : index)
      indices.push_back(scalars.makeIndex(i, op->getLoc()));
    auto source = [&](unsigned operand, ValueRange at) -> Value {
      int64_t position = 0;
      SmallVector<int64_t> strides = operands[operand].getStrides();
      for (auto [value, stride, size] :
           llvm::zip_equal(at, strides, operands[operand].getShape())) {
        auto number = dyn_cast_or_null<IntegerAttr>(scalars.get(value));
        // Out of bounds: code after a guard that is false reads anything.
        int64_t i = number ? number.getInt() : -1;
        position += (i < 0 || i >= size ? 0 : i) * stride;
      }
      if (operands[operand].getNumElements() == 0)
        return arith::ConstantOp::create(
            builder, op->getLoc(),
            builder.getZeroAttr(
                getSignless(operands[operand].getElementType())));
      return arith::ConstantOp::create(
          builder, op->getLoc(), getElementAttr(operands[operand], position));
    };
    Value element = cast<graph::KernelOpInterface>(op).emitElement(
        builder, op->getLoc(), result, indices, source);
    Attribute value = element ? scalars.get(element) : Attribute();
    if (!value)
      error = element ? "does not fold: " + scalars.failedOp : "emits nothing";
    return value;
  }
};
} // namespace

static bool isTranscendental(Operation *op) {
  auto cost = dyn_cast<graph::CostOpInterface>(op);
  return cost && cost.getCost().transcendentals > 0;
}

/// Whether the scalar `actual` is the element `i` of `expected`.
static bool agrees(Attribute actual, const HostTensor &expected, int64_t i,
                   bool isTranscendental) {
  TypedAttr wanted = getElementAttr(expected, i);
  if (actual == wanted)
    return true;
  auto number = dyn_cast<FloatAttr>(actual);
  if (!number || !expected.isFloat())
    return false;
  double x = number.getValueAsDouble(), y = expected.getFloat(i);
  if (std::isnan(x) && std::isnan(y))
    return true;
  unsigned width = expected.getElementType().getIntOrFloatBitWidth();
  double ulp = width == 64 ? 0x1p-52 : width == 32 ? 0x1p-23 : 0x1p-7;
  return isTranscendental && std::fabs(x - y) <= 2 * ulp * std::fabs(y);
}

static std::string describe(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

static std::string checkSample(Sample &sample) {
  for (auto [r, expected] : llvm::enumerate(sample.results)) {
    if (expected.getNumElements() == 0)
      continue;
    SmallVector<int64_t> index(expected.getRank());
    int64_t i = 0;
    do {
      std::string error;
      Attribute actual = sample.run(r, index, error);
      if (!actual)
        return error;
      if (!agrees(actual, expected, i, isTranscendental(sample.op)))
        return "scalar code gives " + describe(actual) + ", evaluation " +
               describe(getElementAttr(expected, i)) + " at element " +
               std::to_string(i);
      ++i;
    } while (nextIndex(index, expected.getShape()));
  }
  return "";
}

testing::AssertionResult test::checkElements(StringRef text, int *numChecked,
                                             uint64_t seed) {
  GraphContext context;
  auto module = context.parse(text);
  if (!module)
    return testing::AssertionFailure() << context.takeMessages();
  func::FuncOp function = getFunction(*module);
  FailureOr<std::vector<EvaluatedOp>> ops = evaluateOps(function, seed);
  if (failed(ops))
    return testing::AssertionFailure() << context.takeMessages();
  for (EvaluatedOp &evaluated : *ops) {
    Sample sample{evaluated};
    auto kernel = dyn_cast<graph::KernelOpInterface>(sample.op);
    if (!kernel || kernel.getKernelForm() != graph::KernelForm::Element ||
        isTable(sample.op))
      continue;
    std::string error = checkSample(sample);
    if (!error.empty())
      return testing::AssertionFailure()
             << sample.op->getName().getStringRef().str() << ": " << error
             << "\n"
             << context.takeMessages();
    if (numChecked)
      ++*numChecked;
  }
  return testing::AssertionSuccess();
}
