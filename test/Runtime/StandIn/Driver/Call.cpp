//===- Call.cpp - What all functions of the driver begin with -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Call.h"

#include <unistd.h>

using namespace llmc::standin;

/// The process that called cuInit: one that it forks has no driver.
static pid_t initialised = 0;

bool llmc::standin::isInitialised() { return initialised == getpid(); }
void llmc::standin::setInitialised() { initialised = getpid(); }

Call::Call(const char *name, unsigned rules)
    : lock(Scheduler::get().mutex), name(name) {
  if (isHostFunctionThread()) {
    refuse(CUDA_ERROR_NOT_PERMITTED, "called by a host function of a stream");
    return;
  }
  if (!contextStack().empty())
    context = contextStack().back();
  if (rules && !isInitialised())
    refuse(CUDA_ERROR_NOT_INITIALIZED, "called before cuInit");
  else if ((rules & kContext) && !context)
    refuse(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
  else if ((rules & kContext) && !context->retained)
    refuse(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context is released");
  else if (rules & kUnsafe)
    result = refuseUnsafeCall(name);
}

CUresult Call::refuse(CUresult error, const char *why) {
  explain("%s: %d: %s", name, static_cast<int>(error), why);
  return result = error;
}

std::shared_ptr<Stream> Call::stream(CUstream handle) {
  std::shared_ptr<Stream> stream = findStream(handle, *context);
  if (!stream) {
    refuse(CUDA_ERROR_INVALID_HANDLE, "no stream");
    return nullptr;
  }
  result = checkUse(*stream);
  return result ? nullptr : stream;
}

WorkRef llmc::standin::makeWork(std::string name, CUgraphNodeType type,
                                Context *context, std::function<void()> run,
                                std::vector<AllocationRef> uses) {
  auto work = std::make_shared<Work>();
  work->name = std::move(name);
  work->type = type;
  work->context = context;
  work->run = std::move(run);
  work->uses = std::move(uses);
  return work;
}
