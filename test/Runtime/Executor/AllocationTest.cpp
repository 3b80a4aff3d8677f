//===- AllocationTest.cpp - A step allocates nothing ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts every call of malloc in this process while steps run, by the object
// that made it: those of oneDNN and OpenMP are the library's and are printed,
// all others are ours, and there are none. (`operator new` of libstdc++ is
// replaced, so that its caller is seen and not itself.)
//
//===----------------------------------------------------------------------===//

#include "Walkthrough.h"
#include "WalkthroughPlan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <new>

extern "C" void *__libc_malloc(size_t);
extern "C" void *__libc_calloc(size_t, size_t);
extern "C" void *__libc_realloc(void *, size_t);
extern "C" void *__libc_memalign(size_t, size_t);

namespace {

std::atomic<bool> counting{false};
constexpr int mostCallers = 1 << 17;
std::atomic<int> numCallers{0};
void *callers[mostCallers];

void note(void *caller) {
  if (counting.load(std::memory_order_relaxed)) {
    int i = numCallers++;
    if (i < mostCallers) {
      callers[i] = caller;
    }
  }
}

} // namespace

extern "C" void *malloc(size_t size) {
  note(__builtin_return_address(0));
  return __libc_malloc(size);
}
extern "C" void *calloc(size_t count, size_t size) {
  note(__builtin_return_address(0));
  return __libc_calloc(count, size);
}
extern "C" void *realloc(void *old, size_t size) {
  note(__builtin_return_address(0));
  return __libc_realloc(old, size);
}
extern "C" void *aligned_alloc(size_t alignment, size_t size) {
  note(__builtin_return_address(0));
  return __libc_memalign(alignment, size);
}
extern "C" int posix_memalign(void **out, size_t alignment, size_t size) {
  note(__builtin_return_address(0));
  *out = __libc_memalign(alignment, size);
  return *out ? 0 : ENOMEM;
}

void *operator new(size_t size) {
  note(__builtin_return_address(0));
  void *memory = __libc_malloc(size ? size : 1);
  if (!memory) {
    throw std::bad_alloc();
  }
  return memory;
}
void *operator new[](size_t size) {
  note(__builtin_return_address(0));
  void *memory = __libc_malloc(size ? size : 1);
  if (!memory) {
    throw std::bad_alloc();
  }
  return memory;
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }

namespace llmc::rt::test {
namespace {

/// Calls of ours and of libraries since counting began.
struct Calls {
  int ours = 0, library = 0;
};

Calls countCalls() {
  Calls calls;
  int count = std::min(numCallers.load(), mostCallers);
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    std::string object =
        dladdr(callers[i], &info) && info.dli_fname ? info.dli_fname : "";
    bool library = object.find("libdnnl") != std::string::npos ||
                   object.find("libgomp") != std::string::npos;
    (library ? calls.library : calls.ours) += 1;
    if (!library) {
      fmt::print("allocation from {} {}\n", object,
                 info.dli_sname ? info.dli_sname : "?");
    }
  }
  return calls;
}

TEST(AllocationTest, TheHookCounts) {
  numCallers = 0;
  counting = true;
  // Volatile, lest the pairs be optimised away.
  int *volatile value = new int(3);
  void *volatile raw = std::malloc(16);
  counting = false;
  EXPECT_EQ(numCallers.load(), 2);
  delete value;
  std::free(raw);
}

TEST(AllocationTest, AStepAllocatesNothing) {
  for (int threads : {1, 3}) {
    SessionOptions options;
    options.threads = threads;
    auto session =
        openWalkthrough(makeWalkthroughPlan(4, walkthroughObject), options);
    ASSERT_TRUE(session);
    // The library makes each worker's stream when it is first used.
    for (int step = 0; step < 8; ++step) {
      ASSERT_TRUE(session->run("train", step).ok());
    }
    const std::string entry = "train";
    numCallers = 0;
    counting = true;
    bool sound = true;
    for (int step = 8; step < 18; ++step) {
      sound = session->run(entry, step).ok() && sound;
    }
    counting = false;
    ASSERT_TRUE(sound);
    Calls calls = countCalls();
    fmt::print("heap allocations in 10 steps with {} workers: {} from our code "
               "and kernels, {} from libraries\n",
               threads, calls.ours, calls.library);
    EXPECT_EQ(calls.ours, 0);
  }
}

} // namespace
} // namespace llmc::rt::test
