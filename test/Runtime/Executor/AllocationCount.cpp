//===- AllocationCount.cpp - Counts calls of malloc -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AllocationCount.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <new>
#include <string>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LLMC_MALLOC_IS_TAKEN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LLMC_MALLOC_IS_TAKEN 1
#endif
#endif

namespace {

std::atomic<bool> counting{false};
constexpr int mostCallers = 1 << 17;
std::atomic<int> numCallers{0};
void *callers[mostCallers];

} // namespace

#ifndef LLMC_MALLOC_IS_TAKEN

static void note(void *caller) {
  if (counting.load(std::memory_order_relaxed)) {
    int i = numCallers++;
    if (i < mostCallers) {
      callers[i] = caller;
    }
  }
}

extern "C" void *__libc_malloc(size_t);
extern "C" void *__libc_calloc(size_t, size_t);
extern "C" void *__libc_realloc(void *, size_t);
extern "C" void *__libc_memalign(size_t, size_t);

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

#endif // LLMC_MALLOC_IS_TAKEN

namespace llmc::rt::test {

bool canCountAllocations() {
#ifdef LLMC_MALLOC_IS_TAKEN
  return false;
#else
  return true;
#endif
}

void startCounting() {
  numCallers = 0;
  counting = true;
}

Calls stopCounting() {
  counting = false;
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

} // namespace llmc::rt::test
