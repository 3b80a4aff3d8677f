//===- KernelLowering.h - Parts of the lowering of kernels ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_CODEGEN_KERNELLOWERING_H
#define LLMC_LIB_CODEGEN_KERNELLOWERING_H

#include "llmc/Support/LLVM.h"
#include <memory>

namespace mlir {
class Pass;
class RewritePatternSet;
} // namespace mlir

namespace llmc::codegen {

/// Replaces transcendental functions by polynomials (f32), and by calls of
/// functions that the module gets (f64, Functions.h).
std::unique_ptr<mlir::Pass> createMathFunctionsPass();

/// Replaces maxima and minima of floats by those that know the signs of zeros.
std::unique_ptr<mlir::Pass> createExtremesPass();
/// Has each op of bf16 round its result.
std::unique_ptr<mlir::Pass> createRoundEachPass();
/// Floats of eight bits as bits, and integer code between them and f32.
std::unique_ptr<mlir::Pass> createSmallFloatsPass();

/// Rounds f64 to types narrower than f32 once, by way of f32.
void populateNarrowFloatPatterns(mlir::RewritePatternSet &patterns);

/// `element`, or a vector of it where `type` is one.
Type withElement(Type type, Type element);

/// True for the functions of the C library that a kernel object may call.
bool isLibrarySymbol(StringRef symbol);

} // namespace llmc::codegen

#endif // LLMC_LIB_CODEGEN_KERNELLOWERING_H
