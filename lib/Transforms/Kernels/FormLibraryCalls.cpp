//===- FormLibraryCalls.cpp - Library calls into buffers that exist -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   add(%a, dot(transpose(%x), %dy))  ->  dist.contract %x, %dy plus %a …
//   add(dot(%x, %w), broadcast(%b))   ->  dist.contract %x, %w bias %b …
//   transpose(dot(%x, %w))            ->  dist.contract %w, %x …
//   add(%a, scatter(zeros, …))        ->  scatter(%a, …)
//
// Op names play no part: forms, calls and rules come from the ops, additions,
// permutations, repetitions and zeros are recognised in their scalar code
// (ScalarProbe.h). A call takes the place of the addition that it makes, so %a
// and %b are defined before it. Factors that the target's library takes in
// another layout or type alone are copied in front of it (FactorCopies.h).
//
// Test: test/Transforms/Kernels/form-library-calls.mlir
//
//===----------------------------------------------------------------------===//

#include "BufferLife.h"
#include "Calls/CallKernels.h"
#include "FactorCopies.h"
#include "ScalarProbe.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/IR/ProgramTarget.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include "llmc/Runtime/Base/TargetLibraries.h"
#include "llmc/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_FORMLIBRARYCALLSPASS
#include "llmc/Transforms/Kernels/Passes.h.inc"

namespace {

using namespace kernels;
using graph::KernelForm;

/// The addition that alone reads `value`, if its other operand's buffer may
/// take the sum: an argument that the sum replaces, or a library call's result
/// that nothing else reads.
struct Accumulation {
  Operation *add = nullptr;
  Value accumulator;
};

Accumulation findAccumulation(func::FuncOp function, Value value) {
  if (!value.hasOneUse())
    return {};
  Operation *add = *value.getUsers().begin();
  if (!isAddition(add) || add->getResult(0).getType() != value.getType())
    return {};
  Value other = add->getOperand(add->getOperand(0) == value ? 1 : 0);
  if (!other.hasOneUse() || other.getType() != value.getType())
    return {};
  if (isSameSlot(function, other, add->getResult(0)) ||
      isa_and_nonnull<graph::LibraryCallOpInterface>(other.getDefiningOp()))
    return {add, other};
  return {};
}

/// The addition that alone reads `value`, of what repeats another one.
struct AddedBias {
  Operation *add = nullptr;
  Repetition bias;
};

AddedBias findAddedBias(Value value) {
  if (!value.hasOneUse())
    return {};
  Operation *add = *value.getUsers().begin();
  if (!isAddition(add) || add->getResult(0).getType() != value.getType())
    return {};
  return {add,
          getRepetition(add->getOperand(add->getOperand(0) == value ? 1 : 0))};
}

/// The call stands where `add` stood, whose result it makes.
void takePlace(Operation *call, Operation *add) {
  call->moveBefore(add);
  add->getResult(0).replaceAllUsesWith(call->getResult(0));
  add->erase();
}

/// Operands without permutations of their dims, where the call reads them so.
void readInPlace(graph::LibraryCallOpInterface call) {
  for (OpOperand &operand : call->getOpOperands()) {
    while (Operation *maker = operand.get().getDefiningOp()) {
      std::optional<SmallVector<int64_t>> permutation = getPermutation(maker);
      if (!permutation ||
          !call.readPermuted(operand.getOperandNumber(), *permutation))
        break;
      operand.set(maker->getOperand(0));
    }
  }
}

/// A permutation that alone reads the result is written, where the call can.
void writeInPlace(graph::LibraryCallOpInterface call) {
  Value result = call->getResult(0);
  while (result.hasOneUse()) {
    Operation *reader = *result.getUsers().begin();
    std::optional<SmallVector<int64_t>> permutation = getPermutation(reader);
    if (!permutation || !call.writePermuted(*permutation))
      return;
    reader->getResult(0).replaceAllUsesWith(result);
    reader->erase();
  }
}

/// Says why a library that has a kind of call is not left this one.
void remarkWhyKernels(const KernelTarget &target,
                      graph::LibraryCallOpInterface call, Location loc) {
  FailureOr<rt::LibraryDescriptor> descriptor = call.getDescriptor();
  std::string libraries = getLibraries(target, call);
  if (failed(descriptor) || !rt::hasLibrary(libraries, rt::nameOf(*descriptor)))
    return;
  rt::Status status = rt::checkLibrary(libraries, *descriptor);
  if (!status.ok())
    remark::missed(loc, remark::RemarkOpts::name("library").category("kernels"))
        << std::string(rt::phraseOf(*descriptor)) +
               " by kernels, not by a library of '" + libraries +
               "': " + status.message();
}

/// Whether who computes the call does so with a bias. Where a library would
/// lose the call by it, the addition stays a kernel's.
bool staysWithBias(const KernelTarget &target,
                   graph::LibraryCallOpInterface call) {
  FailureOr<rt::LibraryDescriptor> descriptor = call.getDescriptor();
  return failed(descriptor) ||
         rt::takesBias(getLibraries(target, call), *descriptor);
}

/// An addition to the one result becomes the call's.
void takeAddition(func::FuncOp function, const KernelTarget *target,
                  graph::LibraryCallOpInterface call) {
  Value result = call->getResult(0);
  Accumulation sum = findAccumulation(function, result);
  AddedBias added = findAddedBias(result);
  if (target && !staysWithBias(*target, call))
    added = {};
  if (sum.add && call.addTo(sum.accumulator))
    takePlace(call, sum.add);
  else if (added.add && call.addBias(added.bias.of, added.bias.dims))
    takePlace(call, added.add);
}

LogicalResult formCall(func::FuncOp function, FactorCopies &copies,
                       graph::KernelOpInterface op) {
  OpBuilder builder(op);
  auto call = dyn_cast_or_null<graph::LibraryCallOpInterface>(
      op.buildLibraryCall(builder));
  if (!call)
    return op->emitOpError("expected a call of a library, got none");
  call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  // What the target has neither a library nor kernels for is refused here,
  // where the op of the model still stands.
  ModuleOp program = op->getParentOfType<ModuleOp>();
  const KernelTarget *target = findKernelTarget(dist::getTargetName(program));
  if (target && failed(planKernels(*target, call, op)))
    return failure();
  op->replaceAllUsesWith(call->getResults());
  op->erase();
  readInPlace(call);
  if (call->getNumResults() == 1) {
    writeInPlace(call);
    takeAddition(function, target, call);
    copies.read(call);
  }
  if (target)
    remarkWhyKernels(*target, call, call.getLoc());
  return success();
}

/// An Update that adds to zeros, and whose sum with `%a` is taken: starts from
/// `%a`.
void foldStart(func::FuncOp function, graph::KernelOpInterface op) {
  auto ruled = dyn_cast<graph::ShardingRuleOpInterface>(op.getOperation());
  if (!ruled || !llvm::is_contained(ruled.getShardingRule().addends, 0) ||
      !isZero(op->getOperand(0)))
    return;
  Accumulation sum = findAccumulation(function, op->getResult(0));
  if (!sum.add)
    return;
  op->moveBefore(sum.add);
  op->setOperand(0, sum.accumulator);
  sum.add->getResult(0).replaceAllUsesWith(op->getResult(0));
  sum.add->erase();
}

class FormLibraryCallsPass
    : public impl::FormLibraryCallsPassBase<FormLibraryCallsPass> {
public:
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<graph::KernelOpInterface> libraries, updates;
      function.walk([&](graph::KernelOpInterface op) {
        if (op.getKernelForm() == KernelForm::Library)
          libraries.push_back(op);
        else if (op.getKernelForm() == KernelForm::Update)
          updates.push_back(op);
      });
      FactorCopies copies(dist::getTarget(getOperation()));
      for (graph::KernelOpInterface op : libraries)
        if (failed(formCall(function, copies, op)))
          return signalPassFailure();
      for (graph::KernelOpInterface op : updates)
        foldStart(function, op);
    }
  }
};

} // namespace

} // namespace llmc
