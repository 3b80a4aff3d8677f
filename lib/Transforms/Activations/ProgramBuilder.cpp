//===- ProgramBuilder.cpp - One program of a timeline ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "llmc/Dialect/Dist/IR/StepSums.h"
#include "llmc/Dialect/Dist/IR/WholeShape.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::SlotAttr;
using dist::SlotKind;

ProgramBuilder::ProgramBuilder(TimelineContext &context, func::FuncOp source,
                               Location loc, StringRef name)
    : context(context), source(source), builder(context.module.getContext()) {
  builder.setInsertionPointToEnd(context.module.getBody());
  program =
      func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  program.setPrivate();
  builder.setInsertionPointToStart(program.addEntryBlock());
}

/// The type in which sums over microbatches are kept: f32 at least.
static RankedTensorType getSumType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto element = dyn_cast<FloatType>(tensor.getElementType());
  if (!element || element.getWidth() >= 32)
    return tensor;
  return RankedTensorType::get(tensor.getShape(),
                               Float32Type::get(type.getContext()));
}

SlotAttr ProgramBuilder::makeSlot(SlotKind kind, const Twine &name,
                                  int64_t chunk) {
  return SlotAttr::get(builder.getContext(), kind, StringRef(name.str()),
                       chunk);
}

NamedAttribute ProgramBuilder::markSlot(SlotAttr slot) {
  return builder.getNamedAttr(DistDialect::kSlot, slot);
}

Value ProgramBuilder::addArgument(Type type, NamedAttribute mark,
                                  Location loc) {
  argumentMarks.push_back(builder.getDictionaryAttr(mark));
  return program.getBody().front().addArgument(type, loc);
}

FailureOr<SlotAttr> ProgramBuilder::slotOfArgument(unsigned i) {
  if (auto state =
          source.getArgAttrOfType<FlatSymbolRefAttr>(i, DistDialect::kReads))
    return makeSlot(SlotKind::State, state.getValue() + ".local");
  if (auto hyper =
          source.getArgAttrOfType<FlatSymbolRefAttr>(i, DistDialect::kHyper))
    return makeSlot(SlotKind::Hyper, hyper.getValue());
  if (auto input = source.getArgAttrOfType<StringAttr>(i, DistDialect::kInput))
    return makeSlot(SlotKind::Input, input.getValue());
  if (auto state = source.getArgAttrOfType<FlatSymbolRefAttr>(
          i, DistDialect::kGradientOf))
    return makeSlot(SlotKind::Step, "grad." + state.getValue());
  auto role = source.getArgAttrOfType<StringAttr>(i, DistDialect::kRole);
  if (role && dist::isStepSum(role.getValue()))
    return makeSlot(SlotKind::Step, role.getValue());
  return emitRefusal(source, rt::ErrorKind::unsupported)
         << "expected argument " << i
         << " to be an input, a state, a hyper value or a sum, got role '"
         << (role ? role.getValue() : "") << "', which is not supported yet";
}

/// Marks that say more of a slot: where an input's data lie, and the layout of
/// what the host sees.
static void addDetails(SmallVectorImpl<NamedAttribute> &marks,
                       DictionaryAttr from) {
  for (StringRef name :
       {StringRef(DistDialect::kData), StringRef(DistDialect::kLayout),
        StringRef(dist::kWholeShape), StringRef(dist::kBoxes)})
    if (Attribute value = from ? from.get(name) : Attribute())
      marks.emplace_back(StringAttr::get(value.getContext(), name), value);
}

FailureOr<Value> ProgramBuilder::addSlotOf(BlockArgument argument) {
  FailureOr<SlotAttr> slot = slotOfArgument(argument.getArgNumber());
  if (failed(slot))
    return failure();
  bool isSum = slot->getKind() == SlotKind::Step && context.microbatches > 1;
  Type type = isSum ? getSumType(argument.getType()) : argument.getType();
  Value value = addArgument(type, markSlot(*slot), argument.getLoc());
  SmallVector<NamedAttribute> marks = {markSlot(*slot)};
  addDetails(marks, source.getArgAttrDict(argument.getArgNumber()));
  argumentMarks.back() = builder.getDictionaryAttr(marks);
  if (type == argument.getType())
    return value;
  return stablehlo::convertTo(
      builder, argument.getLoc(), value,
      cast<RankedTensorType>(argument.getType()).getElementType());
}

FailureOr<SlotAttr> ProgramBuilder::slotOfReturn(unsigned i) {
  if (auto state = source.getResultAttrOfType<FlatSymbolRefAttr>(
          i, DistDialect::kGradientOf))
    return makeSlot(SlotKind::Step, "grad." + state.getValue());
  if (auto state = source.getResultAttrOfType<FlatSymbolRefAttr>(
          i, DistDialect::kWrites))
    return makeSlot(SlotKind::State, state.getValue() + ".local");
  auto role = source.getResultAttrOfType<StringAttr>(i, DistDialect::kRole);
  auto metric = source.getResultAttrOfType<StringAttr>(i, DistDialect::kMetric);
  if (metric && !(role && role == "output"))
    return makeSlot(SlotKind::Metric, metric.getValue());
  if (role && dist::isStepSum(role.getValue()))
    return makeSlot(SlotKind::Step, role.getValue());
  if (auto name = source.getResultAttrOfType<StringAttr>(i, DistDialect::kName))
    return makeSlot(SlotKind::Output, name.getValue());
  if (role && role == "loss")
    return makeSlot(SlotKind::Output, "loss");
  return source.emitOpError()
         << "expected a mark of result " << i << " that says where it goes";
}

/// The sum of `value` and what earlier microbatches left in `slot`.
Value ProgramBuilder::accumulate(Value value, SlotAttr slot) {
  RankedTensorType type = getSumType(value.getType());
  Location loc = value.getLoc();
  Value sum = addArgument(type, markSlot(slot), loc);
  if (type != value.getType())
    value = stablehlo::convertTo(builder, loc, value, type.getElementType());
  return isSeeded(Fault::microbatchSumKeepsTheLast)
             ? value
             : stablehlo::add(builder, loc, sum, value);
}

void ProgramBuilder::addResult(Value value, NamedAttribute mark) {
  results.push_back(value);
  resultMarks.push_back(builder.getDictionaryAttr(mark));
}

LogicalResult ProgramBuilder::addReturn(Value value, unsigned index) {
  FailureOr<SlotAttr> slot = slotOfReturn(index);
  if (failed(slot))
    return failure();
  if (slot->getKind() == SlotKind::Step && context.microbatches > 1)
    value = accumulate(value, *slot);
  addResult(value, markSlot(*slot));
  SmallVector<NamedAttribute> marks = {markSlot(*slot)};
  addDetails(marks, source.getResultAttrDict(index));
  resultMarks.back() = builder.getDictionaryAttr(marks);
  return success();
}

dist::ProgramAttr ProgramBuilder::finish(int64_t chunk, dist::Phase phase,
                                         ArrayRef<int64_t> at) {
  func::ReturnOp::create(builder, program.getLoc(), results);
  program.setType(
      builder.getFunctionType(program.getBody().front().getArgumentTypes(),
                              ValueRange(results).getTypes()));
  program.setAllArgAttrs(argumentMarks);
  program.setAllResultAttrs(resultMarks);
  return dist::ProgramAttr::get(builder.getContext(),
                                FlatSymbolRefAttr::get(program.getNameAttr()),
                                chunk, phase, builder.getDenseI64ArrayAttr(at));
}

bool llmc::isPassedThrough(func::FuncOp source, OpOperand &returned) {
  auto argument = dyn_cast<BlockArgument>(returned.get());
  if (!argument)
    return false;
  Attribute reads =
      source.getArgAttr(argument.getArgNumber(), DistDialect::kReads);
  Attribute writes =
      source.getResultAttr(returned.getOperandNumber(), DistDialect::kWrites);
  return !reads || reads != writes;
}
