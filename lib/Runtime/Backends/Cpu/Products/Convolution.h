//===- Convolution.h - Convolutions on CPU ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution is cut along samples, features or groups. A slice runs as
// oneDNN primitives of one thread where oneDNN has the types and windows, else
// as plain loops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_CONVOLUTION_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_CONVOLUTION_H

#include "../SlicedOp.h"

namespace llmc::rt::cpu {

/// Null when oneDNN cannot express `shape`.
Result<std::unique_ptr<OpSlice>>
makeLibraryConvolution(const ConvolutionShape &shape, const std::string &name);
/// Plain loops; the elements of b's windows in order, then k, innermost.
std::unique_ptr<OpSlice> makeLoopConvolution(const ConvolutionShape &shape);

Result<std::unique_ptr<CpuLibraryOp>>
makeConvolution(const ConvolutionShape &shape, const std::string &name,
                int threads);

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_CONVOLUTION_H
