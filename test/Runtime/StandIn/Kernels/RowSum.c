/*===- RowSum.c - Kernels that the stand-in runs ------------------*- C -*-===*\
|*
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|* What a compiler would write for a GPU, by hand, against LaneAbi.h: sums of
|* rows by shuffles and shared memory, and kernels with one fault each.
\*===----------------------------------------------------------------------===*/

#include "llmc/Runtime/Plan/Format/LaneAbi.h"

#include <string.h>

static float exchange(LlmcLane *lane, uint32_t site, float value,
                      uint32_t source) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  bits = lane->shuffle(lane, site, bits, source);
  memcpy(&value, &bits, 4);
  return value;
}

static float sumOfWarp(LlmcLane *lane, float value) {
  uint32_t own = lane->thread % 32;
  for (uint32_t step = 16; step; step /= 2)
    value += exchange(lane, step, value, own ^ step);
  return value;
}

static void store(LlmcLane *lane, uint32_t site, float *at, float value) {
  lane->touch(lane, site, at, 4, 1);
  *at = value;
}

static float load(LlmcLane *lane, uint32_t site, float *at) {
  lane->touch(lane, site, at, 4, 0);
  return *at;
}

/* sums[r] = sum of rows[r][0 .. columns), a block for each row. */
const uint32_t row_sum_parameters = 3;
void row_sum(LlmcLane *lane, void *const *parameters) {
  const float *rows = *(const float *const *)parameters[0];
  float *sums = *(float *const *)parameters[1];
  int64_t columns = *(const int64_t *)parameters[2];
  float *shared = (float *)lane->shared;
  float sum = 0;
  for (int64_t i = lane->thread; i < columns; i += lane->threads)
    sum += rows[lane->block * columns + i];
  sum = sumOfWarp(lane, sum);
  if (lane->thread % 32 == 0)
    store(lane, 40, shared + lane->thread / 32, sum);
  lane->barrier(lane, 41);
  if (lane->thread)
    return;
  for (uint32_t warp = 1; warp < lane->threads / 32; ++warp)
    sum += load(lane, 42, shared + warp);
  sums[lane->block] = sum;
}

/* y[i] = a[i] * factor, without the number of its parameters. */
void scale(LlmcLane *lane, void *const *parameters) {
  const float *a = *(const float *const *)parameters[0];
  float *y = *(float *const *)parameters[1];
  int64_t factor = *(const int64_t *)parameters[2];
  uint32_t i = lane->block * lane->threads + lane->thread;
  y[i] = a[i] * (float)factor;
}

/* order[i] = the number of threads that came before, by a counter. */
const uint32_t arrival_parameters = 2;
void arrival(LlmcLane *lane, void *const *parameters) {
  int32_t *counter = *(int32_t *const *)parameters[0];
  int32_t *order = *(int32_t *const *)parameters[1];
  order[lane->block * lane->threads + lane->thread] = (*counter)++;
}

/* Each thread writes its word, and reads its neighbour's without a barrier. */
const uint32_t race_parameters = 0;
void race(LlmcLane *lane, void *const *parameters) {
  float *shared = (float *)lane->shared;
  store(lane, 7, shared + lane->thread, 1);
  load(lane, 8, shared + (lane->thread + 1) % lane->threads);
}

/* One lane writes what all have read, or reads what one has written. A shuffle
   between the two orders the lanes, but is no barrier. */
const uint32_t write_after_read_parameters = 0;
void write_after_read(LlmcLane *lane, void *const *parameters) {
  load(lane, 11, (float *)lane->shared);
  lane->shuffle(lane, 12, 0, 0);
  if (lane->thread == 3)
    store(lane, 13, (float *)lane->shared, 1);
}
const uint32_t read_after_write_parameters = 0;
void read_after_write(LlmcLane *lane, void *const *parameters) {
  if (lane->thread == 3)
    store(lane, 14, (float *)lane->shared, 1);
  lane->shuffle(lane, 15, 0, 0);
  if (lane->thread == 4)
    load(lane, 16, (float *)lane->shared);
}

/* Half of the threads do not come to the barrier. */
const uint32_t half_barrier_parameters = 0;
void half_barrier(LlmcLane *lane, void *const *parameters) {
  if (lane->thread < lane->threads / 2)
    lane->barrier(lane, 3);
}

/* All threads come to a barrier, but not to the same one. */
const uint32_t two_barriers_parameters = 0;
void two_barriers(LlmcLane *lane, void *const *parameters) {
  lane->barrier(lane, lane->thread % 2 ? 5 : 6);
}

/* One lane does not come to the shuffle. */
const uint32_t half_shuffle_parameters = 0;
void half_shuffle(LlmcLane *lane, void *const *parameters) {
  if (lane->thread != 9)
    lane->shuffle(lane, 2, 0, 0);
}

const uint32_t beyond_shared_parameters = 0;
void beyond_shared(LlmcLane *lane, void *const *parameters) {
  store(lane, 4, (float *)lane->shared + lane->threads, 0);
}

/* Writes one word at an offset in bytes. */
const uint32_t write_at_parameters = 2;
void write_at(LlmcLane *lane, void *const *parameters) {
  char *to = *(char *const *)parameters[0];
  int64_t offset = *(const int64_t *)parameters[1];
  *(volatile int32_t *)(to + offset) = 1;
}
