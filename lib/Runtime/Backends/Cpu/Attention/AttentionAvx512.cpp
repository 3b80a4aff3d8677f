//===- AttentionAvx512.cpp - For vectors of 64 bytes ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled for AVX-512, and called only where a processor has it.
//
//===----------------------------------------------------------------------===//

#define LLMC_KERNEL_SPACE avx512
#define LLMC_VECTOR_BYTES 64
#define LLMC_BLOCK_ROWS 8
#include "AttentionKernelBodies.h"

namespace llmc::rt::cpu {

const AttentionKernels<float> &avx512Floats() { return avx512::kernels<float>; }
const AttentionKernels<double> &avx512Doubles() {
  return avx512::kernels<double>;
}

} // namespace llmc::rt::cpu
