//===- Graphs.cpp - Graphs are run ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch makes an op of each node. The roots come after what the stream did,
// and after the last launch of the same graph; the stream goes on after all.
//
//===----------------------------------------------------------------------===//

#include "Driver/Call.h"

using namespace llmc::standin;

CUresult CUDAAPI cuGraphDestroy(CUgraph handle) {
  Call call("cuGraphDestroy", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Graph> graph = call.object<Graph>(handle);
  if (!graph)
    return call.result;
  for (const CaptureRef &capture : captures())
    if (capture->graph == graph)
      violation("cuGraphDestroy of a graph that is being captured");
  for (const std::shared_ptr<Node> &node : graph->nodes)
    Handles::get().remove(*node);
  Handles::get().remove(*graph);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes,
                                 size_t *count) {
  Call call("cuGraphGetNodes", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Graph> graph = call.object<Graph>(handle);
  if (!graph)
    return call.result;
  if (!count)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the count");
  if (!nodes) {
    *count = graph->nodes.size();
    return CUDA_SUCCESS;
  }
  for (size_t i = 0; i < *count; ++i)
    nodes[i] = i < graph->nodes.size()
                   ? static_cast<CUgraphNode>(graph->nodes[i]->handle)
                   : nullptr;
  *count = std::min(*count, graph->nodes.size());
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type) {
  Call call("cuGraphNodeGetType", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Node> node = call.object<Node>(handle);
  if (!node)
    return call.result;
  if (!type)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the type");
  *type = static_cast<CUgraphNodeType>(node->work->type);
  return CUDA_SUCCESS;
}

static CUresult instantiate(Call &call, CUgraphExec *handle, CUgraph from) {
  std::shared_ptr<Graph> graph = call.object<Graph>(from);
  if (!graph)
    return call.result;
  if (!handle)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the graph");
  for (const CaptureRef &capture : captures())
    if (capture->graph == graph)
      return call.refuse(CUDA_ERROR_ILLEGAL_STATE, "it is being captured");
  auto exec = std::make_shared<GraphExec>();
  exec->context = graph->context;
  for (const std::shared_ptr<Node> &node : graph->nodes)
    exec->steps.push_back({node->work, node->dependencies});
  *handle = static_cast<CUgraphExec>(Handles::get().add(exec));
  return CUDA_SUCCESS;
}

static constexpr cuuint64_t kKnownFlags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
    CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                             unsigned long long flags) {
  Call call("cuGraphInstantiate", kInitialised | kContext);
  if (call.result)
    return call.result;
  if (flags & ~kKnownFlags)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "flags");
  return instantiate(call, exec, graph);
}

CUresult CUDAAPI
cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                             CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
  Call call("cuGraphInstantiateWithParams", kInitialised | kContext);
  if (call.result)
    return call.result;
  if (!parameters)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no parameters");
  if (parameters->flags & ~(kKnownFlags | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD))
    call.refuse(CUDA_ERROR_INVALID_VALUE, "flags");
  else
    instantiate(call, exec, graph);
  parameters->hErrNode_out = nullptr;
  parameters->result_out = call.result ? CUDA_GRAPH_INSTANTIATE_ERROR
                                       : CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return call.result;
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec handle) {
  Call call("cuGraphExecDestroy", kInitialised);
  if (call.result)
    return call.result;
  // A launch that is not done goes on: its ops hold all that they need.
  if (std::shared_ptr<GraphExec> exec = call.object<GraphExec>(handle))
    Handles::get().remove(*exec);
  return call.result;
}

CUresult CUDAAPI cuGraphUpload(CUgraphExec handle, CUstream to) {
  Call call("cuGraphUpload", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<GraphExec> exec = call.object<GraphExec>(handle);
  std::shared_ptr<Stream> stream = exec ? call.stream(to) : nullptr;
  if (stream && stream->capture)
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "it captures");
  return call.result;
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec handle, CUstream to) {
  Call call("cuGraphLaunch", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<GraphExec> exec = call.object<GraphExec>(handle);
  std::shared_ptr<Stream> stream = exec ? call.stream(to) : nullptr;
  if (!stream)
    return call.result;
  if (stream->capture) {
    invalidate(*stream->capture);
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                       "the stand-in has no graphs in graphs");
  }
  Scheduler &scheduler = call.scheduler;
  OpRef begin = scheduler.create(
      makeWork("begin of a graph", CU_GRAPH_NODE_TYPE_EMPTY, stream->context),
      stream->lane);
  orderAfterStream(begin, *stream);
  scheduler.order(begin, exec->lastLaunch);
  OpRef end = scheduler.create(
      makeWork("end of a graph", CU_GRAPH_NODE_TYPE_EMPTY, stream->context),
      stream->lane);
  scheduler.order(end, begin);
  std::vector<OpRef> ops;
  for (size_t i = 0; i < exec->steps.size(); ++i) {
    OpRef op = scheduler.create(exec->steps[i].work, stream->lane + 1 + i);
    scheduler.order(op, begin);
    for (size_t dependency : exec->steps[i].dependencies)
      scheduler.order(op, ops[dependency]);
    scheduler.order(end, op);
    scheduler.submit(op);
    ops.push_back(std::move(op));
  }
  scheduler.submit(end);
  scheduler.submit(begin);
  stream->last = exec->lastLaunch = end;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec handle, CUgraph from,
                                   CUgraphExecUpdateResultInfo *info) {
  Call call("cuGraphExecUpdate", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<GraphExec> exec = call.object<GraphExec>(handle);
  std::shared_ptr<Graph> graph = exec ? call.object<Graph>(from) : nullptr;
  if (!graph)
    return call.result;
  if (!info)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the result");
  *info = {};
  if (graph->nodes.size() != exec->steps.size())
    info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  for (size_t i = 0; i < exec->steps.size() && !info->result; ++i) {
    const Node &node = *graph->nodes[i];
    if (node.dependencies != exec->steps[i].dependencies)
      info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    else if (node.work->type != exec->steps[i].work->type)
      info->result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    if (info->result)
      info->errorNode = static_cast<CUgraphNode>(node.handle);
  }
  if (info->result)
    return call.refuse(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                       "the graphs are not alike");
  for (size_t i = 0; i < exec->steps.size(); ++i)
    exec->steps[i].work = graph->nodes[i]->work;
  return CUDA_SUCCESS;
}
