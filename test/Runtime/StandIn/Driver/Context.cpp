//===- Context.cpp - Devices and their primary contexts -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Call.h"

using namespace llmc::standin;

static bool isDevice(CUdevice device) {
  return device >= 0 && device < Memory::get().numDevices();
}

CUresult CUDAAPI cuInit(unsigned int flags) {
  Call call("cuInit", 0);
  if (call.result)
    return call.result;
  if (flags)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "flags are not 0");
  if (!Memory::get().numDevices())
    return call.refuse(CUDA_ERROR_NO_DEVICE, "LLMC_STANDIN_DEVICES is 0");
  if (!isInitialised())
    watchFaults();
  setInitialised();
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDriverGetVersion(int *version) {
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *result, CUdevice device) {
  Call call("cuDevicePrimaryCtxRetain", kInitialised);
  if (call.result)
    return call.result;
  if (!result)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the context");
  if (!isDevice(device))
    return call.refuse(CUDA_ERROR_INVALID_DEVICE, "no such device");
  Context &context = primaryContext(device);
  if (!context.retained++) {
    context.legacy = std::make_shared<Stream>();
    context.legacy->context = &context;
    context.legacy->isLegacy = true;
    context.legacy->lane = reinterpret_cast<uint64_t>(context.legacy.get());
  }
  *result = static_cast<CUcontext>(context.handle);
  return CUDA_SUCCESS;
}

/// Everything of the context goes, once its work is done.
static void reset(Call &call, Context &context) {
  for (const CaptureRef &capture : captures())
    if (capture->origin->context == &context)
      violation("a context is reset while one of its streams captures");
  call.scheduler.waitUntil(call.lock, [&] { return !context.unfinished; });
  context.streams.clear();
  context.perThread.clear();
  context.legacy.reset();
  context.peers.clear();
  Handles::get().removeOf(&context);
  call.memory.freeAll(&context);
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device) {
  Call call("cuDevicePrimaryCtxRelease", kInitialised);
  if (call.result)
    return call.result;
  if (!isDevice(device))
    return call.refuse(CUDA_ERROR_INVALID_DEVICE, "no such device");
  Context &context = primaryContext(device);
  if (!context.retained)
    return call.refuse(CUDA_ERROR_INVALID_CONTEXT, "it is not retained");
  if (context.retained == 1)
    reset(call, context);
  --context.retained;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice device) {
  Call call("cuDevicePrimaryCtxReset", kInitialised);
  if (call.result)
    return call.result;
  if (!isDevice(device))
    return call.refuse(CUDA_ERROR_INVALID_DEVICE, "no such device");
  Context &context = primaryContext(device);
  if (context.retained)
    reset(call, context);
  context.retained = 0;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  Call call("cuDevicePrimaryCtxSetFlags", kInitialised);
  if (call.result)
    return call.result;
  if (!isDevice(device))
    return call.refuse(CUDA_ERROR_INVALID_DEVICE, "no such device");
  if (flags & ~CU_CTX_FLAGS_MASK)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "unknown flags");
  primaryContext(device).flags = flags;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags,
                                            int *active) {
  Call call("cuDevicePrimaryCtxGetState", kInitialised);
  if (call.result)
    return call.result;
  if (!isDevice(device))
    return call.refuse(CUDA_ERROR_INVALID_DEVICE, "no such device");
  if (!flags || !active)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the state");
  *flags = primaryContext(device).flags;
  *active = primaryContext(device).retained != 0;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext handle) {
  Call call("cuCtxPushCurrent", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Context> context = Handles::get().find<Context>(handle);
  if (!context)
    return call.refuse(CUDA_ERROR_INVALID_CONTEXT, "no context");
  contextStack().push_back(context.get());
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxPopCurrent(CUcontext *handle) {
  Call call("cuCtxPopCurrent", kInitialised);
  if (call.result)
    return call.result;
  if (contextStack().empty())
    return call.refuse(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
  if (handle)
    *handle = static_cast<CUcontext>(contextStack().back()->handle);
  contextStack().pop_back();
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext handle) {
  Call call("cuCtxSetCurrent", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Context> context = Handles::get().find<Context>(handle);
  if (handle && !context)
    return call.refuse(CUDA_ERROR_INVALID_CONTEXT, "no context");
  if (!contextStack().empty())
    contextStack().pop_back();
  if (context)
    contextStack().push_back(context.get());
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext *handle) {
  Call call("cuCtxGetCurrent", kInitialised);
  if (call.result)
    return call.result;
  if (!handle)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the context");
  *handle =
      call.context ? static_cast<CUcontext>(call.context->handle) : nullptr;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice *device) {
  Call call("cuCtxGetDevice", kInitialised | kContext);
  if (call.result)
    return call.result;
  if (!device)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the device");
  *device = call.context->device;
  return CUDA_SUCCESS;
}

extern "C" CUresult CUDAAPI cuCtxGetDevice_v2(CUdevice *device,
                                              CUcontext handle) {
  Call call("cuCtxGetDevice", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Context> context = Handles::get().find<Context>(handle);
  if (!context)
    return call.refuse(CUDA_ERROR_INVALID_CONTEXT, "no context");
  if (!device)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the device");
  *device = context->device;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetFlags(unsigned int *flags) {
  Call call("cuCtxGetFlags", kInitialised | kContext);
  if (call.result)
    return call.result;
  if (!flags)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the flags");
  *flags = call.context->flags;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  Call call("cuCtxGetStreamPriorityRange", kInitialised | kContext);
  if (call.result)
    return call.result;
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return CUDA_SUCCESS;
}

static CUresult synchronize(Call &call, Context &context) {
  for (const CaptureRef &capture : captures())
    for (const std::shared_ptr<Stream> &stream : capture->streams)
      if (stream->context == &context) {
        invalidate(*capture);
        call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                    "a stream of the context captures");
      }
  if (call.result || (call.result = refuseUnsafeCall(call.name)))
    return call.result;
  call.scheduler.waitUntil(call.lock, [&] { return !context.unfinished; });
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSynchronize() {
  Call call("cuCtxSynchronize", kInitialised | kContext);
  return call.result ? call.result : synchronize(call, *call.context);
}

extern "C" CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext handle) {
  Call call("cuCtxSynchronize", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Context> context = Handles::get().find<Context>(handle);
  if (!context || !context->retained)
    return call.refuse(CUDA_ERROR_INVALID_CONTEXT, "no context");
  return synchronize(call, *context);
}

CUresult CUDAAPI cuDeviceCanAccessPeer(int *can, CUdevice device,
                                       CUdevice peer) {
  Call call("cuDeviceCanAccessPeer", kInitialised);
  if (call.result)
    return call.result;
  if (!can)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the answer");
  if (!isDevice(device) || !isDevice(peer))
    return call.refuse(CUDA_ERROR_INVALID_DEVICE, "no such device");
  *can = device != peer;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext handle, unsigned int flags) {
  Call call("cuCtxEnablePeerAccess", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<Context> peer = Handles::get().find<Context>(handle);
  if (!peer || peer.get() == call.context)
    return call.refuse(CUDA_ERROR_INVALID_CONTEXT, "no other context");
  if (flags)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "flags are not 0");
  if (!call.context->peers.insert(peer.get()).second)
    return call.refuse(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "twice");
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext handle) {
  Call call("cuCtxDisablePeerAccess", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<Context> peer = Handles::get().find<Context>(handle);
  if (!peer)
    return call.refuse(CUDA_ERROR_INVALID_CONTEXT, "no context");
  if (!call.context->peers.erase(peer.get()))
    return call.refuse(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
                       "it was not enabled");
  return CUDA_SUCCESS;
}
