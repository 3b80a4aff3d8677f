/*===- KernelAbi.h - How the runtime calls a compiled kernel ------*- C -*-===*\
|*
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|* A kernel object exports one data symbol "llmc_kernel_manifest": a
|* LlmcManifestHeader, followed by the arrays that it counts, in this order:
|*
|*   LlmcManifestKernel kernels[numKernels]
|*   LlmcManifestArgument arguments[numArguments]
|*   LlmcManifestScalar scalars[numScalars]
|*   LlmcManifestTie ties[numTies]
|*   LlmcManifestImage images[numImages]
|*   LlmcManifestCode codes[numCodes]
|*   char strings[stringBytes]     names, each followed by a zero
|*   zeros up to a multiple of 16 from the header on
|*   char data[dataBytes]          of the images, each from a multiple of 16 on
|*
|* A kernel has one or more codes: the function `symbol` of an image. An image
|* of format 0 is the object itself, which exports a function of type
|* LlmcKernelFn for each of its codes; others are text or machine code for a
|* device, in `data`. Fields named `reserved` are 0, and a reader refuses a
|* manifest with other numbers, formats or versions than it knows.
|*
|* An image for target "cuda" is of format ptx (text, architecture "sm_80" or
|* "sm_90") or cubin (bytes, architecture "sm_90"). The entry `symbol` of a code
|* is a kernel of the driver's, whose parameters have 8 bytes each:
|*
|*   symbol(pointers of the arguments, in the manifest's order...,
|*          int64 scalars..., int64 rowBegin, int64 rowEnd, pointer scratch)
|*
|* `scratch` is always there, and null where scratchBytes is 0. One launch
|* computes the rows [rowBegin, rowEnd) in ceil((rowEnd - rowBegin) /
|* rowsPerBlock) blocks (grid x) of threadsPerBlock threads (block x) with
|* sharedBytes of dynamic shared memory, and scratchBytes are those of the whole
|* launch. A device of this target has one thread in the sense of the plan's
|* threadsPerDevice, so a launch has the whole row space.
|*
|* The object is trusted code: the loader believes the manifest and checks every
|* instruction of the (untrusted) plan against it.
\*===----------------------------------------------------------------------===*/

#ifndef LLMC_RUNTIME_PLAN_FORMAT_KERNELABI_H
#define LLMC_RUNTIME_PLAN_FORMAT_KERNELABI_H

#include <stdint.h>

#define LLMC_KERNEL_ABI_VERSION 2u
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
  uint32_t numImages;
  uint32_t numCodes;
  uint32_t stringBytes;
  uint32_t features; /* offset in strings: "avx2,fma", or "" */
  uint32_t reserved;
  uint64_t dataBytes;
} LlmcManifestHeader;

typedef struct LlmcManifestKernel {
  uint32_t name;   /* offset in strings: [A-Za-z_][A-Za-z0-9_]* */
  uint32_t target; /* offset in strings: that of the plan, "cpu" */
  uint32_t firstArgument;
  uint32_t numArguments;
  uint32_t firstScalar;
  uint32_t numScalars;
  uint32_t firstTie;
  uint32_t numTies;
  uint32_t firstCode;
  uint32_t numCodes;        /* at least 1 */
  uint32_t threadsPerBlock; /* that run side by side on one block of rows; 1 on
                               processors */
  uint32_t sharedBytes;     /* memory of a block that its threads share */
  int64_t rows;             /* 1: not sliced */
  int64_t rowsPerBlock;     /* a call's rows begin at a multiple of it */
  int64_t scratchBytes;     /* of each call */
} LlmcManifestKernel;

typedef struct LlmcManifestArgument {
  int64_t extentBytes; /* the kernel touches no byte at or beyond it */
  uint32_t alignment;  /* of its first byte: a power of two up to 64 */
  uint8_t dtype;       /* llmc::rt::DType */
  uint8_t access;      /* llmc::rt::plan::Access */
  uint8_t reserved[2];
} LlmcManifestArgument;

typedef struct LlmcManifestImage {
  uint64_t dataOffset;   /* in data; 0 for format 0 */
  uint64_t dataBytes;    /* 0 for format 0, else at least 1 */
  uint32_t architecture; /* offset in strings: "sm_90"; "" for any */
  uint8_t format;        /* llmc::rt::KernelFormat */
  uint8_t reserved[3];
} LlmcManifestImage;

typedef struct LlmcManifestCode {
  uint32_t image;
  uint32_t symbol; /* offset in strings: [A-Za-z_][A-Za-z0-9_]* */
} LlmcManifestCode;

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
