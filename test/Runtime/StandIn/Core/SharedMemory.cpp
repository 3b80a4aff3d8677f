//===- SharedMemory.cpp - Memory of a block, and who touched it -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/SharedMemory.h"
#include "Core/Report.h"

#include <cstring>
#include <sys/mman.h>

using namespace llmc::standin;

static constexpr size_t kMost = 256 << 10, kPage = 4096;

SharedMemory::SharedMemory() {
  void *memory = mmap(nullptr, kMost + kPage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    violation("no memory for the shared memory of a block");
  end = static_cast<char *>(memory) + kMost;
  mprotect(end, kPage, PROT_NONE);
}

void SharedMemory::begin(uint32_t bytes, uint64_t noise) {
  size = bytes;
  start = end - (bytes + 63) / 64 * 64;
  ++epoch;
  if (bytesOf.size() < bytes)
    bytesOf.resize(bytes);
  for (uint32_t i = 0; i + 8 <= bytes; i += 8)
    std::memcpy(start + i, &noise, 8);
}

std::string SharedMemory::touch(uint32_t thread, uint32_t site,
                                const void *address, uint32_t bytes,
                                bool write) {
  uint64_t offset = static_cast<const char *>(address) - start;
  if (offset > size || bytes > size - offset)
    return format("thread %u touches bytes %lld to %lld of %u bytes of shared "
                  "memory at site %u",
                  thread, static_cast<long long>(offset),
                  static_cast<long long>(offset + bytes - 1), size, site);
  for (uint64_t i = offset; i < offset + bytes; ++i) {
    Byte &byte = bytesOf[i];
    if (byte.epoch != epoch)
      byte = {epoch, kNobody, kNobody, 0, 0};
    if (byte.writer != kNobody && byte.writer != thread)
      return format("race on byte %llu of shared memory: thread %u writes it "
                    "at site %u, thread %u %s it at site %u",
                    static_cast<unsigned long long>(i), byte.writer,
                    byte.writeSite, thread, write ? "writes" : "reads", site);
    if (write && byte.reader != kNobody && byte.reader != thread)
      return format("race on byte %llu of shared memory: thread %u writes it "
                    "at site %u, another thread reads it at site %u",
                    static_cast<unsigned long long>(i), thread, site,
                    byte.readSite);
    if (write) {
      byte.writer = thread;
      byte.writeSite = site;
      continue;
    }
    byte.readSite = site;
    byte.reader =
        byte.reader == kNobody || byte.reader == thread ? thread : kSeveral;
  }
  return "";
}
