//===- Passes.td - Phase 7a: kernels of the programs -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the order in which `buildKernelsPipeline` runs them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_KERNELS_PASSES_TD
#define LLMC_TRANSFORMS_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def WidenSumsPass : Pass<"llmc-widen-sums", "::mlir::ModuleOp"> {
  let summary = "Sums over devices in f32, for targets whose collectives round each addition";
  let description = [{
    A collective that adds up or multiplies floats of less than 32 bits gets and
    gives f32, where the collectives of the program's target compute in the
    elements' own type. Each is a remark.

    ```mlir
    %1 = dist.all_reduce %0 over ["data"] sum : tensor<8xbf16>
    // becomes
    %w = stablehlo.convert %0 : (tensor<8xbf16>) -> tensor<8xf32>
    %s = dist.all_reduce %w over ["data"] sum : tensor<8xf32>
    %1 = stablehlo.convert %s : (tensor<8xf32>) -> tensor<8xbf16>
    ```
  }];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect"];
}

def DecomposePass : Pass<"llmc-decompose", "::mlir::ModuleOp"> {
  let summary = "Replace ops that have no kernel by ops that have one";
  let description = [{
    Ops whose kernel form is Decompose are replaced by the graph ops that they
    build, until none is left; so are reductions of rows that are better done in
    steps (`llmc/Solvers/Reduction/ReductionCut.h`), where they build any.
  }];
}

def BodyConstantsPass : Pass<"llmc-body-constants", "::mlir::ModuleOp"> {
  let summary = "Bodies of reductions and scatters have constants of their own";
  let description = [{
    Equal ops have become one before; a constant of a body that is outside of it
    since then is copied into the body again.
  }];
}

def FormLibraryCallsPass : Pass<"llmc-form-library-calls", "::mlir::ModuleOp"> {
  let summary = "Library calls and sums that go into a buffer that exists";
  let description = [{
    Ops of form Library become the calls that they build; a permutation of dims
    in front of one is read in place, and an addition after it whose other
    operand dies becomes its accumulator, where the call can. An addition of an Update that starts
    from zero becomes that Update's start. Factors of eight bits that GPUs
    multiply in another layout alone are copied so, and widened to bf16 where
    tensor cores do not multiply them at all.

    ```mlir
    %t = stablehlo.transpose %x, dims = [1, 0]
    %d = stablehlo.dot_general %t, %dy, contracting_dims = [1] x [0]
    %a2 = stablehlo.add %a, %d
    // becomes
    %a2 = dist.contract %x, %dy plus %a batch [] x [] contracting [0] x [0]
    ```
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def FormKernelsPass : Pass<"llmc-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Group the ops of each function into kernels";
  let description = [{
    Groups graph ops into kernels (Analysis/KernelFormation/KernelFormation.h), writes each
    distinct kernel once, as loops on flat memrefs, into the module `@kernels`,
    and leaves launches, contractions, aliases and collectives. A result takes
    the buffer of an operand that dies where the kernel may work in place.

    ```mlir
    %0 = stablehlo.multiply %a, %b : tensor<4xf32>
    %1 = stablehlo.add %0, %a : tensor<4xf32>
    // becomes
    %1 = dist.launch @kernels::@k_8a0e…(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    Each kernel is a remark: what it does, what it reads and writes. The code is
    written for `target`.
  }];
  let options = [Option<"target", "target", "std::string", "\"\"", "What the code of kernels is written for; empty: what the program names">];
  let dependentDialects = [
    "::llmc::dist::DistDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def VerifyKernelsPass : Pass<"llmc-verify-kernels", "::mlir::ModuleOp"> {
  let summary = "Check what phase 7a promises";
  let description = [{
    No op with a kernel form but aliases is left outside `@kernels`; each launch
    names a kernel, and agrees with it in the number and size of its arguments.
  }];
}

#endif // LLMC_TRANSFORMS_KERNELS_PASSES_TD
