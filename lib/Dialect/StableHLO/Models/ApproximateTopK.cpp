//===- ApproximateTopK.cpp - The best k as JAX approximates them ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The comparator's name says which are the best: `top_k_gt_f32_comparator`.
//
// Test: test/Import/StableHLO/approximate-top-k.mlir
//===----------------------------------------------------------------------===//

#include "ApproximateTopK.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/Sorting.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

namespace {
struct Choice {
  int64_t k, dim;
  bool isGreatest;
};
} // namespace

bool stablehlo::isApproximateTopK(CustomCallOp call) {
  return call.getCallTargetName() == "ApproxTopK";
}

/// The name of the only function that the call has.
static StringRef getComparator(CustomCallOp call) {
  auto names = call->getAttrOfType<ArrayAttr>("called_computations");
  if (!names || names.size() != 1)
    return "";
  auto name = dyn_cast<FlatSymbolRefAttr>(names[0]);
  return name ? name.getValue() : "";
}

/// Where the config is written depends on the version of the call.
static DictionaryAttr getConfig(CustomCallOp call) {
  if (auto config = call->getAttrOfType<DictionaryAttr>("mhlo.backend_config"))
    return config;
  return dyn_cast_or_null<DictionaryAttr>(
      call.getBackendConfig().value_or(Attribute()));
}

/// Operands and results are x, positions and two initial values; the best
/// elements of x and their positions.
static bool hasTypesFor(CustomCallOp call, const Choice &choice) {
  if (call->getNumOperands() != 4 || call->getNumResults() != 2)
    return false;
  auto x = dyn_cast<RankedTensorType>(call->getOperand(0).getType());
  auto positions = dyn_cast<RankedTensorType>(call->getOperand(1).getType());
  if (!x || !positions || x.getShape() != positions.getShape() ||
      choice.dim < 0 || choice.dim >= x.getRank() || choice.k < 1 ||
      choice.k > x.getDimSize(choice.dim))
    return false;
  SmallVector<int64_t> shape(x.getShape());
  shape[choice.dim] = choice.k;
  return call->getResult(0).getType() == x.clone(shape) &&
         call->getResult(1).getType() == positions.clone(shape);
}

static FailureOr<Choice> readChoice(CustomCallOp call) {
  DictionaryAttr config = getConfig(call);
  auto number = [&](StringRef name) {
    auto value = config ? config.getAs<IntegerAttr>(name) : IntegerAttr();
    return value ? value.getInt() : -1;
  };
  StringRef comparator = getComparator(call);
  bool isGreatest = comparator.starts_with("top_k_gt_"),
       isLeast = comparator.starts_with("top_k_lt_");
  Choice choice = {number("top_k"), number("reduction_dim"), isGreatest};
  auto whole =
      config ? config.getAs<BoolAttr>("aggregate_to_topk") : BoolAttr();
  if (whole && whole.getValue() && (isGreatest || isLeast) &&
      hasTypesFor(call, choice))
    return choice;
  return emitRefusal(call, rt::ErrorKind::unsupported)
         << "expected 'ApproxTopK' as jax.lax.approx_max_k and approx_min_k "
            "print it, with aggregate_to_topk, and results of top_k elements "
            "along reduction_dim, got "
         << (config ? Attribute(config) : call.getCallTargetNameAttr());
}

LogicalResult
stablehlo::expandApproximateTopK(CustomCallOp call, OpBuilder &builder,
                                 SmallVectorImpl<Value> &results) {
  FailureOr<Choice> choice = readChoice(call);
  if (failed(choice))
    return failure();
  Location loc = call.getLoc();
  Value key = buildOrderKey(builder, loc, call->getOperand(0));
  Value order =
      nn::ArgsortOp::create(builder, loc, ValueRange(key), choice->dim,
                            choice->k, /*descending=*/{choice->isGreatest});
  for (unsigned i : {0u, 1u})
    results.push_back(
        gatherAlong(builder, loc, call->getOperand(i), order, choice->dim));
  return success();
}
