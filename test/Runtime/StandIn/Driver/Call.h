//===- Call.h - What all functions of the driver begin with ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions are named as cuda.h names them, whose macros add the suffix of
// the version. A function that is not here is not exported either, so that who
// asks for it by name gets null.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_DRIVER_CALL_H
#define LLMC_TEST_RUNTIME_STANDIN_DRIVER_CALL_H

#include "Core/Objects.h"

namespace llmc::standin {

enum Rules : unsigned {
  kInitialised = 1, // after cuInit
  kContext = 2,     // with a current context
  kUnsafe = 4,      // captures may forbid it
};

/// Holds the lock; `result` is not CUDA_SUCCESS where the call is over.
class Call {
public:
  Call(const char *name, unsigned rules);

  CUresult result = CUDA_SUCCESS;
  Context *context = nullptr; // the current one
  Lock lock;

  /// Sets `result` and says why, where that is wanted.
  CUresult refuse(CUresult error, const char *why);
  /// The stream of a handle, which may be used; else null, and `result` is set.
  std::shared_ptr<Stream> stream(CUstream handle);

  template <typename T, typename H> std::shared_ptr<T> object(H handle) {
    std::shared_ptr<T> found = Handles::get().find<T>(handle);
    if (!found)
      refuse(CUDA_ERROR_INVALID_HANDLE, nameOf(T::kKind));
    return found;
  }

  Scheduler &scheduler = Scheduler::get();
  Memory &memory = Memory::get();
  const char *name;
};

bool isInitialised();
void setInitialised();

/// Work without a name's worth of trouble.
WorkRef makeWork(std::string name, CUgraphNodeType type, Context *context,
                 std::function<void()> run = nullptr,
                 std::vector<AllocationRef> uses = {});

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_DRIVER_CALL_H
