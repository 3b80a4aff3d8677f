//===- Copies.cpp - The functions that copy -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Transfer.h"

using namespace llmc::standin;

static Place place(CUmemorytype type, uint64_t address) {
  Place result;
  result.type = type;
  result.address = address;
  return result;
}
static Place host(const void *pointer) {
  return place(CU_MEMORYTYPE_HOST, reinterpret_cast<uint64_t>(pointer));
}
static Place device(CUdeviceptr address) {
  return place(CU_MEMORYTYPE_DEVICE, address);
}
static Place unified(CUdeviceptr address) {
  return place(CU_MEMORYTYPE_UNIFIED, address);
}

static CUresult copyBytes(const char *name, const Place &to, const Place &from,
                          size_t bytes, CUstream stream, bool async) {
  Call call(name, rulesOfTransfer(async));
  if (call.result)
    return call.result;
  return copy(call, to, from, {bytes, 1, 1}, stream, async);
}

CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  return copyBytes("cuMemcpyHtoD", device(to), host(from), bytes, nullptr,
                   false);
}
CUresult CUDAAPI cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  return copyBytes("cuMemcpyDtoH", host(to), device(from), bytes, nullptr,
                   false);
}
CUresult CUDAAPI cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copyBytes("cuMemcpyDtoD", device(to), device(from), bytes, nullptr,
                   false);
}
CUresult CUDAAPI cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copyBytes("cuMemcpy", unified(to), unified(from), bytes, nullptr,
                   false);
}
CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr to, const void *from,
                                   size_t bytes, CUstream stream) {
  return copyBytes("cuMemcpyHtoDAsync", device(to), host(from), bytes, stream,
                   true);
}
CUresult CUDAAPI cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes,
                                   CUstream stream) {
  return copyBytes("cuMemcpyDtoHAsync", host(to), device(from), bytes, stream,
                   true);
}
CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from,
                                   size_t bytes, CUstream stream) {
  return copyBytes("cuMemcpyDtoDAsync", device(to), device(from), bytes, stream,
                   true);
}
CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                               CUstream stream) {
  return copyBytes("cuMemcpyAsync", unified(to), unified(from), bytes, stream,
                   true);
}

static CUresult copyPeer(const char *name, CUdeviceptr to, CUcontext toContext,
                         CUdeviceptr from, CUcontext fromContext, size_t bytes,
                         CUstream stream, bool async) {
  Call call(name, rulesOfTransfer(async));
  if (call.result)
    return call.result;
  std::shared_ptr<Context> target = Handles::get().find<Context>(toContext);
  std::shared_ptr<Context> source = Handles::get().find<Context>(fromContext);
  if (!target || !source)
    return call.refuse(CUDA_ERROR_INVALID_CONTEXT, "no context");
  if (call.memory.deviceOf(to) != target->device ||
      call.memory.deviceOf(from) != source->device)
    return call.refuse(CUDA_ERROR_INVALID_VALUE,
                       "an address is not of the context that it is said of");
  return copy(call, device(to), device(from), {bytes, 1, 1}, stream, async);
}

CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr to, CUcontext toContext,
                              CUdeviceptr from, CUcontext fromContext,
                              size_t bytes) {
  return copyPeer("cuMemcpyPeer", to, toContext, from, fromContext, bytes,
                  nullptr, false);
}
CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr to, CUcontext toContext,
                                   CUdeviceptr from, CUcontext fromContext,
                                   size_t bytes, CUstream stream) {
  return copyPeer("cuMemcpyPeerAsync", to, toContext, from, fromContext, bytes,
                  stream, true);
}

/// The place that one side of a description names.
static Place side(CUmemorytype type, const void *pointer, CUdeviceptr address,
                  size_t pitch, size_t rows, size_t x, size_t y, size_t z) {
  Place result;
  result.type = type;
  result.pitch = pitch;
  result.rows = rows;
  uint64_t base = type == CU_MEMORYTYPE_HOST
                      ? reinterpret_cast<uint64_t>(pointer)
                      : address;
  result.address = base + (z * rows + y) * pitch + x;
  return result;
}

static bool fits(size_t pitch, size_t x, size_t width) {
  return !pitch || pitch >= x + width;
}

static CUresult copy2D(const char *name, const CUDA_MEMCPY2D *given,
                       CUstream stream, bool async) {
  Call call(name, rulesOfTransfer(async));
  if (call.result)
    return call.result;
  if (!given || given->srcMemoryType == CU_MEMORYTYPE_ARRAY ||
      given->dstMemoryType == CU_MEMORYTYPE_ARRAY)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "null, or an array");
  const CUDA_MEMCPY2D &c = *given;
  if (!fits(c.srcPitch, c.srcXInBytes, c.WidthInBytes) ||
      !fits(c.dstPitch, c.dstXInBytes, c.WidthInBytes))
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "the pitch is too small");
  Place to = side(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstPitch, 0,
                  c.dstXInBytes, c.dstY, 0);
  Place from = side(c.srcMemoryType, c.srcHost, c.srcDevice, c.srcPitch, 0,
                    c.srcXInBytes, c.srcY, 0);
  return copy(call, to, from, {c.WidthInBytes, c.Height, 1}, stream, async);
}

CUresult CUDAAPI cuMemcpy2D(const CUDA_MEMCPY2D *given) {
  return copy2D("cuMemcpy2D", given, nullptr, false);
}
CUresult CUDAAPI cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *given) {
  return copy2D("cuMemcpy2DUnaligned", given, nullptr, false);
}
CUresult CUDAAPI cuMemcpy2DAsync(const CUDA_MEMCPY2D *given, CUstream stream) {
  return copy2D("cuMemcpy2DAsync", given, stream, true);
}

static CUresult copy3D(const char *name, const CUDA_MEMCPY3D *given,
                       CUstream stream, bool async) {
  Call call(name, rulesOfTransfer(async));
  if (call.result)
    return call.result;
  if (!given || given->srcMemoryType == CU_MEMORYTYPE_ARRAY ||
      given->dstMemoryType == CU_MEMORYTYPE_ARRAY)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "null, or an array");
  const CUDA_MEMCPY3D &c = *given;
  if (c.srcLOD || c.dstLOD || c.reserved0 || c.reserved1)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "a reserved field is not 0");
  if (!fits(c.srcPitch, c.srcXInBytes, c.WidthInBytes) ||
      !fits(c.dstPitch, c.dstXInBytes, c.WidthInBytes) ||
      !fits(c.srcHeight, c.srcY, c.Height) ||
      !fits(c.dstHeight, c.dstY, c.Height))
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "pitch or height too small");
  Place to = side(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstPitch,
                  c.dstHeight, c.dstXInBytes, c.dstY, c.dstZ);
  Place from = side(c.srcMemoryType, c.srcHost, c.srcDevice, c.srcPitch,
                    c.srcHeight, c.srcXInBytes, c.srcY, c.srcZ);
  return copy(call, to, from, {c.WidthInBytes, c.Height, c.Depth}, stream,
              async);
}

CUresult CUDAAPI cuMemcpy3D(const CUDA_MEMCPY3D *given) {
  return copy3D("cuMemcpy3D", given, nullptr, false);
}
CUresult CUDAAPI cuMemcpy3DAsync(const CUDA_MEMCPY3D *given, CUstream stream) {
  return copy3D("cuMemcpy3DAsync", given, stream, true);
}
