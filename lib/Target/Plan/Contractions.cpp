//===- Contractions.cpp - Memory of the library's contractions ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each entry has one scratch frame; contractions run on one stream, so that all
// share its bytes with the kernels.
//
//   plan.contract ... scratch_bytes(4096) scratch(<@train.scratch.all, [4096],
//   i8>)
//
// Test: test/EndToEnd/resume.test
//===----------------------------------------------------------------------===//

#include "PlanExport.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
namespace rtp = llmc::rt::plan;

namespace llmc::target {

static FailureOr<rtp::Operand> toOperand(plan::ContractOp op,
                                         plan::OperandAttr attr) {
  rtp::Operand operand;
  std::optional<rt::DType> dtype = dist::getRuntimeDType(attr.getDtype());
  if (!dtype)
    return emitRefusal(op, rt::ErrorKind::unsupported)
           << "expected elements that the runtime stores, got "
           << attr.getDtype();
  operand.buffer = 0;
  operand.dtype = *dtype;
  operand.shape.assign(attr.getShape().asArrayRef().begin(),
                       attr.getShape().asArrayRef().end());
  return operand;
}

/// The shape of the contraction; buffers are of no importance to a library.
static FailureOr<rtp::Contraction> toContraction(plan::ContractOp op) {
  rtp::Contraction contraction;
  FailureOr<rtp::Operand> a = toOperand(op, op.getA()),
                          b = toOperand(op, op.getB()),
                          c = toOperand(op, op.getC());
  std::optional<rt::DType> accumulate =
      dist::getRuntimeDType(op.getAccumulate());
  if (failed(a) || failed(b) || failed(c) || !accumulate)
    return failure();
  contraction.a = *a;
  contraction.b = *b;
  contraction.c = *c;
  contraction.accumulate = *accumulate;
  contraction.alpha = op.getAlpha().convertToDouble();
  contraction.beta = op.getBeta().convertToDouble();
  for (auto dim : op.getDims().getAsRange<plan::LoopDimAttr>())
    contraction.dims.push_back(
        {static_cast<rtp::ContractionDimKind>(dim.getKind()), dim.getSize(),
         dim.getA(), dim.getB(), dim.getC()});
  return contraction;
}

namespace {

/// The scratch of one entry's programs.
struct Scratch {
  plan::BufferOp buffer;
  int64_t bytes = 0;
};

} // namespace

/// A new scratch frame for the programs of an entry.
static plan::BufferOp makeScratch(ModuleOp module, StringRef entry) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SymbolTable table(module);
  auto frame = plan::FrameOp::create(
      builder, module.getLoc(),
      builder.getStringAttr((entry + ".scratch").str()),
      plan::FrameKindAttr::get(module.getContext(), plan::FrameKind::Scratch),
      builder.getI64IntegerAttr(1), plan::ExprAttr(),
      builder.getI64IntegerAttr(1), IntegerAttr(), DenseI64ArrayAttr(),
      IntegerAttr(), IntegerAttr());
  table.insert(frame);
  auto buffer = plan::BufferOp::create(
      builder, module.getLoc(),
      builder.getStringAttr((entry + ".scratch.all").str()),
      FlatSymbolRefAttr::get(frame.getSymNameAttr()),
      builder.getI64IntegerAttr(0), IntegerAttr());
  table.insert(buffer);
  return buffer;
}

/// Kernels' scratch grows with the buffer; theirs keeps its size.
LogicalResult reserveContractions(ModuleOp module, const AskContraction &ask) {
  OpBuilder builder(module.getContext());
  int32_t threads = 1;
  for (auto device : module.getOps<plan::DeviceOp>())
    threads = static_cast<int32_t>(device.getThreads());
  llvm::StringMap<plan::BufferOp> scratchOf;
  for (auto buffer : module.getOps<plan::BufferOp>())
    scratchOf[buffer.getSymName()] = buffer;
  for (auto entry : module.getOps<plan::EntryOp>()) {
    SmallVector<Attribute> used;
    auto table = module.lookupSymbol<plan::TableOp>(entry.getTable());
    llvm::append_range(used, table.getPrograms());
    llvm::append_range(used, entry.getPrologue());
    llvm::append_range(used, entry.getEpilogue());
    plan::BufferOp scratch =
        scratchOf.lookup((entry.getSymName() + ".scratch.all").str());
    for (Attribute name : used) {
      auto symbol = dyn_cast<FlatSymbolRefAttr>(name);
      auto program =
          symbol ? module.lookupSymbol<plan::ProgramOp>(symbol.getValue())
                 : plan::ProgramOp();
      if (!program)
        continue;
      for (auto op : program.getBody().getOps<plan::ContractOp>()) {
        FailureOr<rtp::Contraction> contraction = toContraction(op);
        if (failed(contraction))
          return failure();
        rt::Result<ContractionMemory> memory = ask(*contraction, threads);
        if (!memory.ok())
          return op.emitOpError() << memory.message();
        int64_t bytes = memory->scratchBytes + memory->packedBytes;
        if (bytes == 0)
          continue;
        if (!scratch)
          scratch = makeScratch(module, entry.getSymName());
        if (bytes > static_cast<int64_t>(scratch.getBytes()))
          scratch.setBytes(bytes);
        op.setScratchBytes(memory->scratchBytes);
        op.setPackedBytes(memory->packedBytes);
        op.setScratchAttr(plan::OperandAttr::get(
            module.getContext(),
            FlatSymbolRefAttr::get(scratch.getSymNameAttr()), {bytes},
            builder.getI8Type()));
      }
    }
  }
  return success();
}

} // namespace llmc::target
