//===- Annotator.cpp - Random annotations of a function -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Annotator.h.
//
//===----------------------------------------------------------------------===//

#include "Annotator.h"
#include "AnnotatedProgram.h"
#include "llmc/Dialect/Sdy/IR/Sdy.h"
#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::test;
using text::TextSharding;

TextSharding Annotator::drawFor(Type type) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  return mesh.draw(text::Shape(shape.begin(), shape.end()), draw);
}

/// The attribute of an argument or a result, or of an op.
NamedAttribute Annotator::makeAttribute(ArrayRef<Type> types, bool isOp) {
  MLIRContext *context = types.front().getContext();
  std::string list;
  for (Type type : types) {
    TextSharding sharding = drawFor(type);
    list += (list.empty() ? "" : ", ") +
            (isShardy ? mesh.showSdy(sharding) : mesh.showHlo(sharding, draw));
  }
  if (!isShardy)
    return {
        StringAttr::get(context, "mhlo.sharding"),
        StringAttr::get(context, types.size() > 1 ? "{" + list + "}" : list)};
  std::string text =
      isOp ? "#sdy.sharding_per_value<[" + list + "]>" : "#sdy.sharding" + list;
  return {StringAttr::get(context, "sdy.sharding"),
          parseAttribute(text, context)};
}

void Annotator::annotateSignature(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!draw.oneIn(4)) {
      NamedAttribute made =
          makeAttribute(function.getArgumentTypes()[i], /*isOp=*/false);
      function.setArgAttr(i, made.getName(), made.getValue());
      ++counts["argument"];
    }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (draw.oneIn(3)) {
      NamedAttribute made =
          makeAttribute(function.getResultTypes()[i], /*isOp=*/false);
      function.setResultAttr(i, made.getName(), made.getValue());
      ++counts["result"];
    }
}

Value Annotator::call(Value value, const std::string &sharding,
                      const std::string &open) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  OperationState state(value.getLoc(), "stablehlo.custom_call");
  state.addOperands(value);
  state.addTypes(value.getType());
  state.addAttribute("call_target_name", builder.getStringAttr("Sharding"));
  state.addAttribute("backend_config", builder.getStringAttr(open));
  state.addAttribute("mhlo.sharding", builder.getStringAttr(sharding));
  Operation *call = builder.create(state);
  value.replaceAllUsesExcept(call->getResult(0), call);
  return call->getResult(0);
}

void Annotator::constrain(Value value) {
  TextSharding sharding = drawFor(value.getType());
  ++counts["constraint"];
  if (!isShardy) {
    call(value, mesh.showHlo(sharding, draw), text::getOpenDims(sharding));
    return;
  }
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto attribute = cast<sdy::TensorShardingAttr>(parseAttribute(
      "#sdy.sharding" + mesh.showSdy(sharding), value.getContext()));
  auto op = sdy::ShardingConstraintOp::create(
      builder, value.getLoc(), value.getType(), value, attribute);
  value.replaceAllUsesExcept(op, op);
}

void Annotator::addBarrier(Value value) {
  const char *directions[] = {"NONE", "FORWARD", "BACKWARD"};
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto op = sdy::PropagationBarrierOp::create(
      builder, value.getLoc(), value.getType(), value,
      builder.getStringAttr(draw.pick(directions)));
  value.replaceAllUsesExcept(op, op);
  ++counts["barrier"];
}

/// Some values of one shape lie alike.
void Annotator::addGroup(ArrayRef<Value> values) {
  Value first = values[draw.below(static_cast<int64_t>(values.size()))];
  auto shape = cast<RankedTensorType>(first.getType()).getShape();
  int64_t number = draw.below(3) + 10 * static_cast<int64_t>(shape.size());
  for (int64_t size : shape)
    number = number * 20 + size;
  ++counts["group"];
  for (Value value : values) {
    if (cast<RankedTensorType>(value.getType()).getShape() != shape ||
        draw.oneIn(2))
      continue;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    if (isShardy)
      sdy::ShardingGroupOp::create(builder, value.getLoc(), value, number);
    else
      call(value,
           (draw.oneIn(2) ? "{unknown shard_as " : "{unknown shard_like ") +
               std::to_string(number) + "}",
           "");
  }
}

/// A constraint on each result, or an attribute of the op.
void Annotator::annotate(Operation *op) {
  SmallVector<Type> types(op->getResultTypes());
  if (draw.oneIn(3)) {
    NamedAttribute made = makeAttribute(types, /*isOp=*/true);
    op->setAttr(made.getName(), made.getValue());
    ++counts["op"];
  } else {
    constrain(op->getResult(draw.below(op->getNumResults())));
  }
}

void Annotator::annotate(func::FuncOp function) {
  annotateSignature(function);
  SmallVector<Operation *> ops;
  SmallVector<Value> values(function.getArguments());
  for (Operation &op : function.getBody().front().without_terminator())
    if (op.getNumResults() > 0 && !op.hasTrait<OpTrait::ConstantLike>()) {
      ops.push_back(&op);
      llvm::append_range(values, op.getResults());
    }
  for (Operation *op : ops)
    if (draw.oneIn(7) && !isa<func::CallOp>(op))
      annotate(op);
  for (Value value : values)
    if (isShardy && draw.oneIn(15))
      addBarrier(value);
  if (draw.oneIn(3))
    addGroup(values);
  if (draw.oneIn(6))
    addGroup(values);
}

//===----------------------------------------------------------------------===//
// Wrong annotations
//===----------------------------------------------------------------------===//

/// What makes any text with the first a wrong one.
static const std::pair<const char *, const char *> kSlips[] = {
    {"<@mesh, [{", "<@mesh, [{\"zz\", "},
    {"<@mesh, [", "<@mesh, [{}, "},
    {"<@mesh, [", "<@mash, ["},
    {"}]>", "}], replicated={\"a\":(1)7}>"},
    {"}]>", "}], unreduced={\"zz\"}>"},
    {"}]>", "}q1]>"},
    {"group_id=", "group_id=-"},
    {"allowed_direction=", "allowed_direction=SIDE"},
    {"manual_axes={", "manual_axes={\"zz\", "},
    {"in_shardings=[", "in_shardings=[<@mesh, []>, "},
    {"devices=[", "devices=[2,"},
    {"devices=[", "devices=[0,"},
    {"devices=[", "devices=[99999999999999999999,"},
    {"<=[", "<=[2,"},
    {"]T(", "]T(7,"},
    {" last_tile_dim_replicate}", " last_tile_dim_replicat}"},
    {" last_tile_dims={", " last_tile_dims={what, "},
    {"\"{replicated}\"", "\"{replicated\""},
    {"\"{replicated}\"", "\"{replicated}}\""},
    {"{mesh['a'=", "{mesh['a'=-"},
    {"{mesh['a'", "{mesh['a"},
    {"\":(", "\":(-"},
    {":(1)2", ":(1)7"},
    {"@SPMDFullToShardShape", "@SPMDFullToShardShap"},
};

std::string llmc::test::spoil(const std::string &text, uint64_t seed,
                              std::string &what) {
  text::Draw draw(seed * 11 + 5);
  for (int tries = 0; tries < 40; ++tries) {
    const auto &[from, to] = draw.pick(kSlips);
    std::vector<size_t> places;
    for (size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + 1))
      places.push_back(at);
    if (places.empty())
      continue;
    std::string changed = text;
    what = std::string(from) + " -> " + to;
    return changed.replace(draw.pick(places), std::string(from).size(), to);
  }
  return "";
}
