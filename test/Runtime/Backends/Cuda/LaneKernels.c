/*===- LaneKernels.c - Kernels that tests of the CUDA backend launch ------===*\
|*
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|* Entries as a compiler makes them for the stand-in driver: a thread of a
|* kernel is a call (LaneAbi.h).
|*
\*===----------------------------------------------------------------------===*/

#include "llmc/Runtime/Plan/Format/LaneAbi.h"

static void *pointerOf(void *const *parameters, int i) {
  return *(void *const *)parameters[i];
}
static int64_t numberOf(void *const *parameters, int i) {
  return *(const int64_t *)parameters[i];
}

/* scale(out, in, factor, rowBegin, rowEnd, scratch): out = factor * in, rows of
   one element, a row for each thread. */
const uint32_t scale_parameters = 6;
void scale(LlmcLane *lane, void *const *parameters) {
  int64_t *out = pointerOf(parameters, 0);
  const int64_t *in = pointerOf(parameters, 1);
  int64_t row = numberOf(parameters, 3) + lane->block * (int64_t)lane->threads +
                lane->thread;
  if (row < numberOf(parameters, 4))
    out[row] = numberOf(parameters, 2) * in[row];
}

/* report(out, rowBegin, rowEnd, scratch): how it was launched. */
const uint32_t report_parameters = 4;
void report(LlmcLane *lane, void *const *parameters) {
  int64_t *out = pointerOf(parameters, 0);
  if (lane->block || lane->thread)
    return;
  out[0] = lane->blocks;
  out[1] = lane->threads;
  out[2] = numberOf(parameters, 1);
  out[3] = numberOf(parameters, 2);
  out[4] = (int64_t)pointerOf(parameters, 3);
}

/* hold(flag, rowBegin, rowEnd, scratch): runs until the host sets the flag. */
const uint32_t hold_parameters = 4;
void hold(LlmcLane *lane, void *const *parameters) {
  volatile int64_t *flag = pointerOf(parameters, 0);
  while (lane->thread == 0 && *flag == 0) {
  }
}
