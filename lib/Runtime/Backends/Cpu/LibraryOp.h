//===- LibraryOp.h - What CPU calls in place of a kernel ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A descriptor made ready: work in tickets, each for one worker. One class for
// each kind of descriptor.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_LIBRARYOP_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_LIBRARYOP_H

#include "llmc/Runtime/Device/Device.h"

#include <memory>

namespace llmc::rt::cpu {

class CpuLibraryOp : public LibraryOp {
public:
  /// Error (15) where CPU does not have the descriptor, whatever its workspace.
  static Result<std::unique_ptr<CpuLibraryOp>> make(const LibraryShape &shape);

  /// At least 1.
  virtual int tickets() const = 0;
  virtual uint64_t workspaceBytes() const = 0;
  /// Whether what the data says of the call is sound; asked once, when all
  /// before it has run. The pool adds where the call stands.
  virtual Status check(const uint64_t *buffers) const {
    (void)buffers;
    return Status::success();
  }
  /// `buffers` has the addresses of the operands, in the descriptor's order.
  virtual void run(const uint64_t *buffers, void *workspace,
                   int ticket) const = 0;
};

/// Of oneDNN: "2.6.3".
std::string libraryVersion();

/// Makes the calling thread's calls of libraries run on that thread alone.
void limitLibraryThreads();

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_LIBRARYOP_H
