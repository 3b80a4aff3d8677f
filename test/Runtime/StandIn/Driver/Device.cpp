//===- Device.cpp - What a device says that it is -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers are those of a GPU of compute capability 9.0; what the stand-in
// has no functions for, the device says that it lacks.
//
//===----------------------------------------------------------------------===//

#include "Driver/Call.h"

#include <cstdio>
#include <cstring>

using namespace llmc::standin;

namespace {
struct Attribute {
  CUdevice_attribute name;
  int value;
};
} // namespace

#define A(name) CU_DEVICE_ATTRIBUTE_##name
static const Attribute attributes[] = {
    {A(MAX_THREADS_PER_BLOCK), 1024},
    {A(MAX_BLOCK_DIM_X), 1024},
    {A(MAX_BLOCK_DIM_Y), 1024},
    {A(MAX_BLOCK_DIM_Z), 64},
    {A(MAX_GRID_DIM_X), 2147483647},
    {A(MAX_GRID_DIM_Y), 65535},
    {A(MAX_GRID_DIM_Z), 65535},
    {A(MAX_SHARED_MEMORY_PER_BLOCK), 49152},
    {A(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 232448},
    {A(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR), 233472},
    {A(RESERVED_SHARED_MEMORY_PER_BLOCK), 1024},
    {A(TOTAL_CONSTANT_MEMORY), 65536},
    {A(WARP_SIZE), 32},
    {A(MAX_PITCH), 2147483647},
    {A(MAX_REGISTERS_PER_BLOCK), 65536},
    {A(MAX_REGISTERS_PER_MULTIPROCESSOR), 65536},
    {A(MAX_THREADS_PER_MULTIPROCESSOR), 2048},
    {A(MAX_BLOCKS_PER_MULTIPROCESSOR), 32},
    {A(CLOCK_RATE), 1980000},
    {A(MEMORY_CLOCK_RATE), 2619000},
    {A(GLOBAL_MEMORY_BUS_WIDTH), 5120},
    {A(L2_CACHE_SIZE), 52428800},
    {A(MULTIPROCESSOR_COUNT), 132},
    {A(TEXTURE_ALIGNMENT), 512},
    {A(TEXTURE_PITCH_ALIGNMENT), 32},
    {A(GPU_OVERLAP), 1},
    {A(KERNEL_EXEC_TIMEOUT), 0},
    {A(INTEGRATED), 0},
    {A(CAN_MAP_HOST_MEMORY), 1},
    {A(COMPUTE_MODE), CU_COMPUTEMODE_DEFAULT},
    {A(CONCURRENT_KERNELS), 1},
    {A(ECC_ENABLED), 1},
    {A(PCI_DEVICE_ID), 0},
    {A(PCI_DOMAIN_ID), 0},
    {A(TCC_DRIVER), 0},
    {A(ASYNC_ENGINE_COUNT), 3},
    {A(UNIFIED_ADDRESSING), 1},
    {A(COMPUTE_CAPABILITY_MAJOR), 9},
    {A(COMPUTE_CAPABILITY_MINOR), 0},
    {A(STREAM_PRIORITIES_SUPPORTED), 1},
    {A(GLOBAL_L1_CACHE_SUPPORTED), 1},
    {A(LOCAL_L1_CACHE_SUPPORTED), 1},
    {A(MANAGED_MEMORY), 0},
    {A(CONCURRENT_MANAGED_ACCESS), 0},
    {A(PAGEABLE_MEMORY_ACCESS), 0},
    {A(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES), 0},
    {A(HOST_NATIVE_ATOMIC_SUPPORTED), 0},
    {A(COMPUTE_PREEMPTION_SUPPORTED), 1},
    {A(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM), 1},
    {A(HOST_REGISTER_SUPPORTED), 1},
    {A(READ_ONLY_HOST_REGISTER_SUPPORTED), 0},
    {A(COOPERATIVE_LAUNCH), 0},
    {A(CLUSTER_LAUNCH), 0},
    {A(MEMORY_POOLS_SUPPORTED), 0},
    {A(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED), 0},
    {A(MULTICAST_SUPPORTED), 0},
    {A(IPC_EVENT_SUPPORTED), 0},
    {A(MULTI_GPU_BOARD), 0},
    {A(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO), 2},
};
#undef A

static bool isDevice(CUdevice device) {
  return device >= 0 && device < Memory::get().numDevices();
}

CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal) {
  Call call("cuDeviceGet", kInitialised);
  if (call.result)
    return call.result;
  if (!device)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the device");
  if (!isDevice(ordinal))
    return call.refuse(CUDA_ERROR_INVALID_DEVICE, "no such device");
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetCount(int *count) {
  Call call("cuDeviceGetCount", kInitialised);
  if (call.result)
    return call.result;
  if (!count)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the count");
  *count = call.memory.numDevices();
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetName(char *name, int length, CUdevice device) {
  Call call("cuDeviceGetName", kInitialised);
  if (call.result)
    return call.result;
  if (!name || length <= 0)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the name");
  if (!isDevice(device))
    return call.refuse(CUDA_ERROR_INVALID_DEVICE, "no such device");
  std::snprintf(name, length, "llmc stand-in for an sm_90 GPU");
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  Call call("cuDeviceGetUuid", kInitialised);
  if (call.result)
    return call.result;
  if (!uuid)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the UUID");
  if (!isDevice(device))
    return call.refuse(CUDA_ERROR_INVALID_DEVICE, "no such device");
  std::memcpy(uuid->bytes, "llmc stand-in \0\0", sizeof uuid->bytes);
  uuid->bytes[15] = static_cast<char>(call.memory.physical(device));
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  Call call("cuDeviceTotalMem", kInitialised);
  if (call.result)
    return call.result;
  if (!bytes)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the bytes");
  if (!isDevice(device))
    return call.refuse(CUDA_ERROR_INVALID_DEVICE, "no such device");
  *bytes = call.memory.totalBytes();
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute name,
                                      CUdevice device) {
  Call call("cuDeviceGetAttribute", kInitialised);
  if (call.result)
    return call.result;
  if (!value)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the value");
  if (!isDevice(device))
    return call.refuse(CUDA_ERROR_INVALID_DEVICE, "no such device");
  if (name == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) {
    *value = call.memory.physical(device) + 1;
    return CUDA_SUCCESS;
  }
  for (const Attribute &attribute : attributes)
    if (attribute.name == name) {
      *value = attribute.value;
      return CUDA_SUCCESS;
    }
  return call.refuse(CUDA_ERROR_INVALID_VALUE,
                     "an attribute that the stand-in does not know");
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char *name, int length, CUdevice device) {
  Call call("cuDeviceGetPCIBusId", kInitialised);
  if (call.result)
    return call.result;
  if (!name || length < 13)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for 13 characters");
  if (!isDevice(device))
    return call.refuse(CUDA_ERROR_INVALID_DEVICE, "no such device");
  std::snprintf(name, length, "0000:%02X:00.0",
                call.memory.physical(device) + 1);
  return CUDA_SUCCESS;
}
