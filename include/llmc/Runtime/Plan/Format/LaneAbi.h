/*===- LaneAbi.h - GPU kernels that run on a processor ------------*- C -*-===*\
|*
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|* For tests alone. `llmc compile --target cuda:fibers` lowers the kernels of a
|* GPU to code of the processor: each function is one thread of a launch, and
|* what threads do together is asked of whoever runs them. The image is a shared
|* object, which exports a function of type LlmcLaneFn for each of its codes.
|* The entry's parameters, and how it is launched, are those of KernelAbi.h.
\*===----------------------------------------------------------------------===*/

#ifndef LLMC_RUNTIME_PLAN_FORMAT_LANEABI_H
#define LLMC_RUNTIME_PLAN_FORMAT_LANEABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One thread of a kernel that is run on a processor, for tests. */
typedef struct LlmcLane {
  uint32_t thread, threads; /* threadIdx.x, blockDim.x */
  uint32_t block, blocks;   /* blockIdx.x, gridDim.x */
  void *shared;             /* of the block, aligned to 64 */
  /* All threads of the block come to the same `site`, else an error. */
  void (*barrier)(struct LlmcLane *, uint32_t site);
  /* All 32 lanes of the warp come to the same `site`; returns the 32 bits that
     lane `source` (0..31) gave. */
  uint32_t (*shuffle)(struct LlmcLane *, uint32_t site, uint32_t value,
                      uint32_t source);
  /* Before each access of shared memory: two threads may not touch one byte
     between two barriers if one of them writes. */
  void (*touch)(struct LlmcLane *, uint32_t site, void *address, uint32_t bytes,
                uint32_t write);
  /* All 32 lanes of the warp come to the same `site`; `sums` is added to
     (LaneTiles.h). Floats of `factors` are bf16 where `isBf16`, else f16. */
  void (*multiply)(struct LlmcLane *, uint32_t site, uint32_t isBf16,
                   const uint32_t *factors, float *sums);
} LlmcLane;

/* `parameters[i]` points at the i-th parameter, as kernelParams of
   cuLaunchKernel. */
typedef void (*LlmcLaneFn)(LlmcLane *, void *const *parameters);

#ifdef __cplusplus
}
#endif

#endif /* LLMC_RUNTIME_PLAN_FORMAT_LANEABI_H */
