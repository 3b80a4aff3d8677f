//===- Handles.cpp - What a caller holds of an object ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/Handles.h"

#include <sys/mman.h>

using namespace llmc::standin;

const char *llmc::standin::nameOf(Kind kind) {
  static const char *const names[] = {
      "context",      "stream",         "event",           "module",
      "function",     "graph",          "graph node",      "executable graph",
      "communicator", "library handle", "handle of cuDNN", "descriptor"};
  return names[static_cast<int>(kind)];
}

Handles &Handles::get() {
  static Handles *table = new Handles;
  return *table;
}

Handles::Handles() {
  void *memory = mmap(nullptr, kBytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    violation("no addresses for handles");
  base = reinterpret_cast<uint64_t>(memory);
}

void *Handles::insert(Kind kind, std::shared_ptr<Object> object) {
  entries.push_back({kind, std::move(object)});
  if (entries.size() * kStep >= kBytes)
    violation("more than %zu handles in one process", entries.size());
  return reinterpret_cast<void *>(base + entries.size() * kStep);
}

std::shared_ptr<Object> Handles::lookup(Kind kind, const void *handle) const {
  uint64_t place = reinterpret_cast<uint64_t>(handle) - base;
  if (place % kStep || !place || place / kStep > entries.size())
    return nullptr;
  const Entry &entry = entries[place / kStep - 1];
  if (entry.kind != kind)
    return nullptr;
  if (!entry.object)
    violation("the %s is used after it was destroyed", nameOf(kind));
  return entry.object;
}

void Handles::remove(const Object &object) {
  uint64_t place = reinterpret_cast<uint64_t>(object.handle) - base;
  // The last reference may be this one: it goes after the table is in order.
  std::shared_ptr<Object> last = std::move(entries[place / kStep - 1].object);
}

void Handles::removeOf(const Context *context) {
  std::vector<std::shared_ptr<Object>> gone;
  for (Entry &entry : entries)
    if (entry.object && entry.object->owner() == context)
      gone.push_back(std::move(entry.object));
}
