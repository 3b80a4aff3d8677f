//===- Captures.cpp - Streams become graphs -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Call.h"

#include <algorithm>

using namespace llmc::standin;

CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  Call call("cuThreadExchangeStreamCaptureMode", kInitialised);
  if (call.result)
    return call.result;
  if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no mode");
  std::swap(*mode, threadCaptureMode());
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamBeginCapture(CUstream handle,
                                      CUstreamCaptureMode mode) {
  Call call("cuStreamBeginCapture", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<Stream> stream = findStream(handle, *call.context);
  if (!stream)
    return call.refuse(CUDA_ERROR_INVALID_HANDLE, "no stream");
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no mode");
  if (stream->isLegacy)
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                       "the null stream cannot capture");
  if (stream->capture)
    return call.refuse(CUDA_ERROR_ILLEGAL_STATE, "it captures already");
  static uint64_t numCaptures = 0;
  auto capture = std::make_shared<Capture>();
  capture->id = ++numCaptures;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream.get();
  capture->graph = std::make_shared<Graph>();
  capture->graph->context = stream->context;
  Handles::get().add(capture->graph);
  capture->streams.push_back(stream);
  stream->capture = capture;
  stream->front.clear();
  captures().push_back(capture);
  return CUDA_SUCCESS;
}

/// Whether all nodes come before where the origin stands.
static bool isJoined(const Capture &capture) {
  const auto &nodes = capture.graph->nodes;
  std::vector<bool> before(nodes.size(), false);
  for (size_t node : capture.origin->front)
    before[node] = true;
  for (size_t i = nodes.size(); i-- > 0;)
    if (before[i])
      for (size_t dependency : nodes[i]->dependencies)
        before[dependency] = true;
  return std::find(before.begin(), before.end(), false) == before.end();
}

static void dropGraph(Graph &graph) {
  for (const std::shared_ptr<Node> &node : graph.nodes)
    Handles::get().remove(*node);
  Handles::get().remove(graph);
}

/// The streams are free again; events stay marked.
static void endCapture(const CaptureRef &capture) {
  capture->ended = true;
  for (const std::shared_ptr<Stream> &stream : capture->streams) {
    stream->capture.reset();
    stream->front.clear();
  }
  capture->streams.clear();
  captures().erase(std::find(captures().begin(), captures().end(), capture));
}

CUresult CUDAAPI cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  Call call("cuStreamEndCapture", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<Stream> stream = findStream(handle, *call.context);
  if (!stream)
    return call.refuse(CUDA_ERROR_INVALID_HANDLE, "no stream");
  if (!graph)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the graph");
  *graph = nullptr;
  CaptureRef capture = stream->capture;
  if (!capture)
    return call.refuse(CUDA_ERROR_ILLEGAL_STATE, "it does not capture");
  if (capture->origin != stream.get()) {
    invalidate(*capture);
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                       "the capture began in another stream");
  }
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
      capture->thread != std::this_thread::get_id())
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                       "the capture began in another thread");
  bool joined = isJoined(*capture);
  endCapture(capture);
  if (capture->invalid || !joined)
    dropGraph(*capture->graph);
  if (capture->invalid)
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "it is invalid");
  if (!joined)
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                       "the origin does not wait for all that was captured");
  *graph = static_cast<CUgraph>(capture->graph->handle);
  return CUDA_SUCCESS;
}

/// The stream to ask, or null.
static std::shared_ptr<Stream> askable(Call &call, CUstream handle) {
  std::shared_ptr<Stream> stream = findStream(handle, *call.context);
  if (!stream) {
    call.refuse(CUDA_ERROR_INVALID_HANDLE, "no stream");
    return nullptr;
  }
  if (!stream->isLegacy)
    return stream;
  for (const CaptureRef &capture : captures())
    for (const std::shared_ptr<Stream> &other : capture->streams)
      if (other->context == stream->context && other->blocking) {
        call.refuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                    "a blocking stream captures");
        return nullptr;
      }
  return stream;
}

static CUstreamCaptureStatus statusOf(const Stream &stream) {
  if (!stream.capture)
    return CU_STREAM_CAPTURE_STATUS_NONE;
  return stream.capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                 : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream handle,
                                     CUstreamCaptureStatus *status) {
  Call call("cuStreamIsCapturing", kInitialised | kContext);
  if (call.result)
    return call.result;
  if (!status)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the status");
  if (std::shared_ptr<Stream> stream = askable(call, handle))
    *status = statusOf(*stream);
  return call.result;
}

static CUresult captureInfo(CUstream handle, CUstreamCaptureStatus *status,
                            cuuint64_t *id, CUgraph *graph,
                            const CUgraphNode **dependencies,
                            size_t *numDependencies) {
  Call call("cuStreamGetCaptureInfo", kInitialised | kContext);
  if (call.result)
    return call.result;
  if (!status)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the status");
  std::shared_ptr<Stream> stream = askable(call, handle);
  if (!stream)
    return call.result;
  *status = statusOf(*stream);
  if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
    return CUDA_SUCCESS;
  Capture &capture = *stream->capture;
  stream->frontHandles.clear();
  for (size_t node : stream->front)
    stream->frontHandles.push_back(
        static_cast<CUgraphNode>(capture.graph->nodes[node]->handle));
  if (id)
    *id = capture.id;
  if (graph)
    *graph = static_cast<CUgraph>(capture.graph->handle);
  if (dependencies)
    *dependencies = stream->frontHandles.data();
  if (numDependencies)
    *numDependencies = stream->frontHandles.size();
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream stream,
                                        CUstreamCaptureStatus *status,
                                        cuuint64_t *id, CUgraph *graph,
                                        const CUgraphNode **dependencies,
                                        const CUgraphEdgeData **edges,
                                        size_t *numDependencies) {
  if (edges)
    *edges = nullptr; // all are full dependencies
  return captureInfo(stream, status, id, graph, dependencies, numDependencies);
}

extern "C" CUresult CUDAAPI cuStreamGetCaptureInfo_v2(
    CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
    CUgraph *graph, const CUgraphNode **dependencies, size_t *numDependencies) {
  return captureInfo(stream, status, id, graph, dependencies, numDependencies);
}
