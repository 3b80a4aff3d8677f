//===- Order.h - Whether devices call in one order ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of several communicators that run side by side may wait for each
// other for ever where two devices that share them call them in different
// orders. With LLMC_STANDIN_NCCL_ORDER=1 that ends the process, though here the
// run would go on. The calls of one group have one place in the order.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_NCCL_ORDER_H
#define LLMC_TEST_RUNTIME_STANDIN_NCCL_ORDER_H

#include <cstdint>
#include <string>

namespace llmc::standin {

/// A device of some process, and a place in the order of its calls.
struct Turn {
  uint64_t device;
  uint64_t place;
};

/// The turn of calls of `group` on a communicator of this process's `device`.
Turn takeTurn(int device, uint64_t group, const void *communicator);

/// Two devices have met in what `what` describes.
void meetInOrder(const Turn &own, const Turn &other, const std::string &what);

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_NCCL_ORDER_H
