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

/// `wide` and `wider` are for AVX2 and AVX-512.
template <typename T>
static int choose(const AttentionKernels<T> &wide,
                  const AttentionKernels<T> &wider,
                  const AttentionKernels<T> *(&list)[3]) {
  int count = 0;
  if (hasAvx512()) {
    list[count++] = &wider;
  }
  if (hasAvx2()) {
    list[count++] = &wide;
  }
  list[count++] = &any::kernels<T>;
  return count;
}

template <>
int listAttentionKernels(const AttentionKernels<float> *(&list)[3]) {
  return choose(avx2Floats(), avx512Floats(), list);
}
template <>
int listAttentionKernels(const AttentionKernels<double> *(&list)[3]) {
  return choose(avx2Doubles(), avx512Doubles(), list);
}
#else
template <>
int listAttentionKernels(const AttentionKernels<float> *(&list)[3]) {
  list[0] = &any::kernels<float>;
  return 1;
}
template <>
int listAttentionKernels(const AttentionKernels<double> *(&list)[3]) {
  list[0] = &any::kernels<double>;
  return 1;
}
#endif

template <typename T> static const AttentionKernels<T> &best() {
  const AttentionKernels<T> *list[3];
  listAttentionKernels(list);
  return *list[0];
}

template <> const AttentionKernels<float> &attentionKernels() {
  return best<float>();
}
template <> const AttentionKernels<double> &attentionKernels() {
  return best<double>();
}

} // namespace llmc::rt::cpu
