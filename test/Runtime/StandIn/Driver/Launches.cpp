//===- Launches.cpp - Kernels are launched --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of the parameters are copied by the call, as a driver does, which
// knows from the image how many there are. An image that exports a number
// `<kernel>_parameters` says so here; of another one as many are copied as can
// be read, and what they point to is not known.
//
//===----------------------------------------------------------------------===//

#include "Core/Grid.h"
#include "Driver/Call.h"

#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

using namespace llmc::standin;

static constexpr size_t kMostParameters = 512;

/// As many of the 8 bytes that `addresses` point to as can be read.
static std::vector<uint64_t> readWhatIsThere(void **addresses) {
  void *pointers[kMostParameters];
  std::vector<uint64_t> values(kMostParameters);
  size_t left = 4096 - reinterpret_cast<uint64_t>(addresses) % 4096;
  // The page of the array is there; the next one may be.
  iovec into{pointers, sizeof pointers};
  iovec from[2] = {{addresses, std::min(left, sizeof pointers)},
                   {reinterpret_cast<char *>(addresses) + left,
                    sizeof pointers - std::min(left, sizeof pointers)}};
  ssize_t got = process_vm_readv(getpid(), &into, 1, from, 2, 0);
  size_t count = got > 0 ? got / sizeof(void *) : 0;
  iovec parts[kMostParameters];
  for (size_t i = 0; i < count; ++i)
    parts[i] = {pointers[i], sizeof(uint64_t)};
  iovec target{values.data(), count * sizeof(uint64_t)};
  got = process_vm_readv(getpid(), &target, 1, parts, count, 0);
  if (got < 8)
    violation("the parameters of a launch cannot be read");
  values.resize(got / sizeof(uint64_t));
  return values;
}

/// The parameters that the call gives, and whether their number is known.
static CUresult readParameters(Call &call, const Function &function,
                               void **parameters, void **extra,
                               std::vector<uint64_t> &values, bool &known) {
  known = true;
  if (parameters && extra)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "parameters in two ways");
  if (extra) {
    const void *buffer = nullptr;
    size_t bytes = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2)
      if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
        buffer = extra[1];
      else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
        bytes = *static_cast<size_t *>(extra[1]);
    values.resize(bytes / 8);
    if (bytes)
      std::memcpy(values.data(), buffer, values.size() * 8);
  } else if (parameters && function.parameters < 0) {
    values = readWhatIsThere(parameters);
    known = false;
    return CUDA_SUCCESS;
  } else if (parameters) {
    for (int i = 0; i < function.parameters; ++i) {
      values.emplace_back();
      std::memcpy(&values.back(), parameters[i], 8);
    }
  }
  if (function.parameters >= 0 && values.size() != size_t(function.parameters))
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "the number of parameters");
  return CUDA_SUCCESS;
}

static CUresult checkShape(Call &call, const CUlaunchConfig &config,
                           const Function &function) {
  if (!config.gridDimX || !config.gridDimY || !config.gridDimZ ||
      !config.blockDimX || !config.blockDimY || !config.blockDimZ ||
      config.gridDimX > 2147483647u || config.gridDimY > 65535 ||
      config.gridDimZ > 65535 ||
      uint64_t(config.blockDimX) * config.blockDimY * config.blockDimZ > 1024)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "a grid or a block is empty, "
                                                 "or too great");
  if (config.gridDimY * config.gridDimZ * config.blockDimY * config.blockDimZ !=
      1)
    return call.refuse(CUDA_ERROR_NOT_SUPPORTED,
                       "the stand-in's kernels have one dimension");
  if (config.sharedMemBytes > function.maxDynamicShared)
    return call.refuse(CUDA_ERROR_INVALID_VALUE,
                       "more dynamic shared memory than the function may use");
  return CUDA_SUCCESS;
}

static CUresult checkAttributes(Call &call, const CUlaunchConfig &config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttributeValue &value = config.attrs[i].value;
    switch (config.attrs[i].id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      continue; // what it allows need not happen
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      if (value.clusterDim.x * value.clusterDim.y * value.clusterDim.z == 1)
        continue;
      break;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      if (!value.cooperative)
        continue;
      break;
    default:
      break;
    }
    return call.refuse(CUDA_ERROR_NOT_SUPPORTED,
                       "a launch attribute that the stand-in does not know");
  }
  return CUDA_SUCCESS;
}

/// Device addresses become those of the view; finds what memory they are.
static void translateParameters(const Context &context, Launch &launch,
                                bool known, std::vector<AllocationRef> &uses) {
  Memory &memory = Memory::get();
  for (uint64_t &value : launch.parameters) {
    int device = memory.deviceOf(value);
    if (device < 0)
      continue;
    AllocationRef allocation = memory.find(value);
    value = reinterpret_cast<uint64_t>(memory.translate(value));
    if (!known || !allocation)
      continue;
    if (device != context.device && !context.peers.count(allocation->context))
      violation("kernel '%s' on device %d gets memory of device %d, to which "
                "it has no peer access",
                launch.kernel.c_str(), context.device, device);
    uses.push_back(std::move(allocation));
  }
}

static void submit(Stream &stream, const Function &function,
                   std::shared_ptr<Launch> launch, bool known) {
  auto work = std::make_shared<Work>();
  translateParameters(*stream.context, *launch, known, work->uses);
  work->name = "kernel " + function.name;
  work->type = CU_GRAPH_NODE_TYPE_KERNEL;
  work->context = stream.context;
  std::shared_ptr<Module> module = function.module;
  work->submitted = [module](const OpRef &op) {
    ++module->pending;
    op->afterwards = [module] { --module->pending; };
  };
  work->run = [launch, module] { runGrid(*launch); };
  enqueue(stream, std::move(work));
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *config,
                                  CUfunction handle, void **parameters,
                                  void **extra) {
  Call call("cuLaunchKernel", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<Function> function = call.object<Function>(handle);
  if (!function)
    return call.result;
  if (!config)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no configuration");
  std::shared_ptr<Stream> stream = call.stream(config->hStream);
  if (!stream)
    return call.result;
  Context &context = *function->module->context;
  if (&context != stream->context || &context != call.context)
    return call.refuse(CUDA_ERROR_INVALID_HANDLE, "function, stream and "
                                                  "current context differ");
  auto launch = std::make_shared<Launch>();
  bool known = true;
  if (checkShape(call, *config, *function) || checkAttributes(call, *config) ||
      readParameters(call, *function, parameters, extra, launch->parameters,
                     known))
    return call.result;
  launch->kernel = function->name;
  launch->entry = function->entry;
  launch->blocks = config->gridDimX;
  launch->threads = config->blockDimX;
  launch->sharedBytes = config->sharedMemBytes;
  submit(*stream, *function, std::move(launch), known);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned int gridX,
                                unsigned int gridY, unsigned int gridZ,
                                unsigned int blockX, unsigned int blockY,
                                unsigned int blockZ, unsigned int sharedBytes,
                                CUstream stream, void **parameters,
                                void **extra) {
  CUlaunchConfig config = {gridX,  gridY,       gridZ,  blockX,  blockY,
                           blockZ, sharedBytes, stream, nullptr, 0};
  return cuLaunchKernelEx(&config, function, parameters, extra);
}
