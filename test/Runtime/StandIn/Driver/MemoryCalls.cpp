//===- MemoryCalls.cpp - Memory of devices, and pinned memory -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Call.h"

using namespace llmc::standin;

static constexpr unsigned kAll = kInitialised | kContext | kUnsafe;

CUresult CUDAAPI cuMemGetInfo(size_t *free, size_t *total) {
  Call call("cuMemGetInfo", kInitialised | kContext);
  if (call.result)
    return call.result;
  if (!free || !total)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the bytes");
  *free = call.memory.freeBytes(call.context->device);
  *total = call.memory.totalBytes();
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  Call call("cuMemAlloc", kAll);
  if (call.result)
    return call.result;
  if (!address || !bytes)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "0 bytes, or no place");
  AllocationRef made =
      call.memory.allocate(call.context, call.context->device, bytes);
  if (!made)
    return call.refuse(CUDA_ERROR_OUT_OF_MEMORY, "the device is full");
  *address = made->address;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  Call call("cuMemFree", kAll);
  if (call.result || !address)
    return call.result;
  AllocationRef found = call.memory.find(address);
  if (!found || found->address != address)
    return call.refuse(CUDA_ERROR_INVALID_VALUE,
                       "not the address of an allocation, or freed before");
  if (found->pending)
    violation("cuMemFree of memory that %u submitted operations still use",
              found->pending);
  call.memory.free(found);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes,
                                      CUdeviceptr address) {
  Call call("cuMemGetAddressRange", kInitialised | kContext);
  if (call.result)
    return call.result;
  AllocationRef found = call.memory.find(address);
  if (!found)
    return call.refuse(CUDA_ERROR_NOT_FOUND, "no allocation");
  if (base)
    *base = found->address;
  if (bytes)
    *bytes = found->bytes;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
  Call call("cuMemHostAlloc", kAll);
  if (call.result)
    return call.result;
  constexpr unsigned known = CU_MEMHOSTALLOC_PORTABLE |
                             CU_MEMHOSTALLOC_DEVICEMAP |
                             CU_MEMHOSTALLOC_WRITECOMBINED;
  if (!address || !bytes || (flags & ~known))
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "0 bytes, or flags");
  HostRange *range = call.memory.allocateHost(call.context, bytes, flags);
  if (!range)
    return call.refuse(CUDA_ERROR_OUT_OF_MEMORY, "the host is full");
  *address = reinterpret_cast<void *>(range->address);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAllocHost(void **address, size_t bytes) {
  return cuMemHostAlloc(address, bytes, 0);
}

CUresult CUDAAPI cuMemFreeHost(void *pointer) {
  Call call("cuMemFreeHost", kAll);
  if (call.result || !pointer)
    return call.result;
  auto address = reinterpret_cast<uint64_t>(pointer);
  HostRange *range = call.memory.findHost(address);
  if (!range || range->address != address || range->registered)
    return call.refuse(CUDA_ERROR_INVALID_VALUE,
                       "not memory of cuMemHostAlloc, or freed before");
  if (range->pending)
    violation("cuMemFreeHost of memory that %u submitted operations still use",
              range->pending);
  call.memory.freeHost(*range);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemHostRegister(void *pointer, size_t bytes,
                                   unsigned int flags) {
  Call call("cuMemHostRegister", kAll);
  if (call.result)
    return call.result;
  constexpr unsigned known =
      CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
  if (!pointer || !bytes || (flags & ~known))
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "0 bytes, or flags");
  if (!call.memory.registerHost(
          call.context, reinterpret_cast<uint64_t>(pointer), bytes, flags))
    return call.refuse(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                       "part of it is registered already");
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemHostUnregister(void *pointer) {
  Call call("cuMemHostUnregister", kAll);
  if (call.result)
    return call.result;
  auto address = reinterpret_cast<uint64_t>(pointer);
  HostRange *range = call.memory.findHost(address);
  if (!range || range->address != address || !range->registered)
    return call.refuse(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "it is not");
  if (range->pending)
    violation("cuMemHostUnregister of memory that %u submitted operations "
              "still use",
              range->pending);
  call.memory.freeHost(*range);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemHostGetDevicePointer(CUdeviceptr *device, void *pointer,
                                           unsigned int flags) {
  Call call("cuMemHostGetDevicePointer", kInitialised | kContext);
  if (call.result)
    return call.result;
  auto address = reinterpret_cast<uint64_t>(pointer);
  if (!device || flags || !call.memory.findHost(address))
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "not pinned memory");
  *device = address;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemHostGetFlags(unsigned int *flags, void *pointer) {
  Call call("cuMemHostGetFlags", kInitialised | kContext);
  if (call.result)
    return call.result;
  HostRange *range = call.memory.findHost(reinterpret_cast<uint64_t>(pointer));
  if (!flags || !range || range->registered)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "not of cuMemHostAlloc");
  *flags = range->flags | CU_MEMHOSTALLOC_DEVICEMAP;
  return CUDA_SUCCESS;
}

namespace {
/// What is known of an address.
struct Known {
  uint64_t base, bytes;
  Context *context;
  bool onDevice;
};
} // namespace

static CUresult tell(Call &call, void *data, CUpointer_attribute attribute,
                     const Known &known, CUdeviceptr address) {
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    *static_cast<void **>(data) = known.context->handle;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *static_cast<unsigned *>(data) =
        known.onDevice ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    if (known.onDevice)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "memory of a device");
    [[fallthrough]];
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    *static_cast<CUdeviceptr *>(data) = address;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    *static_cast<int *>(data) = known.context->device;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    *static_cast<CUdeviceptr *>(data) = known.base;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    *static_cast<size_t *>(data) = known.bytes;
    return CUDA_SUCCESS;
  default:
    return call.refuse(CUDA_ERROR_NOT_SUPPORTED,
                       "an attribute that the stand-in does not know");
  }
}

CUresult CUDAAPI cuPointerGetAttribute(void *data, CUpointer_attribute name,
                                       CUdeviceptr address) {
  Call call("cuPointerGetAttribute", kInitialised | kContext);
  if (call.result)
    return call.result;
  if (!data)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the value");
  if (AllocationRef found = call.memory.find(address))
    return tell(call, data, name,
                {found->address, found->bytes, found->context, true}, address);
  if (HostRange *range = call.memory.findHost(address))
    return tell(call, data, name,
                {range->address, range->bytes, range->context, false}, address);
  return call.refuse(CUDA_ERROR_INVALID_VALUE, "not memory that is known");
}
