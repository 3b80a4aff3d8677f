//===- PlanInstructions.cpp - Programs and their instructions -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/EndToEnd/resume.test
//===----------------------------------------------------------------------===//

#include "PlanExport.h"
#include "llmc/Dialect/Dist/IR/LaunchMarks.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace rtp = llmc::rt::plan;

namespace llmc::target {

rt::Result<rtp::Action> PlanExport::kernelOf(plan::KernelOp op) {
  rtp::KernelLaunch launch;
  launch.kernel =
      indexOf(kernels, op.getKernel().getLeafReference().getValue());
  for (auto use : op.getOperands().getAsRange<plan::UseAttr>()) {
    LLMC_TRY_ASSIGN(rtp::Operand operand, operandOf(op, use.getOperand()));
    launch.operands.push_back(std::move(operand));
    launch.access.push_back(static_cast<rtp::Access>(use.getAccess()));
  }
  for (auto scalar : op.getScalars().getAsRange<plan::ExprAttr>()) {
    LLMC_TRY_ASSIGN(rtp::ExprId expr, exprOf(op, scalar));
    launch.scalars.push_back(expr);
  }
  if (op.getScratch()) {
    LLMC_TRY_ASSIGN(launch.scratch, operandOf(op, *op.getScratch()));
  }
  launch.operations = dist::getOperations(op);
  return rtp::Action(std::move(launch));
}

rt::Result<rtp::Action> PlanExport::libraryOf(plan::LibraryOp op) {
  rtp::Library library;
  library.descriptor = op.getRuntimeDescriptor();
  for (auto use : op.getOperands().getAsRange<plan::UseAttr>()) {
    LLMC_TRY_ASSIGN(rtp::Operand operand, operandOf(op, use.getOperand()));
    library.operands.push_back(std::move(operand));
    library.access.push_back(static_cast<rtp::Access>(use.getAccess()));
  }
  library.workspaceBytes = op.getWorkspaceBytes();
  library.form = static_cast<int32_t>(op.getForm());
  if (op.getWorkspace()) {
    LLMC_TRY_ASSIGN(library.workspace, operandOf(op, *op.getWorkspace()));
  }
  return rtp::Action(std::move(library));
}

rt::Result<rtp::Action> PlanExport::collectiveOf(plan::CollectiveOp op) {
  rtp::Collective collective;
  collective.symbol = intern(plan.symbols, symbols, op.getSymbol());
  collective.kind = op.getKind();
  if (op.getReduction())
    collective.reduction = *op.getReduction();
  for (auto axis : op.getAxes().getAsRange<StringAttr>())
    collective.axes.push_back(plan.mesh.axisNamed(axis.str()));
  if (std::optional<ArrayRef<int64_t>> stages = op.getStages())
    collective.stages.assign(stages->begin(), stages->end());
  collective.dim = static_cast<int32_t>(op.getDim());
  collective.concatDim = static_cast<int32_t>(op.getConcatDim());
  if (op.getPeer()) {
    LLMC_TRY_ASSIGN(collective.peer, exprOf(op, *op.getPeer()));
  }
  for (auto operand : op.getInputs().getAsRange<plan::OperandAttr>()) {
    LLMC_TRY_ASSIGN(rtp::Operand input, operandOf(op, operand));
    collective.inputs.push_back(std::move(input));
  }
  for (auto operand : op.getOutputs().getAsRange<plan::OperandAttr>()) {
    LLMC_TRY_ASSIGN(rtp::Operand output, operandOf(op, operand));
    collective.outputs.push_back(std::move(output));
  }
  if (op.getCounts()) {
    LLMC_TRY_ASSIGN(collective.counts, operandOf(op, *op.getCounts()));
  }
  return rtp::Action(std::move(collective));
}

rt::Result<rtp::Message> PlanExport::messageOf(Operation *op,
                                               plan::MessageAttr attr) {
  rtp::Message message;
  message.transfer =
      intern(plan.transfers, transfers, attr.getTransfer().getValue());
  LLMC_TRY_ASSIGN(message.peer, exprOf(op, attr.getPeer()));
  for (plan::OperandAttr each : attr.getOperands()) {
    LLMC_TRY_ASSIGN(rtp::Operand operand, operandOf(op, each));
    message.operands.push_back(std::move(operand));
  }
  return message;
}

/// Position of the name in the entry's list for this end, or -1.
static int32_t findHostEnd(plan::EntryOp entry, plan::HostEnd end,
                           StringRef name) {
  auto find = [&](auto range, auto nameOf) {
    for (auto [i, each] : llvm::enumerate(range))
      if (nameOf(each) == name)
        return static_cast<int32_t>(i);
    return -1;
  };
  switch (end) {
  case plan::HostEnd::Input:
    return find(entry.getInputs().getAsRange<plan::InputAttr>(),
                [](plan::InputAttr each) { return each.getName().getValue(); });
  case plan::HostEnd::Hyper:
    return find(entry.getHypers().getAsRange<FlatSymbolRefAttr>(),
                [](FlatSymbolRefAttr each) { return each.getValue(); });
  case plan::HostEnd::Metric:
    return find(
        entry.getMetrics().getAsRange<plan::MetricAttr>(),
        [](plan::MetricAttr each) { return each.getName().getValue(); });
  case plan::HostEnd::Fetch:
    return find(entry.getFetches().getAsRange<plan::FetchAttr>(),
                [](plan::FetchAttr each) { return each.getName().getValue(); });
  case plan::HostEnd::None:
    break;
  }
  return -1;
}

rt::Result<int32_t> PlanExport::hostIndexOf(plan::CopyOp op) {
  auto program = op->getParentOfType<plan::ProgramOp>();
  int32_t index = -1;
  for (plan::EntryOp entry : entriesOf[program.getSymName()]) {
    int32_t found = findHostEnd(entry, op.getHost(), *op.getName());
    if (found < 0 || (index >= 0 && index != found))
      return errorAt(op, "expected '" + *op.getName() +
                             "' in the same place in each entry that runs it");
    index = found;
  }
  if (index < 0)
    return errorAt(op, "expected an entry that has '" + *op.getName() + "'");
  return index;
}

rt::Result<rtp::Action> PlanExport::copyOf(plan::CopyOp op) {
  rtp::Copy copy;
  if (op.getTo()) {
    LLMC_TRY_ASSIGN(copy.to, operandOf(op, *op.getTo()));
  }
  if (op.getFrom()) {
    LLMC_TRY_ASSIGN(copy.from, operandOf(op, *op.getFrom()));
  }
  copy.host = static_cast<rtp::HostEnd>(op.getHost());
  if (op.getHost() != plan::HostEnd::None) {
    LLMC_TRY_ASSIGN(copy.index, hostIndexOf(op));
  }
  return rtp::Action(std::move(copy));
}

rt::Result<rtp::Action> PlanExport::actionOf(Operation *op) {
  using Outcome = rt::Result<rtp::Action>;
  auto eventOf = [&](auto each) -> rtp::EventRef {
    return {indexOf(frames, each.getFrame()),
            static_cast<int32_t>(each.getEvent())};
  };
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case([&](plan::KernelOp each) { return kernelOf(each); })
      .Case([&](plan::LibraryOp each) { return libraryOf(each); })
      .Case([&](plan::CollectiveOp each) { return collectiveOf(each); })
      .Case([&](plan::CopyOp each) { return copyOf(each); })
      .Case([&](plan::FillOp each) -> Outcome {
        LLMC_TRY_ASSIGN(rtp::Operand to, operandOf(op, each.getTo()));
        return rtp::Action(
            rtp::Fill{std::move(to), static_cast<uint64_t>(each.getPattern())});
      })
      .Case([&](plan::SignalOp each) -> Outcome {
        return rtp::Action(rtp::Signal{eventOf(each)});
      })
      .Case([&](plan::WaitOp each) -> Outcome {
        return rtp::Action(rtp::Wait{eventOf(each)});
      })
      .Case([&](plan::SendOp each) -> Outcome {
        LLMC_TRY_ASSIGN(rtp::Message message, messageOf(op, each.getMessage()));
        return rtp::Action(rtp::Send{std::move(message)});
      })
      .Case([&](plan::ReceiveOp each) -> Outcome {
        LLMC_TRY_ASSIGN(rtp::Message message, messageOf(op, each.getMessage()));
        return rtp::Action(rtp::Receive{std::move(message)});
      })
      .Case([&](plan::ExchangeOp each) -> Outcome {
        rtp::Exchange exchange;
        for (bool sends : {true, false})
          for (auto attr : (sends ? each.getSends() : each.getReceives())
                               .getAsRange<plan::MessageAttr>()) {
            LLMC_TRY_ASSIGN(rtp::Message message, messageOf(op, attr));
            (sends ? exchange.sends : exchange.receives)
                .push_back(std::move(message));
          }
        return rtp::Action(std::move(exchange));
      })
      .Case([&](plan::CallOp each) -> Outcome {
        rtp::Call call;
        call.program = indexOf(programs, each.getProgram());
        if (each.getMicrobatch()) {
          LLMC_TRY_ASSIGN(call.microbatch, exprOf(op, *each.getMicrobatch()));
        }
        for (auto attr : each.getArguments().getAsRange<plan::ExprAttr>()) {
          LLMC_TRY_ASSIGN(rtp::ExprId argument, exprOf(op, attr));
          call.arguments.push_back(argument);
        }
        return rtp::Action(std::move(call));
      })
      .Case([&](plan::LoopOp each) -> Outcome {
        rtp::Loop loop{static_cast<int64_t>(each.getTrips()),
                       indexOf(programs, each.getProgram()),
                       {}};
        if (each.getArguments()) {
          for (auto attr : each.getArguments()->getAsRange<plan::ExprAttr>()) {
            LLMC_TRY_ASSIGN(rtp::ExprId argument, exprOf(op, attr));
            loop.arguments.push_back(argument);
          }
        }
        return rtp::Action(std::move(loop));
      })
      .Case([&](plan::WhileOp each) -> Outcome {
        LLMC_TRY_ASSIGN(rtp::Operand flag, operandOf(op, each.getFlag()));
        return rtp::Action(
            rtp::While{std::move(flag), indexOf(programs, each.getProgram())});
      })
      .Default([&](Operation *) -> Outcome {
        return errorAt(op, "has no form in plan files yet");
      });
}

/// What a program calls belongs to its entries; callers stand last.
void PlanExport::addCalledPrograms() {
  auto all = llvm::to_vector(module.getOps<plan::ProgramOp>());
  for (plan::ProgramOp caller : llvm::reverse(all))
    for (Operation &op : caller.getBody().front()) {
      FlatSymbolRefAttr callee = plan::getCallee(&op);
      if (!callee)
        continue;
      auto entries = entriesOf.lookup(caller.getSymName());
      llvm::append_range(entriesOf[callee.getValue()], entries);
    }
}

rt::Status PlanExport::exportPrograms() {
  for (auto entry : module.getOps<plan::EntryOp>()) {
    auto table = module.lookupSymbol<plan::TableOp>(entry.getTable());
    SmallVector<Attribute> used(table.getPrograms().begin(),
                                table.getPrograms().end());
    llvm::append_range(used, entry.getPrologue());
    llvm::append_range(used, entry.getEpilogue());
    for (Attribute name : used)
      if (auto symbol = dyn_cast<FlatSymbolRefAttr>(name))
        entriesOf[symbol.getValue()].push_back(entry);
  }
  addCalledPrograms();
  for (auto op : module.getOps<plan::ProgramOp>()) {
    rtp::Program program;
    program.name = op.getSymName().str();
    program.phase = static_cast<rtp::Phase>(op.getPhase());
    program.chunk = op.getChunk() ? static_cast<int32_t>(*op.getChunk()) : -1;
    program.numParameters = static_cast<int32_t>(op.getParameters());
    for (auto each : op.getBody().getOps<plan::InstructionInterface>()) {
      rtp::Instruction instruction;
      instruction.stream = indexOf(streams, each.getStreamAttr().getValue());
      instruction.location = locationOf(each->getLoc());
      LLMC_TRY_ASSIGN(instruction.action, actionOf(each));
      program.instructions.push_back(std::move(instruction));
    }
    programs[op.getSymName()] = static_cast<int32_t>(plan.programs.size());
    plan.programs.push_back(std::move(program));
  }
  return rt::Status::success();
}

} // namespace llmc::target
