//===- AttentionKernels.cpp - The best that runs here ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For any processor, and the choice.
//
//===----------------------------------------------------------------------===//

#define LLMC_KERNEL_SPACE any
#define LLMC_VECTOR_BYTES 16
#define LLMC_BLOCK_ROWS 4
#include "AttentionKernelBodies.h"

namespace llmc::rt::cpu {

#ifdef __x86_64__
const AttentionKernels<float> &avx512Floats();
const AttentionKernels<double> &avx512Doubles();
const AttentionKernels<float> &avx2Floats();
const AttentionKernels<double> &avx2Doubles();

static bool hasAvx512() {
  return __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
static bool hasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

template <> const AttentionKernels<float> &attentionKernels() {
  return hasAvx512() ? avx512Floats()
         : hasAvx2() ? avx2Floats()
                     : any::kernels<float>;
}
template <> const AttentionKernels<double> &attentionKernels() {
  return hasAvx512() ? avx512Doubles()
         : hasAvx2() ? avx2Doubles()
                     : any::kernels<double>;
}
#else
template <> const AttentionKernels<float> &attentionKernels() {
  return any::kernels<float>;
}
template <> const AttentionKernels<double> &attentionKernels() {
  return any::kernels<double>;
}
#endif

} // namespace llmc::rt::cpu
