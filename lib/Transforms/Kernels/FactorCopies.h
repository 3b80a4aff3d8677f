//===- FactorCopies.h - Factors as a library multiplies them ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GPUs multiply floats of eight bits where what is added up is contiguous in
// both factors, and in multiples of 16 (Float8Factors.h, which decides). Where
// a factor lies otherwise, an op in front of the call copies it; formation then
// makes a kernel of that op, or puts it into the one that makes the factor.
//
//   %y = dist.contract %x, %w … contracting [1] x [0]
//     ->  %t = stablehlo.transpose %w, dims = [1, 0] : … tensor<96x64xf8E4M3FN>
//         %y = dist.contract %x, %t … contracting [1] x [1]
//     ->  %b = stablehlo.convert %x : … tensor<30x64xbf16>, and so of %w, where
//         30 rows are no multiple
//
// Test: test/Transforms/Kernels/float8-factors.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_FACTORCOPIES_H
#define LLMC_LIB_TRANSFORMS_KERNELS_FACTORCOPIES_H

#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include "llmc/Support/LLVM.h"
#include <map>
#include <string>
#include <vector>

namespace llmc::kernels {

/// The copies of one block's factors: calls that want the same share one.
class FactorCopies {
public:
  /// `target` as the command line has it.
  explicit FactorCopies(StringRef target) : target(target) {}

  /// Makes `call` read its factors as its target multiplies them. A copy is a
  /// remark, with its bytes.
  void read(graph::LibraryCallOpInterface call);

private:
  void transpose(graph::LibraryCallOpInterface call, unsigned operand);
  void widen(graph::LibraryCallOpInterface call, unsigned operand);

  std::string target;
  /// By the factor, its order of dims (none: widened).
  std::map<std::pair<void *, std::vector<int64_t>>, Operation *> copies;
};

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_FACTORCOPIES_H
