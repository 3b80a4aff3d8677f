//===- KernelEmitter.cpp - A group of graph ops as loops ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the loop structure of a kernel. Element-wise code without a row shape
// is tried as one flat loop first; when it needs the indices of an element (a
// broadcast, a transpose), it is written again as rows of the last dim.
//
// Test: test/Transforms/Kernels/loops.mlir
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "LoopEmission.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace llmc::kernels {

dist::CoordinateOp getScalarInput(Value input) {
  return input.getDefiningOp<dist::CoordinateOp>();
}

int64_t getNumCoordinates(dist::CoordinateOp op) {
  SymbolTableCollection tables;
  FailureOr<dist::MeshOp> mesh = dist::findMesh(op, op.getMeshAttr(), tables);
  int64_t count = 1;
  if (succeeded(mesh))
    for (auto axis : op.getAxes().getAsRange<StringAttr>())
      count *= mesh->getAxes().getSize(axis.getValue());
  return count;
}

/// The scratch argument gets its final size.
static void setScratchSize(func::FuncOp function, int64_t bytes) {
  auto type =
      MemRefType::get({bytes}, IntegerType::get(function.getContext(), 8));
  function.front().getArguments().back().setType(type);
  SmallVector<Type> inputs(function.getFunctionType().getInputs());
  inputs.back() = type;
  function.setFunctionType(
      FunctionType::get(function.getContext(), inputs, {}));
}

static bool hasReduction(const KernelSpec &spec) {
  return llvm::any_of(spec.aligned, [](Operation *op) {
    return cast<graph::KernelOpInterface>(op).getKernelForm() ==
               graph::KernelForm::Reduction &&
           !isElementwise(op);
  });
}

/// Element-wise code: flat, or rows of the last dim.
static LogicalResult emitElementwise(std::unique_ptr<KernelBody> &kernel,
                                     OpBuilder &builder,
                                     const KernelStage &stage, StringRef name,
                                     int64_t &rows) {
  const KernelTarget &target = kernel->target;
  const KernelSpec &spec = stage.spec;
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(spec.outputs[0].getType()).getShape();
  bool linear = true;
  if (failed(emitElements(*kernel, rows, linear)))
    return failure();
  if (linear || shape.empty() || !target.prefersRows(shape.back()))
    return success();
  SymbolTable &symbols = kernel->symbols;
  builder.setInsertionPointAfter(kernel->function);
  kernel->function.erase();
  kernel = std::make_unique<KernelBody>(builder, target, symbols, stage, name);
  return emitRows(*kernel, shape.drop_back(), rows);
}

static LogicalResult emitWhole(std::unique_ptr<KernelBody> &kernel,
                               OpBuilder &builder, const KernelStage &stage,
                               StringRef name, EmittedKernel &result) {
  const KernelSpec &spec = stage.spec;
  switch (spec.kind) {
  case KernelSpec::Kind::Rows:
    if (failed(spec.rowShape.empty() && !hasReduction(spec)
                   ? emitElementwise(kernel, builder, stage, name, result.rows)
                   : emitRows(*kernel, spec.rowShape, result.rows)))
      return failure();
    result.tieable = kernel->findTieable();
    return success();
  case KernelSpec::Kind::Reduce:
    return emitReduce(*kernel, result.rows);
  case KernelSpec::Kind::Update:
    return emitUpdate(*kernel, result.rows);
  }
  llvm_unreachable("a kind of kernel");
}

static LogicalResult emitStage(std::unique_ptr<KernelBody> &kernel,
                               OpBuilder &builder, const KernelStage &stage,
                               StringRef name, EmittedKernel &result) {
  switch (stage.part) {
  case KernelStage::Part::Whole:
    return emitWhole(kernel, builder, stage, name, result);
  case KernelStage::Part::Blocks:
    return emitColumnBlocks(*kernel, result.rows);
  case KernelStage::Part::Tile:
    return emitColumnTile(*kernel, result.rows);
  case KernelStage::Part::Sort:
    return emitSort(*kernel, result.rows);
  case KernelStage::Part::Merge:
    return emitMerge(*kernel, result.rows);
  case KernelStage::Part::Segments:
    return emitSegments(*kernel, result.rows);
  }
  llvm_unreachable("a part of a kernel");
}

FailureOr<EmittedKernel> emitKernel(OpBuilder &builder,
                                    const KernelTarget &target,
                                    SymbolTable &symbols,
                                    const KernelStage &stage, StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  auto kernel =
      std::make_unique<KernelBody>(builder, target, symbols, stage, name);
  EmittedKernel result;
  if (failed(emitStage(kernel, builder, stage, name, result))) {
    kernel->function.erase();
    return failure();
  }
  if (stage.spec.changed) {
    result.inPlaceOnly = true;
    result.tieable.push_back({0, *stage.spec.changed});
  }
  result.function = kernel->function;
  result.shape = kernel->writer->getShape();
  setScratchSize(result.function, result.shape.scratchBytes);
  return result;
}

static dist::ArgumentAttr getMemory(RankedTensorType type,
                                    dist::Access access) {
  auto flat =
      RankedTensorType::get({type.getNumElements()}, type.getElementType());
  return dist::ArgumentAttr::get(type.getContext(), access, flat, 0);
}

/// What the kernel does with an input or output that is not tied.
static dist::ArgumentAttr getArgument(Value value, dist::Access access) {
  auto type = cast<RankedTensorType>(value.getType());
  if (dist::CoordinateOp scalar = getScalarInput(value))
    return dist::ArgumentAttr::get(type.getContext(), dist::Access::Scalar,
                                   type.getElementType(),
                                   getNumCoordinates(scalar));
  return getMemory(type, access);
}

SmallVector<Attribute>
tieArguments(EmittedKernel &kernel, const KernelStage &stage,
             ArrayRef<std::pair<unsigned, unsigned>> ties) {
  const KernelSpec &spec = stage.spec;
  func::FuncOp function = kernel.function;
  Block &entry = function.front();
  llvm::BitVector erased(entry.getNumArguments());
  unsigned inputs = spec.inputs.size() + stage.taken.size();
  SmallVector<Attribute> arguments;
  for (Value input : spec.inputs)
    arguments.push_back(getArgument(input, dist::Access::Read));
  for (RankedTensorType type : stage.taken)
    arguments.push_back(getMemory(type, dist::Access::Read));
  for (auto [output, input] : ties) {
    entry.getArgument(inputs + output)
        .replaceAllUsesWith(entry.getArgument(input));
    erased.set(inputs + output);
    arguments[input] = getArgument(spec.inputs[input], dist::Access::ReadWrite);
  }
  for (auto [number, output] : llvm::enumerate(spec.outputs))
    if (!erased.test(inputs + number))
      arguments.push_back(getArgument(output, dist::Access::Write));
  for (RankedTensorType type : stage.made)
    arguments.push_back(getMemory(type, dist::Access::Write));
  entry.eraseArguments(erased);
  function.setFunctionType(FunctionType::get(
      function.getContext(), llvm::to_vector(entry.getArgumentTypes()), {}));
  return arguments;
}

} // namespace llmc::kernels
