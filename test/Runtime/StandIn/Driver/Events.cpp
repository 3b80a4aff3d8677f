//===- Events.cpp - Events, and what waits for them -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Call.h"

#include <algorithm>

using namespace llmc::standin;

CUresult CUDAAPI cuEventCreate(CUevent *handle, unsigned int flags) {
  Call call("cuEventCreate", kInitialised | kContext);
  if (call.result)
    return call.result;
  constexpr unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
  if (!handle || (flags & ~known))
    return call.refuse(CUDA_ERROR_INVALID_VALUE,
                       "flags that the stand-in does not know, or no place");
  auto event = std::make_shared<Event>();
  event->context = call.context;
  event->timing = !(flags & CU_EVENT_DISABLE_TIMING);
  *handle = static_cast<CUevent>(Handles::get().add(event));
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuEventDestroy(CUevent handle) {
  Call call("cuEventDestroy", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Event> event = call.object<Event>(handle);
  if (event)
    Handles::get().remove(*event);
  return call.result;
}

/// A record, or a wait, that stands as a node in the graph that is captured.
static CUresult external(Call &call, Stream &stream,
                         std::shared_ptr<Event> event, bool record) {
  auto work = std::make_shared<Work>();
  work->name = record ? "event record" : "event wait";
  work->type =
      record ? CU_GRAPH_NODE_TYPE_EVENT_RECORD : CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  work->context = stream.context;
  work->submitted = [event, record](const OpRef &op) {
    if (record)
      event->recorded = op;
    else
      Scheduler::get().order(op, event->recorded);
  };
  enqueue(stream, std::move(work));
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuEventRecordWithFlags(CUevent handle, CUstream to,
                                        unsigned int flags) {
  Call call("cuEventRecord", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<Event> event = call.object<Event>(handle);
  std::shared_ptr<Stream> stream = event ? call.stream(to) : nullptr;
  if (!stream)
    return call.result;
  if (event->context != stream->context)
    return call.refuse(CUDA_ERROR_INVALID_HANDLE,
                       "event and stream are of two contexts");
  if (flags & ~CU_EVENT_RECORD_EXTERNAL)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "unknown flags");
  if (flags && !stream->capture)
    return call.refuse(CUDA_ERROR_ILLEGAL_STATE, "external, and no capture");
  if (flags)
    return external(call, *stream, event, true);
  event->capture = stream->capture;
  event->front = stream->front;
  if (!stream->capture)
    event->recorded = enqueue(*stream, makeWork("event record",
                                                CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                                stream->context));
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuEventRecord(CUevent handle, CUstream stream) {
  return cuEventRecordWithFlags(handle, stream, 0);
}

/// A wait of which the event, or the stream, belongs to a capture.
static CUresult joinCapture(Call &call, const std::shared_ptr<Stream> &stream,
                            const Event &event) {
  if (!event.capture) {
    invalidate(*stream->capture);
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                       "a capturing stream waits for an event that was not "
                       "recorded in the capture");
  }
  if (event.capture->ended)
    return call.refuse(CUDA_ERROR_CAPTURED_EVENT,
                       "the event was recorded in a capture that has ended");
  if (event.capture->invalid)
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "it is invalid");
  if (stream->capture && stream->capture != event.capture) {
    invalidate(*stream->capture);
    invalidate(*event.capture);
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_MERGE,
                       "stream and event are of two captures");
  }
  if (stream->isLegacy) {
    invalidate(*event.capture);
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                       "the null stream cannot capture");
  }
  if (!stream->capture) {
    stream->capture = event.capture;
    event.capture->streams.push_back(stream);
  }
  stream->front.insert(event.front.begin(), event.front.end());
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream to, CUevent handle,
                                   unsigned int flags) {
  Call call("cuStreamWaitEvent", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<Event> event = call.object<Event>(handle);
  std::shared_ptr<Stream> stream = event ? call.stream(to) : nullptr;
  if (!stream)
    return call.result;
  if (flags & ~CU_EVENT_WAIT_EXTERNAL)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "unknown flags");
  if (flags && !stream->capture)
    return call.refuse(CUDA_ERROR_ILLEGAL_STATE, "external, and no capture");
  if (flags)
    return external(call, *stream, event, false);
  if (event->capture || stream->capture)
    return joinCapture(call, stream, *event);
  if (!event->recorded || event->recorded->done)
    return CUDA_SUCCESS;
  OpRef op = call.scheduler.create(
      makeWork("event wait", CU_GRAPH_NODE_TYPE_WAIT_EVENT, stream->context),
      stream->lane);
  orderAfterStream(op, *stream);
  call.scheduler.order(op, event->recorded);
  stream->last = op;
  call.scheduler.submit(op);
  return CUDA_SUCCESS;
}

/// The event that the host may ask or wait for, or null.
static std::shared_ptr<Event> askable(Call &call, CUevent handle) {
  std::shared_ptr<Event> event = call.object<Event>(handle);
  if (!event)
    return nullptr;
  if (event->capture) {
    if (!event->capture->ended)
      invalidate(*event->capture);
    call.refuse(CUDA_ERROR_CAPTURED_EVENT, "it was recorded in a capture");
    return nullptr;
  }
  call.result = refuseUnsafeCall(call.name);
  return call.result ? nullptr : event;
}

CUresult CUDAAPI cuEventQuery(CUevent handle) {
  Call call("cuEventQuery", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Event> event = askable(call, handle);
  if (!event || !event->recorded || event->recorded->done)
    return call.result;
  call.scheduler.nudge();
  return CUDA_ERROR_NOT_READY;
}

CUresult CUDAAPI cuEventSynchronize(CUevent handle) {
  Call call("cuEventSynchronize", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Event> event = askable(call, handle);
  if (event)
    call.scheduler.wait(call.lock, OpRef(event->recorded));
  return call.result;
}

static CUresult elapsed(float *milliseconds, CUevent start, CUevent end) {
  Call call("cuEventElapsedTime", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Event> from = call.object<Event>(start);
  std::shared_ptr<Event> to = from ? call.object<Event>(end) : nullptr;
  if (!to)
    return call.result;
  if (!milliseconds)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the time");
  if (from->capture || to->capture)
    return call.refuse(CUDA_ERROR_CAPTURED_EVENT, "recorded in a capture");
  if (!from->timing || !to->timing || !from->recorded || !to->recorded)
    return call.refuse(CUDA_ERROR_INVALID_HANDLE,
                       "an event without time, or never recorded");
  if (from->context != to->context)
    return call.refuse(CUDA_ERROR_INVALID_HANDLE, "events of two devices");
  if (!from->recorded->done || !to->recorded->done)
    return CUDA_ERROR_NOT_READY;
  std::chrono::duration<float, std::milli> time =
      to->recorded->finished - from->recorded->finished;
  *milliseconds = time.count();
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuEventElapsedTime(float *time, CUevent start, CUevent end) {
  return elapsed(time, start, end);
}

#undef cuEventElapsedTime
extern "C" CUresult CUDAAPI cuEventElapsedTime(float *time, CUevent start,
                                               CUevent end) {
  return elapsed(time, start, end);
}
