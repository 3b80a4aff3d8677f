//===- Objects.h - Contexts, streams, events, graphs, functions -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_CORE_OBJECTS_H
#define LLMC_TEST_RUNTIME_STANDIN_CORE_OBJECTS_H

#include "Core/Handles.h"
#include "Core/Scheduler.h"
#include "llmc/Runtime/Plan/Format/LaneAbi.h"

#include <cuda.h>

#include <set>
#include <thread>

namespace llmc::standin {

struct Stream;
struct Capture;
struct Graph;
using CaptureRef = std::shared_ptr<Capture>;

struct Context : Object {
  static constexpr Kind kKind = Kind::Context;
  int device = 0;
  unsigned flags = 0;
  unsigned retained = 0;
  size_t unfinished = 0; // ops
  std::set<const Context *> peers;
  std::shared_ptr<Stream> legacy; // the null stream
  std::vector<std::pair<std::thread::id, std::shared_ptr<Stream>>> perThread;
  std::vector<std::weak_ptr<Stream>> streams; // all others
  std::vector<OpRef> orphans; // last ops of blocking streams that are destroyed
};

/// A node of a graph; its index is its place in Graph::nodes.
struct Node : Object {
  static constexpr Kind kKind = Kind::GraphNode;
  WorkRef work;
  std::vector<size_t> dependencies;
};

struct Graph : Object {
  static constexpr Kind kKind = Kind::Graph;
  const Context *owner() const override { return context; }
  Context *context = nullptr;
  std::vector<std::shared_ptr<Node>> nodes;
};

struct GraphExec : Object {
  static constexpr Kind kKind = Kind::GraphExec;
  const Context *owner() const override { return context; }
  struct Step {
    WorkRef work;
    std::vector<size_t> dependencies;
  };
  Context *context = nullptr;
  std::vector<Step> steps;
  OpRef lastLaunch; // two launches of one graph never overlap
};

/// The nodes after which a stream, or an event, stands in a capture.
using Front = std::set<size_t>;

struct Capture {
  uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  Stream *origin = nullptr;
  std::shared_ptr<Graph> graph;
  bool invalid = false, ended = false;
  std::vector<std::shared_ptr<Stream>> streams;
};

struct Stream : Object, std::enable_shared_from_this<Stream> {
  static constexpr Kind kKind = Kind::Stream;
  const Context *owner() const override { return context; }
  Context *context = nullptr;
  bool blocking = true; // waits for the legacy stream, which waits for it
  bool isLegacy = false;
  int priority = 0;
  uint64_t lane = 0;
  OpRef last;
  CaptureRef capture;
  Front front;
  std::vector<CUgraphNode> frontHandles; // that cuStreamGetCaptureInfo gave out
};

struct Event : Object {
  static constexpr Kind kKind = Kind::Event;
  const Context *owner() const override { return context; }
  Context *context = nullptr;
  bool timing = true;
  OpRef recorded;     // null: never, or in a capture
  CaptureRef capture; // in which it was recorded last
  Front front;
};

struct Module : Object {
  static constexpr Kind kKind = Kind::Module;
  const Context *owner() const override { return context; }
  ~Module() override;
  Context *context = nullptr;
  void *library = nullptr;
  int file = -1;
  unsigned pending = 0; // launches that are submitted and not done
  std::vector<CUfunction> functions;
};

struct Function : Object {
  static constexpr Kind kKind = Kind::Function;
  const Context *owner() const override { return module->context; }
  std::shared_ptr<Module> module;
  std::string name;
  LlmcLaneFn entry = nullptr;
  int parameters = -1; // as many as the image says; -1: it says nothing
  unsigned maxDynamicShared = 48 << 10;
};

/// What `stream` does next: an op, or a node of the graph that it captures, in
/// which case there is no op. `checkUse` has succeeded.
OpRef enqueue(Stream &stream, WorkRef work);
/// As `enqueue`, of work that comes after what all `streams` do, and before
/// what they do next. All of them capture the same, or nothing.
OpRef enqueueJoined(const std::vector<Stream *> &streams, WorkRef work);
/// Orders `op`, not submitted, after what a new op of `stream` comes after.
void orderAfterStream(const OpRef &op, Stream &stream);
/// Whether work may be put into the stream at all.
CUresult checkUse(Stream &stream);

/// Whether a graph, executable or not, has work that keeps `object`.
bool isKeptByGraph(const void *object);

/// The captures that are going on in the process.
std::vector<CaptureRef> &captures();
void invalidate(Capture &capture);
/// The documented error where a call that captures cannot see is made while
/// there are captures that forbid it: these are invalid then.
CUresult refuseUnsafeCall(const char *call);
CUstreamCaptureMode &threadCaptureMode();

/// The primary context of a device, whether it is retained or not.
Context &primaryContext(int device);
/// The contexts that are current to this thread, the last one on top.
std::vector<Context *> &contextStack();

/// The stream of a handle: 0 and the named ones are those of `context`. Null
/// where it is none.
std::shared_ptr<Stream> findStream(CUstream handle, Context &context);

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_CORE_OBJECTS_H
