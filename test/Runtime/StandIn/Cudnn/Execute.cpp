//===- Execute.cpp - A graph as work of a stream --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cudnn/OpGraph.h"

#include <algorithm>

using namespace llmc::standin;

namespace {
/// A tensor of a graph that lies in memory.
struct Reached {
  const char *name;
  TensorFields tensor;
  bool isWritten;
};

/// A graph that is ready to run, any number of times.
struct Task {
  bool isConvolution = true;
  Convolution convolution;
  OpGraph graph;
  Engine engine;
  std::vector<char *> memory; ///< Of all tensors; null where they lie nowhere.
  char *workspace = nullptr;
  std::vector<std::array<char, 8>> scalars; ///< As they were when called.

  explicit Task(const Descriptor &plan)
      : isConvolution(!isGraphOfOps(*plan.graph)), engine(plan.engines.at(0)) {
    if (isConvolution)
      convolution = readConvolution(*plan.graph);
    else
      graph = readOpGraph(*plan.graph);
  }

  std::vector<Reached> tensors() const {
    std::vector<Reached> list;
    const char *const names[] = {"x", "w", "y"};
    for (int i = 0; isConvolution && i < 3; ++i)
      list.push_back(
          {names[i], convolution.tensors[i], i == convolution.written});
    for (size_t i = 0; i < graph.tensors.size(); ++i)
      list.push_back(
          {"a tensor", graph.tensors[i], graph.isWritten(static_cast<int>(i))});
    return list;
  }

  void run() const {
    // Nobody else may have it now.
    if (engine.workspaceBytes)
      std::memset(workspace, 0xa5, engine.workspaceBytes);
    if (isConvolution)
      convolve(convolution, engine, {memory[0], memory[1], memory[2]});
    else
      compute(graph, engine, memory);
  }
};

/// The memory of a call; ends the process where a GPU would fault.
class Reach {
public:
  explicit Reach(const Context &context) : context(context) {}

  char *find(const char *what, uint64_t address, uint64_t bytes) {
    Memory &memory = Memory::get();
    AllocationRef found = memory.find(address, bytes);
    if (!found)
      violation("cudnnBackendExecute: %s, %llu bytes at 0x%llx, is not part of "
                "one allocation of a device",
                what, static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(address));
    if (found->device != context.device && !context.peers.count(found->context))
      violation("cudnnBackendExecute on device %d gets memory of device %d, to "
                "which it has no peer access",
                context.device, found->device);
    uses.push_back(found);
    spans.push_back({address, bytes});
    return memory.translate(address);
  }

  const Context &context;
  std::vector<AllocationRef> uses;
  std::vector<std::pair<uint64_t, uint64_t>> spans; ///< Addresses and bytes.
};
} // namespace

/// What is written lies on nothing else.
static void checkApart(const std::vector<Reached> &tensors,
                       const std::vector<uint64_t> &addresses) {
  for (size_t i = 0; i < tensors.size(); ++i)
    for (size_t j = 0; j < tensors.size(); ++j)
      if (i != j && tensors[i].isWritten && addresses[i] && addresses[j] &&
          addresses[j] < addresses[i] + tensors[i].tensor.extent() &&
          addresses[i] < addresses[j] + tensors[j].tensor.extent())
        violation("cudnnBackendExecute: %s lies on %s", tensors[i].name,
                  tensors[j].name);
}

/// The tensors of the pack, and the scalars, which are copied.
static cudnnStatus_t reachTensors(Reach &reach, Task &task,
                                  const Descriptor &pack) {
  auto numbers = pack.list<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  auto pointers = pack.list<uint64_t>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  std::vector<Reached> tensors = task.tensors();
  std::vector<uint64_t> addresses(tensors.size());
  task.memory.resize(tensors.size());
  task.scalars.resize(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto &[name, tensor, isWritten] = tensors[i];
    if (tensor.isVirtual)
      continue;
    auto it = std::find(numbers.begin(), numbers.end(), tensor.number);
    if (it == numbers.end())
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "a tensor without a pointer");
    uint64_t address = pointers[it - numbers.begin()];
    if (tensor.isScalar) {
      std::memcpy(task.scalars[i].data(),
                  reinterpret_cast<const void *>(address),
                  tensor.elementBytes());
      task.memory[i] = task.scalars[i].data();
      continue;
    }
    addresses[i] = address;
    if (address % tensor.alignment)
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER,
                         "a tensor that is not aligned as it says");
    task.memory[i] = reach.find(name, address, tensor.extent());
  }
  checkApart(tensors, addresses);
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t reachWorkspace(Reach &reach, Task &task,
                                    const Descriptor &pack) {
  if (!task.engine.workspaceBytes)
    return CUDNN_STATUS_SUCCESS;
  auto address = pack.get<uint64_t>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, 0);
  if (!address)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no workspace");
  auto bytes = static_cast<uint64_t>(task.engine.workspaceBytes);
  for (auto [begin, size] : reach.spans)
    if (begin < address + bytes && address < begin + size)
      violation("cudnnBackendExecute: the workspace lies on a tensor");
  task.workspace = reach.find("the workspace", address, bytes);
  return CUDNN_STATUS_SUCCESS;
}

static void submit(Stream &stream, const std::shared_ptr<Task> &task,
                   std::vector<AllocationRef> uses) {
  auto work = std::make_shared<Work>();
  work->name =
      format("%s by engine %d", task->isConvolution ? "convolution" : "graph",
             static_cast<int>(task->engine.number));
  work->type = CU_GRAPH_NODE_TYPE_KERNEL;
  work->context = stream.context;
  work->uses = std::move(uses);
  work->run = [task] { task->run(); };
  enqueue(stream, std::move(work));
}

cudnnStatus_t CUDNNWINAPI cudnnBackendExecute(cudnnHandle_t handle,
                                              cudnnBackendDescriptor_t plan,
                                              cudnnBackendDescriptor_t pack) {
  Lock lock(Scheduler::get().mutex);
  if (isHostFunctionThread())
    return refuseCudnn(CUDNN_STATUS_EXECUTION_FAILED,
                       "called by a host function");
  auto library = Handles::get().find<ConvolverHandle>(handle);
  auto found = Handles::get().find<Descriptor>(plan);
  auto given = Handles::get().find<Descriptor>(pack);
  if (!library || !found || !given)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "no handle, plan or pack");
  if (found->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
      given->type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
                       "no plan, or no pack");
  if (!found->finalized || !given->finalized)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                       "a plan or a pack that is not finalized");
  if (contextStack().empty() || contextStack().back() != library->context)
    return refuseCudnn(CUDNN_STATUS_EXECUTION_FAILED,
                       "another context is current than the handle's");
  auto stream = findStream(library->stream, *library->context);
  if (!stream || checkUse(*stream))
    return refuseCudnn(CUDNN_STATUS_EXECUTION_FAILED,
                       "the stream is gone, or its capture is invalid");
  auto task = std::make_shared<Task>(*found);
  Reach reach(*stream->context);
  if (cudnnStatus_t status = reachTensors(reach, *task, *given))
    return status;
  if (cudnnStatus_t status = reachWorkspace(reach, *task, *given))
    return status;
  submit(*stream, task, std::move(reach.uses));
  return CUDNN_STATUS_SUCCESS;
}
