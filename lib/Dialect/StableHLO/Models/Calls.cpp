//===- Calls.cpp - Composites and custom calls ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   composite "chlo.erf" %x {decomposition = @impl}   ->   chlo.erf %x
//   composite "my.gelu" %x {decomposition = @impl}    ->   call @impl(%x)
//   custom_call @Sharding(%x)                         ->   %x
//   custom_call @lapack_spotrf_ffi(%a)              ->   cholesky %a
//   custom_call @ragged_all_to_all(%x, ...)           ->   ragged_all_to_all %x
//   custom_call @ApproxTopK(%x, ...)                  ->   nn.argsort %x
//   custom_call @xla_ffi_python_cpu_callback(%x)      ->   nothing, and a
//                                                          warning
//
// Test: test/Import/StableHLO/expand-calls.mlir
//===----------------------------------------------------------------------===//

#include "ApproximateTopK.h"
#include "Lapack.h"
#include "llmc/Dialect/Graph/IR/ComplexParts.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/CallTargets.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

/// Ops that a graph may hold: they compute, or are written with others.
static bool isGraphOp(RegisteredOperationName name) {
  return !name.hasInterface<SymbolUserOpInterface>() &&
         (name.hasInterface<EvaluationOpInterface>() ||
          name.hasInterface<ExpansionOpInterface>());
}

/// The op that has the composite's name, with its attributes; null where there
/// is none that knows them all.
static Operation *buildNamedOp(CompositeOp op, OpBuilder &builder) {
  MLIRContext *context = op.getContext();
  auto name = RegisteredOperationName::lookup(op.getName(), context);
  if (!name || !isGraphOp(*name))
    return nullptr;
  OperationState state(op.getLoc(), *name);
  state.addOperands(op.getInputs());
  state.addTypes(op.getResultTypes());
  Operation *named = builder.create(state);
  if (DictionaryAttr attributes = op.getCompositeAttributesAttr())
    named->setAttrs(attributes);
  ScopedDiagnosticHandler quiet(context,
                                [](Diagnostic &) { return success(); });
  if (named->getDiscardableAttrs().empty() && succeeded(verify(named)))
    return named;
  named->erase();
  return nullptr;
}

namespace {
struct CompositeExpansion
    : ExpansionOpInterface::ExternalModel<CompositeExpansion, CompositeOp> {
  LogicalResult expand(Operation *op, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto composite = cast<CompositeOp>(op);
    Operation *built = buildNamedOp(composite, builder);
    if (!built)
      built = func::CallOp::create(builder, op->getLoc(),
                                   composite.getDecompositionAttr(),
                                   op->getResultTypes(), op->getOperands());
    results.append(built->result_begin(), built->result_end());
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Custom calls
//===----------------------------------------------------------------------===//

/// Entries and exits of manual regions in older texts.
static constexpr StringLiteral kOldBoundaries[] = {kManualEntryTarget,
                                                   kManualExitTarget};

/// The exchange of slices that the run counts: of StableHLO it is no op.
static LogicalResult expandExchange(CustomCallOp call, OpBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  auto config = dyn_cast_or_null<DictionaryAttr>(
      call.getBackendConfig().value_or(Attribute()));
  auto groups = config ? config.getAs<DenseIntElementsAttr>("replica_groups")
                       : DenseIntElementsAttr();
  constexpr unsigned numOperands = 6;
  bool isWhole = groups && groups.getType().getRank() == 2 &&
                 groups.getElementType().isInteger(64) &&
                 call->getNumOperands() == numOperands &&
                 call->getNumResults() == 1;
  if (!isWhole)
    return emitRefusal(call, rt::ErrorKind::unsupported)
           << "expected '" << RaggedAllToAllOp::kCallTarget
           << "' of 6 operands, 1 result and "
           << "'replica_groups' in its backend_config, got "
           << call->getNumOperands() << ", " << call->getNumResults() << " and "
           << call.getBackendConfig().value_or(builder.getUnitAttr());
  ChannelHandleAttr channel;
  if (auto id = config.getAs<IntegerAttr>("channel_id"))
    channel = ChannelHandleAttr::get(call.getContext(), id.getInt(), 1);
  OperationState state(call.getLoc(), RaggedAllToAllOp::getOperationName());
  state.addOperands(call.getOperands());
  state.addTypes(call.getResultTypes());
  state.addAttribute("replica_groups", groups);
  if (channel)
    state.addAttribute("channel_handle", channel);
  Operation *made = builder.create(state);
  results.push_back(made->getResult(0));
  return mlir::verify(made);
}

/// A call of a function of Python's, which ran beside JAX.
static bool isCallback(CustomCallOp call) {
  StringRef target = call.getCallTargetName();
  return target.contains("python") && target.contains("callback");
}

/// What it only looks at is not looked at; what it returns nobody has.
static LogicalResult expandCallback(CustomCallOp call) {
  if (call->getNumResults() != 0)
    return emitRefusal(call, rt::ErrorKind::unsupported)
           << "expected ops, got a call of Python ('"
           << call.getCallTargetName()
           << "', as jax.pure_callback and io_callback print it), which a plan "
              "cannot make: write the function in jax.numpy, or compute its "
              "result before the model and give it as an input";
  emitWarning(call.getLoc()) << "a call of Python without results is left out "
                                "(jax.debug.print and jax.debug.callback)";
  return success();
}

/// Says where a value lies, and nothing of the value.
static bool isPlacement(CustomCallOp call) {
  return call.getCallTargetName() == kPlacementTarget &&
         call->getNumOperands() == 1 &&
         call->getOperandTypes() == call->getResultTypes();
}

static LogicalResult refuseCall(CustomCallOp call, StringRef hint) {
  return emitRefusal(call, rt::ErrorKind::unsupported)
         << "expected a custom call that annotates a value, got '"
         << call.getCallTargetName() << "', which llmc does not have" << hint;
}

namespace {
/// Of what is known, calls compute with real numbers alone, and are left out.
struct CustomCallParts
    : ComplexPartsOpInterface::ExternalModel<CustomCallParts, CustomCallOp> {
  LogicalResult splitParts(Operation *op, OpBuilder &,
                           ArrayRef<ComplexPair> operands,
                           SmallVectorImpl<ComplexPair> &results) const {
    auto call = cast<CustomCallOp>(op);
    if (isCallback(call))
      return expandCallback(call);
    if (!isPlacement(call))
      return refuseCall(call,
                        " for complex numbers (a matrix X + iY is the real one "
                        "of the blocks [[X, -Y], [Y, X]])");
    results.push_back(operands[0]);
    return success();
  }
};

struct CustomCallExpansion
    : ExpansionOpInterface::ExternalModel<CustomCallExpansion, CustomCallOp> {
  LogicalResult expand(Operation *op, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto call = cast<CustomCallOp>(op);
    if (call.getCallTargetName() == RaggedAllToAllOp::kCallTarget)
      return expandExchange(call, builder, results);
    if (isLapackOp(call))
      return expandLapack(call, builder, results);
    if (isApproximateTopK(call))
      return expandApproximateTopK(call, builder, results);
    if (isCallback(call))
      return expandCallback(call);
    if (isPlacement(call)) {
      results.push_back(op->getOperand(0));
      return success();
    }
    bool isBoundary =
        llvm::is_contained(kOldBoundaries, call.getCallTargetName());
    return refuseCall(
        call, isBoundary ? " (print manual regions as sdy.manual_computation, "
                           "as JAX does by jax_use_shardy_partitioner)"
                         : getLapackHint(call.getCallTargetName()));
  }
};
} // namespace

void stablehlo::registerCallModels(DialectRegistry &registry) {
  registry.insert<func::FuncDialect>();
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    CompositeOp::attachInterface<CompositeExpansion>(*context);
    CustomCallOp::attachInterface<CustomCallExpansion, CustomCallParts>(
        *context);
  });
}
