//===- Transfer.cpp - Boxes of bytes that are copied or set ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a copy returns, and when it reads, is what the section "API
// synchronization behavior" of the driver's documentation says:
//
//   from      to        synchronous call            asynchronous call
//   pageable  device    stream done, bytes staged   bytes staged
//   pinned    device    done                        read when it runs
//   device    host      done                        pinned: when it runs,
//                                                   pageable: done
//   device    device    submitted                   submitted
//   host      host      done                        done
//
//===----------------------------------------------------------------------===//

#include "Driver/Transfer.h"

#include <cstring>

using namespace llmc::standin;

char *Place::row(size_t y, size_t z) const {
  uint64_t at = address + (z * rows + y) * pitch;
  return isDevice() ? Memory::get().translate(at)
                    : reinterpret_cast<char *>(at);
}

CUresult llmc::standin::resolve(Call &call, Place &place, const Box &box) {
  if (!place.pitch && box.height * box.depth == 1)
    place.pitch = box.width;
  if (!place.rows && box.depth == 1)
    place.rows = box.height;
  if (place.pitch < box.width || place.rows < box.height)
    return call.refuse(CUDA_ERROR_INVALID_VALUE,
                       "a pitch, or a height, is smaller than the box");
  if (place.pitch > 2147483647 && box.height * box.depth > 1)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "the pitch is too great");
  uint64_t bytes =
      ((box.depth - 1) * place.rows + box.height - 1) * place.pitch + box.width;
  Memory &memory = call.memory;
  bool ofDevice = memory.deviceOf(place.address) >= 0;
  if (ofDevice) {
    if (place.type == CU_MEMORYTYPE_HOST)
      return call.refuse(CUDA_ERROR_INVALID_VALUE,
                         "a device address is given as one of the host");
    place.allocation = memory.find(place.address, bytes);
    return place.allocation
               ? CUDA_SUCCESS
               : call.refuse(CUDA_ERROR_INVALID_VALUE,
                             "the range is not part of one allocation");
  }
  if (!place.address)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "a null address");
  place.pinned = memory.isPinned(place.address, bytes);
  if (!place.pinned && memory.findHost(place.address))
    return call.refuse(CUDA_ERROR_INVALID_VALUE,
                       "the range leaves its pinned memory");
  if (!place.pinned && place.type == CU_MEMORYTYPE_DEVICE)
    return call.refuse(CUDA_ERROR_INVALID_VALUE,
                       "a pageable address is given as one of a device");
  return CUDA_SUCCESS;
}

static void copyRows(const Place &to, const Place &from, const Box &box) {
  for (size_t z = 0; z < box.depth; ++z)
    for (size_t y = 0; y < box.height; ++y)
      std::memcpy(to.row(y, z), from.row(y, z), box.width);
}

static void refuseOverlap(const Place &to, const Place &from, const Box &box) {
  uint64_t low = std::min(to.address, from.address);
  uint64_t high = std::max(to.address, from.address);
  if (box.height * box.depth == 1 && high - low < box.width)
    violation("a copy of %zu bytes, of which source and target overlap",
              box.width);
}

/// The bytes of pageable memory, as they are now.
static std::shared_ptr<std::vector<char>> stage(Place &from, const Box &box) {
  auto bytes =
      std::make_shared<std::vector<char>>(box.width * box.height * box.depth);
  Place staged;
  staged.address = reinterpret_cast<uint64_t>(bytes->data());
  staged.pitch = box.width;
  staged.rows = box.height;
  copyRows(staged, from, box);
  from = staged;
  return bytes;
}

CUresult llmc::standin::copy(Call &call, Place to, Place from, const Box &box,
                             CUstream handle, bool async) {
  std::shared_ptr<Stream> stream = call.stream(handle);
  if (!stream || !box.width || !box.height || !box.depth)
    return call.result;
  if (resolve(call, to, box) || resolve(call, from, box))
    return call.result;
  refuseOverlap(to, from, box);
  bool bothOnHost = !to.isDevice() && !from.isDevice();
  bool pageableSource = !from.isDevice() && !from.pinned && to.isDevice();
  bool waits = bothOnHost || (!to.isDevice() && (!async || !to.pinned)) ||
               (!async && from.pinned);
  auto work = std::make_shared<Work>();
  work->name =
      format("copy of %zu x %zu x %zu bytes", box.depth, box.height, box.width);
  work->type = CU_GRAPH_NODE_TYPE_MEMCPY;
  work->context = stream->context;
  for (Place *place : {&to, &from})
    if (place->isDevice())
      work->uses.push_back(place->allocation);
    else if (place->pinned)
      work->usesHost.push_back(place->address);
  std::shared_ptr<std::vector<char>> staged;
  if (pageableSource && !stream->capture) {
    if (!async && stream->last)
      call.scheduler.wait(call.lock, OpRef(stream->last));
    staged = stage(from, box);
  }
  work->run = [to, from, box, staged] { copyRows(to, from, box); };
  OpRef op = enqueue(*stream, std::move(work));
  if (waits && op)
    call.scheduler.wait(call.lock, op);
  return CUDA_SUCCESS;
}
