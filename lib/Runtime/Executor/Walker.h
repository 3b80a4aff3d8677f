//===- Walker.h - Enqueues a step -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   run entry:  for each device: prologue
//               for each row of the table, for each device with a cell: call
//               for each device: epilogue
//
// Nothing here waits, computes or allocates; devices may be walked in any
// order.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_WALKER_H
#define LLMC_LIB_RUNTIME_EXECUTOR_WALKER_H

#include "Binding/Bound.h"

namespace llmc::rt::exec {

/// The host's ends of an entry's copies on one device.
struct HostEnds {
  struct Area {
    std::byte *base = nullptr;
    uint64_t stride = 0; ///< From one microbatch to the next.
  };
  std::vector<Area> inputs, hypers, metrics, fetches;
};

class Walker {
public:
  /// `plan`, `world` and `device` outlive the walker.
  Walker(const plan::Plan &plan, World &world, LocalDevice &device,
         int64_t numMicrobatches);

  /// Error when an expression has no value.
  Status call(int32_t program, int64_t microbatch, const HostEnds &ends);

private:
  struct Scope {
    int64_t microbatch;
    const int64_t *parameters;
    int64_t numParameters;
  };

  void run(const BoundProgram &program, const Scope &scope);
  int64_t value(const Number &number, const Scope &scope);
  void *address(const Ref &ref, const Scope &scope);
  void *hostAddress(const BoundCopy &copy, const Scope &scope) const;

  void enqueue(const BoundInstruction &, const BoundKernel &, const Scope &);
  void enqueue(const BoundInstruction &, const BoundLibrary &, const Scope &);
  void enqueue(const BoundInstruction &, const BoundCollective &,
               const Scope &);
  void enqueue(const BoundInstruction &, const BoundExchange &, const Scope &);
  void enqueue(const BoundInstruction &, const BoundCopy &, const Scope &);
  void enqueue(const BoundInstruction &, const BoundFill &, const Scope &);
  void enqueue(const BoundInstruction &, const BoundEvent &, const Scope &);
  void enqueue(const BoundInstruction &, const BoundCall &, const Scope &);
  void enqueue(const BoundInstruction &, const BoundLoop &, const Scope &);
  void enqueue(const BoundInstruction &, const BoundWhile &, const Scope &);

  const plan::Plan &plan;
  World &world;
  LocalDevice &device;
  int64_t numMicrobatches; ///< The most of any entry.
  const HostEnds *ends = nullptr;
  bool failed = false;
  // As long as the longest instruction needs.
  std::vector<void *> pointers;
  std::vector<const void *> inputs;
  std::vector<int64_t> scalars;
  std::vector<TransferPart> parts;
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_WALKER_H
