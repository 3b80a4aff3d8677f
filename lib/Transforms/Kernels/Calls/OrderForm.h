//===- OrderForm.h - Orders along a dim by own kernels ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row is put into order by one of three ways, by its size:
//
//   short   a thread counts what stands before its element, and stores its
//           position at this place
//   block   a block exchanges pairs of a row in shared memory (Batcher 1968)
//   long    blocks put parts of a row into order, and launches merge two of
//           these each, of which they keep as many as are asked for
//
// Elements are compared by all keys and then by where they lie, so no two are
// equal and each way gives the one order of ArgsortShape.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_CALLS_ORDERFORM_H
#define LLMC_LIB_TRANSFORMS_KERNELS_CALLS_ORDERFORM_H

#include "CallForm.h"

namespace llmc::kernels {

CallPlan planOrder(const rt::ArgsortShape &shape,
                   ArrayRef<RankedTensorType> buffers);

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_CALLS_ORDERFORM_H
