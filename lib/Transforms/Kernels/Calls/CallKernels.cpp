//===- CallKernels.cpp - Launches in place of a library's call ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %g = dist.convolve %x, %dy plus %acc …
//     ->  %s = dist.launch @kernels::@k_1(%x, %dy)           the sums in parts
//         %g = dist.launch @kernels::@k_2(%s, %acc) {tied = [[0, 1]]}
//
// Test: test/Transforms/Kernels/gpu-calls.mlir
//
//===----------------------------------------------------------------------===//

#include "CallKernels.h"
#include "llmc/Dialect/Dist/IR/LaunchMarks.h"
#include "llmc/Dialect/Dist/IR/ProgramTarget.h"
#include "llmc/Runtime/Base/LibraryCost.h"
#include "llmc/Runtime/Base/TargetLibraries.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;

namespace llmc::kernels {

SmallVector<RankedTensorType>
getBufferTypes(graph::LibraryCallOpInterface call) {
  return llvm::map_to_vector(call.getBuffers(), [](Value buffer) {
    return cast<RankedTensorType>(buffer.getType());
  });
}

std::string getLibraries(const KernelTarget &target, Operation *op) {
  auto program = op->getParentOfType<ModuleOp>();
  return dist::getTargetName(program) == target.getName()
             ? dist::getTargetLibraries(program)
             : target.getName().str();
}

FailureOr<std::optional<CallPlan>>
planKernels(const KernelTarget &target, graph::LibraryCallOpInterface call,
            Operation *model) {
  std::optional<CallPlan> none;
  std::string libraries = getLibraries(target, model);
  if (llvm::all_of(rt::libraryKindNames, [&](std::string_view kind) {
        return rt::hasLibrary(libraries, kind);
      }))
    return none;
  FailureOr<rt::LibraryDescriptor> descriptor = call.getDescriptor();
  if (failed(descriptor))
    return failure();
  if (rt::checkLibrary(libraries, *descriptor).ok())
    return none;
  std::optional<CallPlan> plan =
      target.planCall(*descriptor, getBufferTypes(call));
  if (plan) {
    plan->operations = rt::operationsOf(*descriptor);
    return plan;
  }
  return emitRefusal(model, rt::ErrorKind::mismatch)
         << "expected a kernel or a library of target '" << target.getName()
         << "' for " << rt::phraseOf(*descriptor)
         << ", got none; compile for 'cpu'";
}

namespace {
/// A launch as it is put together from memory.
struct Operands {
  SmallVector<Value> inputs;
  SmallVector<Type> results;
  /// The memory that each result is.
  SmallVector<unsigned> made;
  SmallVector<Attribute> ties;
};
} // namespace

/// `memory` has what each buffer and temporary holds now; where the result is
/// written over an operand, that.
static Operands getOperands(Builder &builder, const CallLaunch &launch,
                            ArrayRef<Value> memory,
                            ArrayRef<RankedTensorType> types) {
  Operands operands;
  for (const CallMemory &part : launch.memory) {
    if (part.access != dist::Access::Write)
      operands.inputs.push_back(memory[part.number]);
    if (part.access == dist::Access::Read)
      continue;
    if (part.access == dist::Access::ReadWrite)
      operands.ties.push_back(builder.getI64ArrayAttr(
          {static_cast<int64_t>(operands.results.size()),
           static_cast<int64_t>(operands.inputs.size()) - 1}));
    operands.results.push_back(types[part.number]);
    operands.made.push_back(part.number);
  }
  return operands;
}

/// What each buffer of a call holds before it: of a result what it is added to.
static SmallVector<Value> getMemory(graph::LibraryCallOpInterface call) {
  SmallVector<Value> memory = call.getBuffers();
  for (auto [result, operand] : call.getTiedPairs())
    for (Value &buffer : memory)
      if (buffer == call->getResult(result))
        buffer = call->getOperand(operand);
  return memory;
}

/// Says of a launch which operations of the call it makes.
static void markOperations(dist::LaunchOp made, const CallPlan &plan,
                           const CallLaunch &launch) {
  double shares = 0;
  for (const CallLaunch &each : plan.launches)
    shares += each.share;
  double operations = shares > 0 ? plan.operations * launch.share / shares : 0;
  if (operations > 0)
    made->setAttr(dist::kOperations, Builder(made).getF64FloatAttr(operations));
}

SmallVector<Value> launchCall(OpBuilder &builder, KernelTable &table,
                              graph::LibraryCallOpInterface call,
                              const CallPlan &plan) {
  SmallVector<Value> buffers = call.getBuffers(), memory = getMemory(call);
  SmallVector<RankedTensorType> types = getBufferTypes(call);
  llvm::append_range(types, plan.temporaries);
  memory.resize(types.size());
  for (const CallLaunch &launch : plan.launches) {
    SmallVector<RankedTensorType> arguments;
    for (const CallMemory &part : launch.memory)
      arguments.push_back(types[part.number]);
    Operands operands = getOperands(builder, launch, memory, types);
    auto made = dist::LaunchOp::create(
        builder, call.getLoc(), operands.results,
        table.getCall(launch, arguments, call.getLoc()), operands.inputs,
        operands.ties.empty() ? ArrayAttr()
                              : builder.getArrayAttr(operands.ties),
        /*scratch=*/0);
    made->setDiscardableAttrs(call->getDiscardableAttrDictionary());
    markOperations(made, plan, launch);
    for (auto [number, result] : llvm::zip(operands.made, made.getResults()))
      memory[number] = result;
  }
  SmallVector<Value> results;
  for (Value result : call->getResults())
    results.push_back(memory[llvm::find(buffers, result) - buffers.begin()]);
  return results;
}

} // namespace llmc::kernels
