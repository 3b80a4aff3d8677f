//===- Execute.cpp - A convolution as work of a stream --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cudnn/Convolution.h"

#include <algorithm>

using namespace llmc::standin;

namespace {
/// A convolution that is ready to run, any number of times.
struct Task {
  Convolution convolution;
  Engine engine;
  std::array<char *, 3> memory{};
  char *workspace = nullptr;

  void run() const {
    // Nobody else may have it now.
    if (engine.workspaceBytes)
      std::memset(workspace, 0xa5, engine.workspaceBytes);
    convolve(convolution, engine, memory);
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
    return memory.translate(address);
  }

  const Context &context;
  std::vector<AllocationRef> uses;
};
} // namespace

/// x, w and y of the pack.
static cudnnStatus_t reachTensors(Reach &reach, Task &task,
                                  const Descriptor &pack) {
  auto numbers = pack.list<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  auto pointers = pack.list<uint64_t>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  const char *const names[] = {"x", "w", "y"};
  std::array<uint64_t, 3> addresses{};
  const auto &tensors = task.convolution.tensors;
  for (int i = 0; i < 3; ++i) {
    auto it = std::find(numbers.begin(), numbers.end(), tensors[i].number);
    if (it == numbers.end())
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "a tensor without a pointer");
    addresses[i] = pointers[it - numbers.begin()];
    if (addresses[i] % tensors[i].alignment)
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER,
                         "a tensor that is not aligned as it says");
    task.memory[i] = reach.find(names[i], addresses[i], tensors[i].extent());
  }
  int written = task.convolution.written;
  for (int i = 0; i < 3; ++i)
    if (i != written &&
        addresses[i] < addresses[written] + tensors[written].extent() &&
        addresses[written] < addresses[i] + tensors[i].extent())
      violation("cudnnBackendExecute: %s lies on %s", names[written], names[i]);
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t reachWorkspace(Reach &reach, Task &task,
                                    const Descriptor &pack) {
  if (!task.engine.workspaceBytes)
    return CUDNN_STATUS_SUCCESS;
  auto address = pack.get<uint64_t>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, 0);
  if (!address)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no workspace");
  task.workspace =
      reach.find("the workspace", address, task.engine.workspaceBytes);
  return CUDNN_STATUS_SUCCESS;
}

static void submit(Stream &stream, const std::shared_ptr<Task> &task,
                   std::vector<AllocationRef> uses) {
  auto work = std::make_shared<Work>();
  work->name =
      format("convolution by engine %d", static_cast<int>(task->engine.number));
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
  auto task = std::make_shared<Task>();
  task->convolution = readConvolution(*found->graph);
  task->engine = found->engines.at(0);
  Reach reach(*stream->context);
  if (cudnnStatus_t status = reachTensors(reach, *task, *given))
    return status;
  if (cudnnStatus_t status = reachWorkspace(reach, *task, *given))
    return status;
  submit(*stream, task, std::move(reach.uses));
  return CUDNN_STATUS_SUCCESS;
}
