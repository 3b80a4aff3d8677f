//===- DeviceCode.cpp - Code of a kernel of a GPU -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM dialect -> LLVM IR -> O3 -> PTX, by LLVM's NVPTX backend, in process.
// The entry has the parameters of KernelAbi.h, in address spaces that the
// backend makes use of:
//
//   ptx_kernel void k_3f2a(ptr(1) noalias readonly, ptr(1), i64 begin, i64 end,
//                          ptr(1) scratch)
//     -> call @k_3f2a_cuda(…, @shared)
//
// What is only read is noalias, and read through the texture path. What is
// written is not: threads see each other's stores across a barrier, and an
// optimiser that knew of nobody else would move loads over it.
//
// The same body as code of the processor has the entry of LaneAbi.h.
//
// Test: test/Codegen/LaneTest.cpp, test/Codegen/ptx.test
//
//===----------------------------------------------------------------------===//

#include "MachineCode.h"
#include "llmc/Runtime/Plan/Format/LaneAbi.h"
#include "llmc/Support/Refusal.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Config/Targets.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <cstddef>

using namespace mlir;

namespace llmc::codegen {

/// The oldest version of PTX that has all that kernels use on both
/// architectures: drivers of CUDA 12.0 and later.
static constexpr llvm::StringLiteral ptxVersion = "+ptx80";

/// Of a thread: a quarter of a multiprocessor's threads run at a time.
static constexpr int maxRegisters = 128;

namespace {
/// Parameter `parameter` of an entry for each operand of the body: pointers
/// first, then scalars, then those of the call.
struct EntryOrder {
  explicit EntryOrder(dist::KernelOp kernel) {
    for (bool pointers : {true, false})
      for (auto [number, argument] : llvm::enumerate(kernel.getArgumentRange()))
        if (argument.isScalar() != pointers)
          operands.push_back(number);
    for (unsigned i = 0; i < dist::KernelOp::kNumCallArguments; ++i)
      operands.push_back(kernel.getArguments().size() + i);
  }

  /// The operand of the body for each parameter of the entry.
  SmallVector<unsigned> operands;
};
} // namespace

/// The entry takes `body` in; other functions are for it alone.
static void makeInternal(llvm::Function &body) {
  for (llvm::Function &function : *body.getParent())
    if (!function.isDeclaration())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  body.addFnAttr(llvm::Attribute::AlwaysInline);
}

/// The entry of a launch around `body`.
static void addKernel(dist::KernelOp kernel, llvm::Function &body) {
  llvm::Module &module = *body.getParent();
  llvm::LLVMContext &context = module.getContext();
  makeInternal(body);
  body.addFnAttr(llvm::Attribute::Convergent);
  EntryOrder order(kernel);
  SmallVector<llvm::Type *> types;
  for (unsigned operand : order.operands) {
    llvm::Type *type = body.getArg(operand)->getType();
    types.push_back(type->isPointerTy() ? llvm::PointerType::get(context, 1)
                                        : type);
  }
  auto *entry = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false),
      llvm::GlobalValue::ExternalLinkage, kernel.getSymName(), module);
  entry->setCallingConv(llvm::CallingConv::PTX_Kernel);
  entry->addFnAttr(llvm::Attribute::Convergent);
  dist::LaunchShapeAttr shape = kernel.getShapeAttr();
  int64_t threads = shape ? shape.getThreads() : 1;
  entry->addFnAttr("nvvm.reqntid", std::to_string(threads));
  // Without it ptxas spills a few, that a block of three warps may run once
  // more, or takes more for blocks of four whose shared memory lets no more of
  // them run. In others it finds better numbers by itself.
  constexpr int64_t muchShared = 12 << 10;
  if (threads < 128 || (threads == 128 && shape.getShared() > muchShared))
    entry->addFnAttr("nvvm.maxnreg", std::to_string(maxRegisters));
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", entry));
  SmallVector<llvm::Value *> arguments(body.arg_size());
  auto described = llvm::to_vector(kernel.getArgumentRange());
  for (auto [number, operand] : llvm::enumerate(order.operands)) {
    llvm::Argument *parameter = entry->getArg(number);
    llvm::Value *value = parameter;
    if (parameter->getType()->isPointerTy()) {
      value = builder.CreateAddrSpaceCast(parameter,
                                          body.getArg(operand)->getType());
      if (operand < described.size() &&
          described[operand].getAccess() == dist::Access::Read) {
        parameter->addAttr(llvm::Attribute::NoAlias);
        parameter->addAttr(llvm::Attribute::ReadOnly);
      }
    }
    arguments[operand] = value;
  }
  auto *bytes = llvm::ArrayType::get(builder.getInt8Ty(), 0);
  auto *shared = new llvm::GlobalVariable(
      module, bytes, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage,
      nullptr, "llmc_shared", nullptr, llvm::GlobalValue::NotThreadLocal,
      /*AddressSpace=*/3);
  shared->setAlignment(llvm::Align(64));
  arguments.back() = shared;
  builder.CreateCall(&body, arguments);
  builder.CreateRetVoid();
}

/// The function of LaneAbi.h around `body`.
static void addLaneFunction(dist::KernelOp kernel, llvm::Function &body) {
  llvm::Module &module = *body.getParent();
  llvm::LLVMContext &context = module.getContext();
  makeInternal(body);
  auto *pointer = llvm::PointerType::get(context, 0);
  auto *entry = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                              {pointer, pointer}, false),
      llvm::GlobalValue::ExternalLinkage, kernel.getSymName(), module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", entry));
  EntryOrder order(kernel);
  SmallVector<llvm::Value *> arguments(body.arg_size());
  for (auto [number, operand] : llvm::enumerate(order.operands)) {
    llvm::Value *slot =
        builder.CreateConstInBoundsGEP1_64(pointer, entry->getArg(1), number);
    arguments[operand] = builder.CreateLoad(body.getArg(operand)->getType(),
                                            builder.CreateLoad(pointer, slot));
  }
  llvm::Value *field = builder.CreateConstInBoundsGEP1_64(
      builder.getInt8Ty(), entry->getArg(0), offsetof(LlmcLane, shared));
  arguments[body.arg_size() - 2] = builder.CreateLoad(pointer, field);
  arguments[body.arg_size() - 1] = entry->getArg(0);
  builder.CreateCall(&body, arguments);
  builder.CreateRetVoid();
}

static std::unique_ptr<llvm::TargetMachine>
makeDeviceMachine(const CodeTarget &target, std::string &error) {
#if LLVM_HAS_NVPTX_TARGET
  // Once: targets register themselves in tables without locks.
  [[maybe_unused]] static const bool isRegistered = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
#endif
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      triple, target.architecture, ptxVersion, options, std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// A device has no library of functions.
static LogicalResult checkFunctions(dist::KernelOp kernel,
                                    const llvm::Module &module,
                                    const CodeTarget &target) {
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() &&
        !function.use_empty())
      return emitRefusal(kernel, rt::ErrorKind::mismatch)
             << "expected functions that target '" << target.name
             << "' has, got a call of '" << function.getName()
             << "'; compile for 'cpu', or compute it otherwise";
  return success();
}

static FailureOr<std::string> emitPtx(dist::KernelOp kernel,
                                      llvm::Module &module,
                                      llvm::TargetMachine &machine,
                                      const CodeTarget &target) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  optimize(module, machine, KernelEffort::full);
  if (failed(checkFunctions(kernel, module, target)))
    return failure();
  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::AssemblyFile))
    return kernel.emitError("expected PTX from LLVM, got none");
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

FailureOr<std::string> makeDeviceCode(dist::KernelOp kernel, ModuleOp code,
                                      const CodeTarget &target,
                                      KernelEffort effort) {
  std::unique_ptr<llvm::TargetMachine> machine;
  if (!target.isOnLanes()) {
    std::string error;
    machine = makeDeviceMachine(target, error);
    if (!machine)
      return emitRefusal(kernel, rt::ErrorKind::mismatch)
             << "expected an LLVM with the target NVPTX, got none: " << error;
    // Else integers of 64 bits are read in halves: LLVM's own layout says that
    // they lie at multiples of 4.
    code->setAttr(
        LLVM::LLVMDialect::getDataLayoutAttrName(),
        StringAttr::get(code.getContext(),
                        machine->createDataLayout().getStringRepresentation()));
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(code, context, "kernel");
  FailureOr<llvm::Function *> body = findCode(kernel, module.get());
  if (failed(body))
    return failure();
  if (target.isOnLanes()) {
    addLaneFunction(kernel, **body);
    return emitObject(kernel, *module, effort);
  }
  addKernel(kernel, **body);
  return emitPtx(kernel, *module, *machine, target);
}

} // namespace llmc::codegen
