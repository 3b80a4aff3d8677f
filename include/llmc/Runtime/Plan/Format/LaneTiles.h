/*===- LaneTiles.h - A product of tiles by the lanes of a warp ----*- C -*-===*\
|*
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|* For tests alone, and for all who run kernels by LaneAbi.h: what a warp makes
|* of a product of tensor cores, 16 x 16 times 16 x 8 (mma.sync.m16n8k16 of the
|* PTX ISA, 9.7.14, row.col, sums of f32). A lane has, with g = lane / 4 and
|* t = lane mod 4, pairs of neighbouring floats of 16 bits, the first one low:
|*
|*   factors[0..3]  of A: rows g, g + 8, g, g + 8 at 2t, 2t, 2t + 8, 2t + 8
|*   factors[4..5]  of B: column g at rows 2t, 2t + 8
|*   sums[0..3]     rows g, g, g + 8, g + 8 at columns 2t, 2t + 1, 2t, 2t + 1
|*
|* Terms are added here one after the other, each sum rounded to f32. The ISA
|* leaves the order and the rounding of a GPU's sums open.
\*===----------------------------------------------------------------------===*/

#ifndef LLMC_RUNTIME_PLAN_FORMAT_LANETILES_H
#define LLMC_RUNTIME_PLAN_FORMAT_LANETILES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LLMC_LANE_FACTORS 6
#define LLMC_LANE_SUMS 4

/* A float of 16 bits. */
static inline float llmcLaneFloat(uint32_t bits, uint32_t isBf16) {
  uint32_t wide = bits << 16;
  float value;
  if (isBf16) {
    memcpy(&value, &wide, sizeof value);
    return value;
  }
  int exponent = (int)(bits >> 10 & 31);
  float fraction = (float)(bits & 1023);
  if (exponent == 31)
    value = fraction == 0 ? INFINITY : NAN;
  else
    value = ldexpf(exponent ? fraction + 1024 : fraction,
                   (exponent ? exponent : 1) - 25);
  return bits & 0x8000 ? -value : value;
}

/* Term `k` of row or column g of a factor whose pairs begin at `first`, of
   which those of the terms from 8 on are `step` further. */
static inline float llmcLaneTerm(const uint32_t (*factors)[LLMC_LANE_FACTORS],
                                 uint32_t isBf16, int g, int k, int first,
                                 int step) {
  uint32_t pair = factors[g * 4 + k % 8 / 2][first + k / 8 * step];
  return llmcLaneFloat(pair >> (k % 2 * 16) & 0xffff, isBf16);
}

/* Adds to the sums of `lane`; `factors` are those of all 32. */
static inline void
llmcMultiplyLanes(const uint32_t (*factors)[LLMC_LANE_FACTORS], uint32_t isBf16,
                  uint32_t lane, float *sums) {
  for (int i = 0; i < LLMC_LANE_SUMS; ++i)
    for (int k = 0; k < 16; ++k)
      sums[i] +=
          llmcLaneTerm(factors, isBf16, (int)lane / 4, k, i / 2, 2) *
          llmcLaneTerm(factors, isBf16, (int)lane % 4 * 2 + i % 2, k, 4, 1);
}

#endif /* LLMC_RUNTIME_PLAN_FORMAT_LANETILES_H */
