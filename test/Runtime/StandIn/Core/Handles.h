//===- Handles.h - What a caller holds of an object -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A handle is the address of a byte that nobody can touch, and no address is
// given out twice. So a handle that was never one is told from one whose object
// is destroyed, and from one of another kind.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_CORE_HANDLES_H
#define LLMC_TEST_RUNTIME_STANDIN_CORE_HANDLES_H

#include "Core/Report.h"

#include <memory>
#include <vector>

namespace llmc::standin {

enum class Kind : uint8_t {
  Context,
  Stream,
  Event,
  Module,
  Function,
  Graph,
  GraphNode,
  GraphExec,
  Communicator,
  Library,
  Convolver,
  Descriptor,
};
const char *nameOf(Kind kind);

struct Context;

struct Object {
  virtual ~Object() = default;
  /// The context that it goes with; null: it stays.
  virtual const Context *owner() const { return nullptr; }
  void *handle = nullptr;
};

class Handles {
public:
  /// The table of the process; guarded by the lock of the scheduler.
  static Handles &get();

  template <typename T> void *add(const std::shared_ptr<T> &object) {
    return object->handle = insert(T::kKind, object);
  }

  /// The object of a handle; null where it is no handle of this kind. Ends the
  /// process where its object is destroyed.
  template <typename T> std::shared_ptr<T> find(const void *handle) const {
    return std::static_pointer_cast<T>(lookup(T::kKind, handle));
  }

  void remove(const Object &object);
  /// Removes all that `context` owns.
  void removeOf(const Context *context);

  /// Whether `ask` says so of some object of the kind.
  template <typename T, typename Ask> bool any(Ask ask) const {
    for (const Entry &entry : entries)
      if (entry.kind == T::kKind && entry.object &&
          ask(static_cast<const T &>(*entry.object)))
        return true;
    return false;
  }

  bool holds(uint64_t address) const { return address - base < kBytes; }

private:
  static constexpr uint64_t kBytes = 1ull << 32, kStep = 64;

  Handles();
  void *insert(Kind kind, std::shared_ptr<Object> object);
  std::shared_ptr<Object> lookup(Kind kind, const void *handle) const;

  struct Entry {
    Kind kind;
    std::shared_ptr<Object> object;
  };
  uint64_t base;
  std::vector<Entry> entries;
};

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_CORE_HANDLES_H
