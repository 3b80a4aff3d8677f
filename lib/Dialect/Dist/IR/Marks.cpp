//===- Marks.cpp - Verification of the dialect's marks --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `dist.role`, `dist.reads`, `dist.block` and the other attributes that stand
// on functions, arguments, results and ops of any dialect. Only their form is
// checked here; whether a symbol exists is checked by the op that uses the
// function (`dist.step`, `dist.entry`, `dist.timeline`), once and with a symbol
// table. Tested by test/Dialect/Dist/invalid-marks.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/IR/StepSums.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace llmc::dist;

namespace {
/// What the value of a mark must be.
enum class Form { None, Role, Symbol, Name, Layout, Slot, Number, Data };
} // namespace

static Form getArgumentForm(StringRef name) {
  return llvm::StringSwitch<Form>(name)
      .Case(DistDialect::kRole, Form::Role)
      .Cases({DistDialect::kReads, DistDialect::kGradientOf,
              DistDialect::kHyper, DistDialect::kRecv},
             Form::Symbol)
      .Cases({DistDialect::kInput, DistDialect::kMoment, DistDialect::kName,
              DistDialect::kConstant},
             Form::Name)
      .Case(DistDialect::kDefault, Form::Number)
      .Case(DistDialect::kData, Form::Data)
      .Case(DistDialect::kLayout, Form::Layout)
      .Case(DistDialect::kSlot, Form::Slot)
      .Default(Form::None);
}

static Form getResultForm(StringRef name) {
  return llvm::StringSwitch<Form>(name)
      .Case(DistDialect::kRole, Form::Role)
      .Cases(
          {DistDialect::kWrites, DistDialect::kGradientOf, DistDialect::kSend},
          Form::Symbol)
      .Cases({DistDialect::kMetric, DistDialect::kMoment, DistDialect::kName},
             Form::Name)
      .Case(DistDialect::kLayout, Form::Layout)
      .Case(DistDialect::kSlot, Form::Slot)
      .Default(Form::None);
}

static constexpr StringLiteral kArgumentRoles[] = {
    "input", "hyper",      "parameter", "optimizer", "carried", "constant",
    "step",  "microbatch", "loss_sum",  "count",     "gradient"};
static constexpr StringLiteral kResultRoles[] = {
    "loss",      "loss_sum",  "count",   "metric",  "output",
    "parameter", "optimizer", "carried", "gradient"};

static LogicalResult verifyForm(Operation *op, NamedAttribute mark, Form form,
                                ArrayRef<StringLiteral> roles,
                                StringRef where) {
  Attribute value = mark.getValue();
  switch (form) {
  case Form::None:
    return op->emitOpError() << "expected a mark of " << where << ", got '"
                             << mark.getName().getValue() << "'";
  case Form::Role: {
    auto role = dyn_cast<StringAttr>(value);
    if (role && (llvm::is_contained(roles, role.getValue()) ||
                 isStepSum(role.getValue())))
      return success();
    return op->emitOpError() << "expected a role of " << where << ": "
                             << llvm::join(roles, ", ") << ", got " << value;
  }
  case Form::Symbol:
    if (isa<FlatSymbolRefAttr>(value))
      return success();
    break;
  case Form::Name:
    if (auto name = dyn_cast<StringAttr>(value); name && !name.empty())
      return success();
    break;
  case Form::Layout:
    if (isa<LayoutAttr>(value))
      return success();
    break;
  case Form::Slot:
    if (isa<SlotAttr>(value))
      return success();
    break;
  case Form::Number:
    if (isa<FloatAttr>(value))
      return success();
    break;
  case Form::Data:
    if (isa<DataAttr>(value))
      return success();
    break;
  }
  static constexpr StringLiteral kWanted[] = {"",
                                              "",
                                              "a symbol",
                                              "a name",
                                              "a #dist.layout",
                                              "a #dist.slot",
                                              "a float",
                                              "a #dist.data"};
  return op->emitOpError() << "expected " << kWanted[static_cast<int>(form)]
                           << " for '" << mark.getName().getValue() << "', got "
                           << value;
}

LogicalResult DistDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned,
                                                    NamedAttribute mark) {
  return verifyForm(op, mark, getArgumentForm(mark.getName().getValue()),
                    kArgumentRoles, "arguments");
}

LogicalResult DistDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                       unsigned,
                                                       NamedAttribute mark) {
  return verifyForm(op, mark, getResultForm(mark.getName().getValue()),
                    kResultRoles, "results");
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

LogicalResult DistDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute mark) {
  StringRef name = mark.getName().getValue();
  Attribute value = mark.getValue();
  if (name == kBlock || name == kChunk) {
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
  if (name == kAt)
    return verifyStages(op, value);
  if (name == kJaxFunction)
    return verifyJaxFunction(op, value);
  if (name == kStopGradient)
    return verifyStopGradient(op, value);
  if (name == kName)
    return verifyForm(op, mark, Form::Name, {}, "ops");
  return op->emitOpError() << "expected a mark of ops, got '" << name << "'";
}
