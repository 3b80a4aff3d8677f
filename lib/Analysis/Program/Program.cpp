//===- Program.cpp - The functions that a program runs --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Support/HostTensor.h"

using namespace mlir;
using namespace llmc;

std::optional<ArrayRef<int64_t>> ProgramFunction::getChunks() const {
  if (auto step = dyn_cast<dist::StepOp>(owner))
    return step.getChunks();
  return cast<dist::EntryOp>(owner).getChunks();
}

SmallVector<ProgramFunction> llmc::getProgramFunctions(ModuleOp module) {
  SmallVector<ProgramFunction> functions;
  auto add = [&](StringRef name, FunctionKind kind, Operation *owner) {
    if (auto function = module.lookupSymbol<func::FuncOp>(name))
      functions.push_back({function, kind, owner});
  };
  for (Operation &op : module.getBody()->getOperations()) {
    if (auto step = dyn_cast<dist::StepOp>(op)) {
      add(step.getMicrobatch(), FunctionKind::Microbatch, &op);
      add(step.getUpdate(), FunctionKind::Update, &op);
    } else if (auto entry = dyn_cast<dist::EntryOp>(op)) {
      add(entry.getFunction(), FunctionKind::Entry, &op);
    }
  }
  return functions;
}

RankedTensorType llmc::getInputType(ModuleOp module, StringRef name) {
  for (ProgramFunction &program : getProgramFunctions(module))
    for (unsigned i = 0; i < program.function.getNumArguments(); ++i) {
      StringAttr input =
          dist::getInput(dist::getArgumentPort(program.function, i));
      if (input && input.getValue() == name)
        return cast<RankedTensorType>(
            program.function.getArgument(i).getType());
    }
  return {};
}

FailureOr<dist::MeshOp> llmc::getMesh(ModuleOp module) {
  auto meshes = module.getOps<dist::MeshOp>();
  if (llvm::hasSingleElement(meshes))
    return *meshes.begin();
  return module.emitError()
         << "expected one 'dist.mesh', got " << llvm::range_size(meshes);
}

int64_t llmc::getPipelineSize(dist::MeshOp mesh) {
  return mesh.getPipeline() ? mesh.getAxes().getSize(*mesh.getPipeline()) : 1;
}

std::optional<int64_t> llmc::getBlock(Operation *op) {
  if (auto block = op->getAttrOfType<IntegerAttr>(dist::DistDialect::kBlock))
    return block.getInt();
  return std::nullopt;
}

std::optional<int64_t> llmc::getChunk(Operation *op, ArrayRef<int64_t> chunks) {
  std::optional<int64_t> block = getBlock(op);
  if (!block || *block >= static_cast<int64_t>(chunks.size()))
    return std::nullopt;
  return chunks[*block];
}

std::optional<dist::Phase> llmc::getPhase(Operation *op) {
  if (auto phase =
          op->getAttrOfType<dist::PhaseAttr>(dist::DistDialect::kPhase))
    return phase.getValue();
  return std::nullopt;
}

int64_t llmc::getBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return 0;
  return type.getNumElements() * getElementBytes(type.getElementType());
}
