//===- Libraries.cpp - Memory of calls of the library ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each entry has one scratch frame; libraries are called on one stream, so that
// all share its bytes with the kernels.
//
//   plan.library ... workspace_bytes(4096)
//       workspace(<@train.scratch.all, [4096], i8>)
//
// Test: test/EndToEnd/resume.test
//===----------------------------------------------------------------------===//

#include "PlanExport.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;

namespace llmc::target {

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
  return buffer;
}

/// Kernels' scratch grows with the buffer; theirs keeps its size.
LogicalResult reserveWorkspaces(ModuleOp module, const AskLibrary &ask) {
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
    // What is called is used too.
    for (size_t i = 0; i < used.size(); ++i) {
      auto symbol = dyn_cast<FlatSymbolRefAttr>(used[i]);
      auto program =
          symbol ? module.lookupSymbol<plan::ProgramOp>(symbol.getValue())
                 : plan::ProgramOp();
      if (!program)
        continue;
      for (Operation &op : program.getBody().front())
        if (FlatSymbolRefAttr callee = plan::getCallee(&op))
          used.push_back(callee);
      for (auto op : program.getBody().getOps<plan::LibraryOp>()) {
        rt::Result<LibraryUse> asked = ask(op.getRuntimeDescriptor(), threads);
        if (!asked.ok())
          return emitRefusal(op, asked.kind()) << asked.message();
        op.setForm(asked->form);
        auto bytes = static_cast<int64_t>(asked->workspaceBytes);
        if (bytes == 0)
          continue;
        if (!scratch)
          scratch = makeScratch(module, entry.getSymName());
        if (bytes > static_cast<int64_t>(scratch.getBytes()))
          scratch.setBytes(bytes);
        op.setWorkspaceBytes(bytes);
        op.setWorkspaceAttr(plan::OperandAttr::get(
            module.getContext(),
            FlatSymbolRefAttr::get(scratch.getSymNameAttr()), {bytes},
            builder.getI8Type()));
      }
    }
  }
  return success();
}

} // namespace llmc::target
