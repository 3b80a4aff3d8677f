/*===- KernelAbi.h - How the runtime calls a compiled kernel ------*- C -*-===*\
|*
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|* A kernel object exports, for each kernel, a function of type LlmcKernelFn
|* under the kernel's name, and one data symbol "llmc_kernel_manifest": a
|* LlmcManifestHeader, followed by the arrays that it counts, in this order:
|*
|*   LlmcManifestKernel kernels[numKernels]
|*   LlmcManifestArgument arguments[numArguments]
|*   LlmcManifestScalar scalars[numScalars]
|*   LlmcManifestTie ties[numTies]
|*   char strings[stringBytes]     names, each followed by a zero
|*
|* The object is trusted code: the loader believes the manifest and checks every
|* instruction of the (untrusted) plan against it.
\*===----------------------------------------------------------------------===*/

#ifndef LLMC_RUNTIME_PLAN_FORMAT_KERNELABI_H
#define LLMC_RUNTIME_PLAN_FORMAT_KERNELABI_H

#include <stdint.h>

#define LLMC_KERNEL_ABI_VERSION 1u
#define LLMC_MANIFEST_MAGIC 0x494e414d434d4c4cull /* "LLMCMANI" */
#define LLMC_MANIFEST_SYMBOL "llmc_kernel_manifest"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the rows [rowBegin, rowEnd) of the manifest's `rows`. `scratch` has
   the manifest's scratchBytes, aligned to 64 bytes, for this call alone. */
typedef void (*LlmcKernelFn)(void *const *pointers, const int64_t *scalars,
                             int64_t rowBegin, int64_t rowEnd, void *scratch);

typedef struct LlmcManifestHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t numKernels;
  uint32_t numArguments;
  uint32_t numScalars;
  uint32_t numTies;
  uint32_t stringBytes;
  uint32_t features; /* offset in strings: "avx2,fma", or "" */
  uint32_t reserved;
} LlmcManifestHeader;

typedef struct LlmcManifestKernel {
  uint32_t name; /* offset in strings */
  uint32_t firstArgument;
  uint32_t numArguments;
  uint32_t firstScalar;
  uint32_t numScalars;
  uint32_t firstTie;
  uint32_t numTies;
  uint32_t reserved;
  int64_t rows;         /* 1: not sliced */
  int64_t scratchBytes; /* of each call */
} LlmcManifestKernel;

typedef struct LlmcManifestArgument {
  int64_t extentBytes; /* the kernel touches no byte at or beyond it */
  uint8_t dtype;       /* llmc::rt::DType */
  uint8_t access;      /* llmc::rt::plan::Access */
  uint8_t reserved[6];
} LlmcManifestArgument;

/* The values for which the kernel stays within its arguments. */
typedef struct LlmcManifestScalar {
  int64_t low;
  int64_t high;
} LlmcManifestScalar;

/* Argument `written` may lie exactly on argument `read`. */
typedef struct LlmcManifestTie {
  uint32_t read;
  uint32_t written;
} LlmcManifestTie;

#ifdef __cplusplus
}
#endif

#endif /* LLMC_RUNTIME_PLAN_FORMAT_KERNELABI_H */
