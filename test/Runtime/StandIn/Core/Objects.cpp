//===- Objects.cpp - Contexts and streams, and what they do next ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/Objects.h"

#include <algorithm>
#include <dlfcn.h>
#include <unistd.h>

using namespace llmc::standin;

Module::~Module() {
  if (library)
    dlclose(library);
  if (file >= 0)
    close(file);
}

Context &llmc::standin::primaryContext(int device) {
  static auto *contexts = new std::vector<std::shared_ptr<Context>>;
  while (contexts->size() <= static_cast<size_t>(device)) {
    auto context = std::make_shared<Context>();
    context->device = contexts->size();
    Handles::get().add(context);
    contexts->push_back(context);
  }
  return *(*contexts)[device];
}

std::vector<Context *> &llmc::standin::contextStack() {
  static thread_local std::vector<Context *> stack;
  return stack;
}

static std::shared_ptr<Stream> perThreadStream(Context &context) {
  for (auto &[thread, stream] : context.perThread)
    if (thread == std::this_thread::get_id())
      return stream;
  auto stream = std::make_shared<Stream>();
  stream->context = &context;
  stream->lane = reinterpret_cast<uint64_t>(stream.get());
  context.streams.push_back(stream);
  context.perThread.emplace_back(std::this_thread::get_id(), stream);
  return stream;
}

std::shared_ptr<Stream> llmc::standin::findStream(CUstream handle,
                                                  Context &context) {
  if (!handle || handle == CU_STREAM_LEGACY)
    return context.legacy;
  if (handle == CU_STREAM_PER_THREAD)
    return perThreadStream(context);
  return Handles::get().find<Stream>(handle);
}

void llmc::standin::orderAfterStream(const OpRef &op, Stream &stream) {
  Scheduler &scheduler = Scheduler::get();
  scheduler.order(op, stream.last);
  if (!stream.blocking)
    return;
  if (!stream.isLegacy) {
    scheduler.order(op, stream.context->legacy->last);
    return;
  }
  for (const OpRef &last : stream.context->orphans)
    scheduler.order(op, last);
  stream.context->orphans.clear(); // the legacy stream stands for them
  auto &streams = stream.context->streams;
  streams.erase(std::remove_if(streams.begin(), streams.end(),
                               [](const auto &weak) { return weak.expired(); }),
                streams.end());
  for (const std::weak_ptr<Stream> &weak : streams)
    if (std::shared_ptr<Stream> other = weak.lock(); other && other->blocking)
      scheduler.order(op, other->last);
}

OpRef llmc::standin::enqueue(Stream &stream, WorkRef work) {
  return enqueueJoined({&stream}, std::move(work));
}

static void addNode(const std::vector<Stream *> &streams, WorkRef work) {
  Graph &graph = *streams[0]->capture->graph;
  auto node = std::make_shared<Node>();
  Front front;
  for (Stream *stream : streams)
    front.insert(stream->front.begin(), stream->front.end());
  node->work = std::move(work);
  node->dependencies.assign(front.begin(), front.end());
  Handles::get().add(node);
  for (Stream *stream : streams)
    stream->front = {graph.nodes.size()};
  graph.nodes.push_back(std::move(node));
}

OpRef llmc::standin::enqueueJoined(const std::vector<Stream *> &streams,
                                   WorkRef work) {
  if (streams[0]->capture) {
    addNode(streams, std::move(work));
    return nullptr;
  }
  Scheduler &scheduler = Scheduler::get();
  OpRef op = scheduler.create(std::move(work), streams[0]->lane);
  for (Stream *stream : streams)
    orderAfterStream(op, *stream);
  for (Stream *stream : streams)
    stream->last = op;
  scheduler.submit(op);
  return op;
}

bool llmc::standin::isKeptByGraph(const void *object) {
  auto keeps = [object](const WorkRef &work) { return work->keeps == object; };
  return Handles::get().any<Graph>([&](const Graph &graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [&](const auto &node) { return keeps(node->work); });
  }) || Handles::get().any<GraphExec>([&](const GraphExec &exec) {
    return std::any_of(exec.steps.begin(), exec.steps.end(),
                       [&](const auto &step) { return keeps(step.work); });
  });
}

std::vector<CaptureRef> &llmc::standin::captures() {
  static auto *all = new std::vector<CaptureRef>;
  return *all;
}

void llmc::standin::invalidate(Capture &capture) { capture.invalid = true; }

CUstreamCaptureMode &llmc::standin::threadCaptureMode() {
  static thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

CUresult llmc::standin::checkUse(Stream &stream) {
  if (stream.capture && stream.capture->invalid) {
    explain("the stream's capture is invalid");
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  if (!stream.isLegacy)
    return CUDA_SUCCESS;
  CUresult result = CUDA_SUCCESS;
  for (const CaptureRef &capture : captures())
    for (const std::shared_ptr<Stream> &other : capture->streams)
      if (other->context == stream.context && other->blocking) {
        explain("the null stream is used while a blocking stream captures");
        invalidate(*capture);
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
      }
  return result;
}

CUresult llmc::standin::refuseUnsafeCall(const char *call) {
  CUstreamCaptureMode mode = threadCaptureMode();
  if (mode == CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_SUCCESS;
  CUresult result = CUDA_SUCCESS;
  for (const CaptureRef &capture : captures()) {
    bool here = capture->thread == std::this_thread::get_id();
    bool forbids = here ? capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                        : mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                              capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!forbids)
      continue;
    explain("%s is called while a stream captures", call);
    invalidate(*capture);
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}
