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
                                     OpBuilder &builder, const KernelSpec &spec,
                                     StringRef name, int64_t &rows) {
  const KernelTarget &target = kernel->target;
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
  kernel = std::make_unique<KernelBody>(builder, target, symbols, spec, name);
  return emitRows(*kernel, shape.drop_back(), rows);
}

FailureOr<EmittedKernel> emitKernel(OpBuilder &builder,
                                    const KernelTarget &target,
                                    SymbolTable &symbols,
                                    const KernelSpec &spec, StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  auto kernel =
      std::make_unique<KernelBody>(builder, target, symbols, spec, name);
  EmittedKernel result;
  LogicalResult written = success();
  switch (spec.kind) {
  case KernelSpec::Kind::Rows:
    written = spec.rowShape.empty() && !hasReduction(spec)
                  ? emitElementwise(kernel, builder, spec, name, result.rows)
                  : emitRows(*kernel, spec.rowShape, result.rows);
    if (succeeded(written))
      result.tieable = kernel->findTieable();
    break;
  case KernelSpec::Kind::Reduce:
    written = emitReduce(*kernel, result.rows);
    break;
  case KernelSpec::Kind::Update:
    written = emitUpdate(*kernel, result.rows);
    result.inPlaceOnly = true;
    result.tieable.push_back({0, *spec.changed});
    break;
  }
  if (failed(written)) {
    kernel->function.erase();
    return failure();
  }
  result.function = kernel->function;
  result.shape = kernel->writer->getShape();
  setScratchSize(result.function, result.shape.scratchBytes);
  return result;
}

/// What the kernel does with an input or output that is not tied.
static dist::ArgumentAttr getArgument(Value value, dist::Access access) {
  auto type = cast<RankedTensorType>(value.getType());
  MLIRContext *context = type.getContext();
  if (dist::CoordinateOp scalar = getScalarInput(value))
    return dist::ArgumentAttr::get(context, dist::Access::Scalar,
                                   type.getElementType(),
                                   getNumCoordinates(scalar));
  auto flat =
      RankedTensorType::get({type.getNumElements()}, type.getElementType());
  return dist::ArgumentAttr::get(context, access, flat, 0);
}

SmallVector<Attribute>
tieArguments(EmittedKernel &kernel, const KernelSpec &spec,
             ArrayRef<std::pair<unsigned, unsigned>> ties) {
  func::FuncOp function = kernel.function;
  Block &entry = function.front();
  llvm::BitVector erased(entry.getNumArguments());
  unsigned inputs = spec.inputs.size();
  SmallVector<Attribute> arguments;
  for (Value input : spec.inputs)
    arguments.push_back(getArgument(input, dist::Access::Read));
  for (auto [output, input] : ties) {
    entry.getArgument(inputs + output)
        .replaceAllUsesWith(entry.getArgument(input));
    erased.set(inputs + output);
    arguments[input] = getArgument(spec.inputs[input], dist::Access::ReadWrite);
  }
  for (auto [number, output] : llvm::enumerate(spec.outputs))
    if (!erased.test(inputs + number))
      arguments.push_back(getArgument(output, dist::Access::Write));
  entry.eraseArguments(erased);
  function.setFunctionType(FunctionType::get(
      function.getContext(), llvm::to_vector(entry.getArgumentTypes()), {}));
  return arguments;
}

} // namespace llmc::kernels
