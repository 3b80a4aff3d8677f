//===- Streams.cpp - Streams ----------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Call.h"

#include <algorithm>

using namespace llmc::standin;

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream *handle, unsigned flags,
                                            int priority) {
  Call call("cuStreamCreate", kInitialised | kContext);
  if (call.result)
    return call.result;
  if (!handle || (flags & ~CU_STREAM_NON_BLOCKING))
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "unknown flags, or no place");
  auto stream = std::make_shared<Stream>();
  stream->context = call.context;
  stream->blocking = !(flags & CU_STREAM_NON_BLOCKING);
  stream->priority = std::min(0, std::max(-5, priority));
  call.context->streams.push_back(stream);
  *handle = static_cast<CUstream>(Handles::get().add(stream));
  stream->lane = reinterpret_cast<uint64_t>(stream->handle);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamCreate(CUstream *handle, unsigned int flags) {
  return cuStreamCreateWithPriority(handle, flags, 0);
}

CUresult CUDAAPI cuStreamDestroy(CUstream handle) {
  Call call("cuStreamDestroy", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Stream> stream = call.object<Stream>(handle);
  if (!stream)
    return call.result;
  if (stream->capture) {
    invalidate(*stream->capture);
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "it captures");
  }
  if (stream->blocking && stream->last && !stream->last->done)
    stream->context->orphans.push_back(stream->last);
  Handles::get().remove(*stream);
  return CUDA_SUCCESS;
}

/// The stream that a question is about. What it captures is no matter.
static std::shared_ptr<Stream> anyStream(Call &call, CUstream handle) {
  std::shared_ptr<Stream> stream = findStream(handle, *call.context);
  if (!stream)
    call.refuse(CUDA_ERROR_INVALID_HANDLE, "no stream");
  return stream;
}

CUresult CUDAAPI cuStreamGetPriority(CUstream handle, int *priority) {
  Call call("cuStreamGetPriority", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<Stream> stream = anyStream(call, handle);
  if (!stream || !priority)
    return call.result ? call.result
                       : call.refuse(CUDA_ERROR_INVALID_VALUE, "no place");
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamGetFlags(CUstream handle, unsigned int *flags) {
  Call call("cuStreamGetFlags", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<Stream> stream = anyStream(call, handle);
  if (!stream || !flags)
    return call.result ? call.result
                       : call.refuse(CUDA_ERROR_INVALID_VALUE, "no place");
  *flags = stream->blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamGetCtx(CUstream handle, CUcontext *context) {
  Call call("cuStreamGetCtx", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<Stream> stream = anyStream(call, handle);
  if (!stream || !context)
    return call.result ? call.result
                       : call.refuse(CUDA_ERROR_INVALID_VALUE, "no place");
  *context = static_cast<CUcontext>(stream->context->handle);
  return CUDA_SUCCESS;
}

/// The stream that may be waited for, or null.
static std::shared_ptr<Stream> waitable(Call &call, CUstream handle) {
  std::shared_ptr<Stream> stream = anyStream(call, handle);
  if (!stream)
    return nullptr;
  if (stream->capture) {
    invalidate(*stream->capture);
    call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "it captures");
    return nullptr;
  }
  call.result = checkUse(*stream);
  if (!call.result)
    call.result = refuseUnsafeCall(call.name);
  return call.result ? nullptr : stream;
}

/// An op that is done when all that the stream was given is. The null stream
/// has what blocking streams do, too.
static OpRef everythingOf(Call &call, Stream &stream) {
  if (!stream.isLegacy)
    return stream.last;
  return enqueue(stream, makeWork("join of the null stream",
                                  CU_GRAPH_NODE_TYPE_EMPTY, stream.context));
}

/// Whether all that `everythingOf` waits for is done.
static bool isIdle(const Stream &stream) {
  auto isDone = [](const OpRef &op) { return !op || op->done; };
  if (!isDone(stream.last) || !stream.isLegacy)
    return isDone(stream.last);
  for (const OpRef &op : stream.context->orphans)
    if (!isDone(op))
      return false;
  for (const std::weak_ptr<Stream> &weak : stream.context->streams)
    if (auto other = weak.lock(); other && other->blocking)
      if (!isDone(other->last))
        return false;
  return true;
}

CUresult CUDAAPI cuStreamQuery(CUstream handle) {
  Call call("cuStreamQuery", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<Stream> stream = waitable(call, handle);
  if (!stream)
    return call.result;
  if (isIdle(*stream))
    return CUDA_SUCCESS;
  call.scheduler.nudge();
  return CUDA_ERROR_NOT_READY;
}

CUresult CUDAAPI cuStreamSynchronize(CUstream handle) {
  Call call("cuStreamSynchronize", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<Stream> stream = waitable(call, handle);
  if (!stream)
    return call.result;
  call.scheduler.wait(call.lock, everythingOf(call, *stream));
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLaunchHostFunc(CUstream handle, CUhostFn function,
                                  void *argument) {
  Call call("cuLaunchHostFunc", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<Stream> stream = call.stream(handle);
  if (!stream)
    return call.result;
  if (!function)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no function");
  auto work = std::make_shared<Work>();
  work->name = "host function";
  work->type = CU_GRAPH_NODE_TYPE_HOST;
  work->context = stream->context;
  work->onHost = true;
  work->run = [function, argument] { function(argument); };
  enqueue(*stream, std::move(work));
  return CUDA_SUCCESS;
}
