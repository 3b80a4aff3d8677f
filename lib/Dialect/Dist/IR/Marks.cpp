//===- Marks.cpp - Verification of the dialect's marks --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `dist.port` on arguments and results, `dist.block` and the other attributes
// that stand on ops of any dialect. Only their form is checked here; whether a
// symbol exists is checked by the op that uses the function (`dist.step`,
// `dist.entry`, `dist.timeline`), once and with a symbol table. Tested by
// test/Dialect/Dist/invalid-marks.mlir and invalid-ports.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/LaunchMarks.h"
#include "llmc/Dialect/Dist/IR/PrecisionMarks.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Dist/IR/SpreadMarks.h"
#include "llmc/Dialect/Dist/IR/UpdateMarks.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llmc::dist;

/// A port that may stand on arguments, or on results.
static LogicalResult verifyPort(Operation *op, NamedAttribute mark,
                                bool isArgument) {
  StringRef where = isArgument ? "an argument" : "a result";
  if (mark.getName() != kPort)
    return op->emitOpError() << "expected '" << kPort << "' on " << where
                             << ", got '" << mark.getName().getValue() << "'";
  auto port = dyn_cast<PortAttr>(mark.getValue());
  if (!port)
    return op->emitOpError() << "expected a #dist.port for '" << kPort
                             << "', got " << mark.getValue();
  if (isArgument ? port.isOfArguments() : port.isOfResults())
    return success();
  return op->emitOpError() << "expected a port of " << where << ", got "
                           << port;
}

LogicalResult DistDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned,
                                                    NamedAttribute mark) {
  return verifyPort(op, mark, /*isArgument=*/true);
}

LogicalResult DistDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                       unsigned,
                                                       NamedAttribute mark) {
  return verifyPort(op, mark, /*isArgument=*/false);
}

/// One layout for each result.
static LogicalResult verifyLayouts(Operation *op, Attribute value) {
  auto layouts = dyn_cast<ArrayAttr>(value);
  if (!layouts || layouts.size() != op->getNumResults() ||
      !llvm::all_of(layouts, llvm::IsaPred<LayoutAttr>))
    return op->emitOpError()
           << "expected a layout for each of " << op->getNumResults()
           << " results in 'dist.layouts', got " << value;
  for (auto [layout, type] :
       llvm::zip_equal(layouts.getAsRange<LayoutAttr>(), op->getResultTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && tensor.getRank() != layout.getRank())
      return op->emitOpError()
             << "expected a layout of " << tensor.getRank()
             << " dims in 'dist.layouts', got " << layout.getRank();
  return success();
}

/// Coordinates of the pipeline axis.
static LogicalResult verifyStages(Operation *op, Attribute value) {
  auto stages = dyn_cast<DenseI64ArrayAttr>(value);
  ArrayRef<int64_t> at = stages ? stages.asArrayRef() : ArrayRef<int64_t>();
  bool isAscending = std::adjacent_find(at.begin(), at.end(),
                                        std::greater_equal<>()) == at.end();
  if (!at.empty() && at.front() >= 0 && isAscending)
    return success();
  return op->emitOpError()
         << "expected ascending coordinates from 0 on for 'dist.at', got "
         << value;
}

static LogicalResult verifyJaxFunction(Operation *op, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  if (name &&
      llvm::is_contained(DistDialect::kNamedJaxFunctions, name.getValue()))
    return success();
  return op->emitOpError() << "expected one of "
                           << llvm::join(
                                  ArrayRef(DistDialect::kNamedJaxFunctions),
                                  ", ")
                           << " for 'dist.jax_function', got " << value;
}

/// Operands of the op.
static LogicalResult verifyStopGradient(Operation *op, Attribute value) {
  auto operands = dyn_cast<DenseI64ArrayAttr>(value);
  if (operands && llvm::all_of(operands.asArrayRef(), [&](int64_t operand) {
        return operand >= 0 && operand < op->getNumOperands();
      }))
    return success();
  return op->emitOpError() << "expected operands of the op, below "
                           << op->getNumOperands()
                           << ", for 'dist.stop_gradient', got " << value;
}

/// Of an optimizer's function or a recipe.
static LogicalResult verifyUpdateMark(Operation *op, NamedAttribute mark) {
  if (mark.getName() == kSizes) {
    auto text = dyn_cast<StringAttr>(mark.getValue());
    if (text && llvm::is_contained({kAnySizes, kWideSizes, kTallSizes},
                                   text.getValue()))
      return success();
    return op->emitOpError() << "expected \"any\", \"wide\" or \"tall\" for '"
                             << kSizes << "', got " << mark.getValue();
  }
  auto number = dyn_cast<FloatAttr>(mark.getValue());
  double most = mark.getName() == kAverage ? 1 : HUGE_VAL;
  if (number && number.getType().isF64() && number.getValueAsDouble() > 0 &&
      number.getValueAsDouble() < most)
    return success();
  return op->emitOpError() << "expected an f64 above 0"
                           << (most == 1 ? " and below 1" : "") << " for '"
                           << mark.getName().getValue() << "', got "
                           << mark.getValue();
}

LogicalResult DistDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute mark) {
  StringRef name = mark.getName().getValue();
  Attribute value = mark.getValue();
  if (name == kBlock || name == kChunk || name == kGroup) {
    auto number = dyn_cast<IntegerAttr>(value);
    if (number && number.getType().isSignlessInteger(64) &&
        number.getInt() >= 0)
      return success();
    return op->emitOpError() << "expected an i64 of at least 0 for '" << name
                             << "', got " << value;
  }
  if (name == kPhase) {
    if (isa<PhaseAttr>(value))
      return success();
    return op->emitOpError()
           << "expected a #dist.phase for '" << name << "', got " << value;
  }
  if (name == kLayouts)
    return verifyLayouts(op, value);
  if (name == kDirection) {
    if (auto text = dyn_cast<StringAttr>(value); text && parseDirection(text))
      return success();
    return op->emitOpError() << "expected \"NONE\", \"FORWARD\" or "
                                "\"BACKWARD\" for '"
                             << name << "', got " << value;
  }
  if (name == kAttention) {
    auto text = dyn_cast<StringAttr>(value);
    if (text && (text == "whole" || text == "products"))
      return success();
    return op->emitOpError() << "expected \"whole\" or \"products\" for '"
                             << name << "', got " << value;
  }
  if (name == kUnroll || name == kRoundsTerms || name == kStochasticRounding) {
    if (isa<UnitAttr>(value))
      return success();
    return op->emitOpError()
           << "expected no value of '" << name << "', got " << value;
  }
  if (name == kSizes || name == kClipValue || name == kAverage)
    return verifyUpdateMark(op, mark);
  if (name == kModelFlops || name == kOperations) {
    auto flops = dyn_cast<FloatAttr>(value);
    if (flops && flops.getType().isF64() && flops.getValue().isFinite() &&
        !flops.getValue().isNegative())
      return success();
    return op->emitOpError() << "expected a finite f64 of at least 0 for '"
                             << name << "', got " << value;
  }
  if (name == kAt)
    return verifyStages(op, value);
  if (name == kJaxFunction)
    return verifyJaxFunction(op, value);
  if (name == kPrecision || name == kSavedPrecision) {
    auto type = dyn_cast<TypeAttr>(value);
    if (type && isa<FloatType>(type.getValue()))
      return success();
    return op->emitOpError()
           << "expected a float type for '" << name << "', got " << value;
  }
  if (name == kScaling) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
    if (numbers && numbers.size() == 2 && numbers[0] >= 0 && numbers[1] >= 0)
      return success();
    return op->emitOpError() << "expected two numbers of at least 0 for '"
                             << name << "', got " << value;
  }
  if (name == kStopGradient)
    return verifyStopGradient(op, value);
  if (name == kName) {
    if (auto text = dyn_cast<StringAttr>(value); text && !text.empty())
      return success();
    return op->emitOpError()
           << "expected a name for '" << name << "', got " << value;
  }
  return op->emitOpError() << "expected a mark of ops, got '" << name << "'";
}
