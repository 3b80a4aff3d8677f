//===- MachineCode.cpp - Machine code of a kernel -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM dialect -> LLVM IR -> O3 -> object, in process. A kernel gets a wrapper
// with the calling convention of KernelAbi.h:
//
//   void k_3f2a(ptr pointers, ptr scalars, i64 begin, i64 end, ptr scratch)
//     -> call @k_3f2a_cpu(pointers[0], pointers[1], begin, end, scratch)
//
// Arguments of the body that are no pointers are scalars, in their order.
//
// The body's pointers are noalias: the loader has checked that what a kernel
// writes lies apart from its other arguments.
//
// Test: test/Codegen/KernelObjectTest.cpp
//
//===----------------------------------------------------------------------===//

#include "MachineCode.h"
#include "KernelLowering.h"
#include "NarrowMoves.h"
#include "Processor.h"
#include "llmc/Runtime/Plan/Format/KernelAbi.h"
#include "llmc/Support/Refusal.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"

using namespace mlir;

namespace llmc::codegen {

/// The function `name` of KernelAbi.h around `body`.
static void addWrapper(llvm::Function &body, StringRef name) {
  llvm::Module &module = *body.getParent();
  llvm::LLVMContext &context = module.getContext();
  // Functions of numbers are in each object that calls them.
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  body.addFnAttr(llvm::Attribute::NoInline);
  unsigned operands = body.arg_size() - dist::KernelOp::kNumCallArguments,
           pointers = 0, scalars = 0;
  for (llvm::Argument &argument : body.args())
    if (argument.getType()->isPointerTy())
      argument.addAttr(llvm::Attribute::NoAlias);
  auto *pointer = llvm::PointerType::get(context, 0);
  auto *word = llvm::Type::getInt64Ty(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {pointer, pointer, word, word, pointer},
                                       /*isVarArg=*/false);
  auto *wrapper = llvm::Function::Create(
      type, llvm::GlobalValue::ExternalLinkage, name, module);
  llvm::IRBuilder<> builder(
      llvm::BasicBlock::Create(context, "entry", wrapper));
  SmallVector<llvm::Value *> arguments;
  for (unsigned i = 0; i < operands; ++i) {
    llvm::Type *kind = body.getArg(i)->getType();
    bool isPointer = kind->isPointerTy();
    llvm::Value *slot = builder.CreateConstInBoundsGEP1_64(
        isPointer ? llvm::cast<llvm::Type>(pointer) : word,
        wrapper->getArg(isPointer ? 0 : 1), isPointer ? pointers++ : scalars++);
    arguments.push_back(builder.CreateLoad(kind, slot));
  }
  for (unsigned i : {2, 3, 4})
    arguments.push_back(wrapper->getArg(i));
  builder.CreateCall(&body, arguments);
  builder.CreateRetVoid();
}

static void addManifest(llvm::Module &module, StringRef bytes) {
  llvm::Constant *data = llvm::ConstantDataArray::getString(
      module.getContext(), bytes, /*AddNull=*/false);
  auto *symbol = new llvm::GlobalVariable(
      module, data->getType(), /*isConstant=*/true,
      llvm::GlobalValue::ExternalLinkage, data, LLMC_MANIFEST_SYMBOL);
  symbol->setAlignment(llvm::Align(16));
}

/// Only the functions that kernels may call: 2^x of an integer x must not
/// become `ldexp`.
static llvm::TargetLibraryInfoImpl
getLibraryFunctions(const llvm::Triple &triple) {
  llvm::TargetLibraryInfoImpl library(triple);
  llvm::TargetLibraryInfo all(library);
  for (unsigned i = 0; i < llvm::NumLibFuncs; ++i) {
    auto function = static_cast<llvm::LibFunc>(i);
    if (all.has(function) && !isLibrarySymbol(all.getName(function)))
      library.setUnavailable(function);
  }
  return library;
}

static llvm::ModulePassManager makePasses(llvm::PassBuilder &builder,
                                          KernelEffort effort) {
  if (effort == KernelEffort::full)
    return builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  simplify.addPass(llvm::EarlyCSEPass());
  llvm::ModulePassManager passes =
      builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0);
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(simplify)));
  return passes;
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              KernelEffort effort) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  // The first analysis that is registered is the one.
  llvm::TargetLibraryInfoImpl library =
      getLibraryFunctions(machine.getTargetTriple());
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  makePasses(builder, effort).run(module, modules);
}

/// The module for this machine, not yet optimised.
static void setTarget(llvm::Module &module,
                      const llvm::TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  std::string bits = std::to_string(getVectorBits());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("prefer-vector-width", bits);
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

FailureOr<std::string> emitObject(Operation *op, llvm::Module &module,
                                  KernelEffort effort) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(error);
  if (!machine)
    return emitRefusal(op, rt::ErrorKind::mismatch)
           << "expected a code generator for this machine, got none: " << error;
  if (effort == KernelEffort::quick)
    machine->setOptLevel(llvm::CodeGenOptLevel::None);
  setTarget(module, *machine);
  optimize(module, *machine, effort);
  moveNarrowFloatsAsBits(module);
  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::ObjectFile))
    return op->emitError("expected an object file from LLVM, got none");
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

FailureOr<llvm::Function *> findCode(dist::KernelOp kernel,
                                     llvm::Module *module) {
  if (!module)
    return kernel.emitError("expected LLVM IR of the kernel, got none");
  llvm::Function *body = module->getFunction(kernel.getCode());
  if (!body || body->isDeclaration())
    return kernel.emitError("expected the code of the kernel, got a "
                            "declaration of '")
           << kernel.getCode() << "'";
  return body;
}

FailureOr<std::string> makeKernelObject(dist::KernelOp kernel, ModuleOp code,
                                        KernelEffort effort) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(code, context, "kernel");
  FailureOr<llvm::Function *> body = findCode(kernel, module.get());
  if (failed(body))
    return failure();
  addWrapper(**body, kernel.getSymName());
  return emitObject(kernel, *module, effort);
}

FailureOr<std::string> makeManifestObject(ModuleOp kernels,
                                          const rt::plan::Manifest &manifest) {
  llvm::LLVMContext context;
  llvm::Module module("manifest", context);
  addManifest(module, rt::plan::serializeManifest(manifest));
  // Data alone: there is nothing to optimize.
  return emitObject(kernels, module, KernelEffort::quick);
}

} // namespace llmc::codegen
