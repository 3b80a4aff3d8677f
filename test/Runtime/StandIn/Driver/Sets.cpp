//===- Sets.cpp - The functions that set memory ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Transfer.h"

#include <cstring>

using namespace llmc::standin;

static void setRow(char *row, size_t bytes, uint32_t value, unsigned size) {
  if (size == 1)
    std::memset(row, static_cast<int>(value), bytes);
  for (size_t x = 0; size > 1 && x < bytes; x += size)
    std::memcpy(row + x, &value, size);
}

/// Sets `height` rows of `width` elements of `size` bytes each. A set returns
/// before it is done, unless its memory is the host's.
static CUresult set(const char *name, CUdeviceptr address, size_t pitch,
                    uint32_t value, unsigned size, size_t width, size_t height,
                    CUstream handle, bool async) {
  Call call(name, rulesOfTransfer(async));
  if (call.result)
    return call.result;
  std::shared_ptr<Stream> stream = call.stream(handle);
  if (!stream || !width || !height)
    return call.result;
  if (address % size || (height > 1 && pitch % size))
    return call.refuse(CUDA_ERROR_INVALID_VALUE,
                       "an address, or a pitch, is not aligned");
  Place place;
  place.type = CU_MEMORYTYPE_DEVICE;
  place.address = address;
  place.pitch = height > 1 ? pitch : 0;
  Box box{width * size, height, 1};
  if (resolve(call, place, box))
    return call.result;
  auto work = std::make_shared<Work>();
  work->name = format("set of %zu x %zu bytes", height, width * size);
  work->type = CU_GRAPH_NODE_TYPE_MEMSET;
  work->context = stream->context;
  if (place.isDevice())
    work->uses.push_back(place.allocation);
  else
    work->usesHost.push_back(place.address);
  work->run = [place, box, value, size] {
    for (size_t y = 0; y < box.height; ++y)
      setRow(place.row(y, 0), box.width, value, size);
  };
  OpRef op = enqueue(*stream, std::move(work));
  if (op && !async && !place.isDevice())
    call.scheduler.wait(call.lock, op);
  return CUDA_SUCCESS;
}

#define SETS(bits, type)                                                       \
  CUresult CUDAAPI cuMemsetD##bits(CUdeviceptr address, type value,            \
                                   size_t count) {                             \
    return set("cuMemsetD" #bits, address, 0, value, bits / 8, count, 1,       \
               nullptr, false);                                                \
  }                                                                            \
  CUresult CUDAAPI cuMemsetD##bits##Async(CUdeviceptr address, type value,     \
                                          size_t count, CUstream stream) {     \
    return set("cuMemsetD" #bits "Async", address, 0, value, bits / 8, count,  \
               1, stream, true);                                               \
  }                                                                            \
  CUresult CUDAAPI cuMemsetD2D##bits(CUdeviceptr address, size_t pitch,        \
                                     type value, size_t width,                 \
                                     size_t height) {                          \
    return set("cuMemsetD2D" #bits, address, pitch, value, bits / 8, width,    \
               height, nullptr, false);                                        \
  }                                                                            \
  CUresult CUDAAPI cuMemsetD2D##bits##Async(CUdeviceptr address, size_t pitch, \
                                            type value, size_t width,          \
                                            size_t height, CUstream stream) {  \
    return set("cuMemsetD2D" #bits "Async", address, pitch, value, bits / 8,   \
               width, height, stream, true);                                   \
  }

SETS(8, unsigned char)
SETS(16, unsigned short)
SETS(32, unsigned int)
