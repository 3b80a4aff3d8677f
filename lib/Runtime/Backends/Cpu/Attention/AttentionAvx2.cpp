//===- AttentionAvx2.cpp - For vectors of 32 bytes ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled for AVX2 and FMA, and called only where a processor has them.
//
//===----------------------------------------------------------------------===//

#define LLMC_KERNEL_SPACE avx2
#define LLMC_VECTOR_BYTES 32
#define LLMC_BLOCK_ROWS 4
#include "AttentionKernelBodies.h"

namespace llmc::rt::cpu {

const AttentionKernels<float> &avx2Floats() { return avx2::kernels<float>; }
const AttentionKernels<double> &avx2Doubles() { return avx2::kernels<double>; }

} // namespace llmc::rt::cpu
