//===- Boxes.h - Between whole tensors and device buffers -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layout says which boxes of a whole tensor a device stores where. As a list
// of runs it serves in both directions: to fill a device's buffer and to read
// it back.
//
//   [6, 4] split in two along dim 1, device 1:  local 0 <- global 2, 2
//   elements; local 2 <- global 6, 2 elements; ...
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_BOXES_H
#define LLMC_LIB_RUNTIME_EXECUTOR_BOXES_H

#include "llmc/Runtime/Layout/Layout.h"
#include "llmc/Runtime/Plan/Format/Plan.h"

#include <functional>

namespace llmc::rt::exec {

/// `length` elements at `local` of the device's buffer (with its strides) are
/// those at `global` of the whole tensor. Where the innermost stride is not 1,
/// a run is one element.
struct ElementRun {
  int64_t local, global, length;
};
using RunVisitor = std::function<void(const ElementRun &)>;

/// A box of a whole tensor of `shape` that begins at `origin`, stored by
/// `layout` in a buffer with `strides` (empty: contiguous).
struct Placement {
  const Layout &layout;
  const std::vector<int64_t> &origin;
  const std::vector<int64_t> &shape;
  const std::vector<int64_t> &strides;
};

/// Visits what the device at `coordinates` stores; padding is left out. With
/// `only` one box of it.
Status visitRuns(const Placement &placement, const Mesh &mesh,
                 const std::vector<int64_t> &coordinates,
                 const RunVisitor &visit, const Box *only = nullptr);

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_BOXES_H
