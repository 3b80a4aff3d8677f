//===- Reduction.h - Sums of what ranks gave ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_NCCL_REDUCTION_H
#define LLMC_TEST_RUNTIME_STANDIN_NCCL_REDUCTION_H

#include "Nccl/Interface.h"

#include <vector>

namespace llmc::standin {

/// 0: no type that is known.
size_t bytesOfType(ncclDataType_t type);
const char *nameOfType(ncclDataType_t type);
const char *nameOfOp(ncclRedOp_t op);

/// to[i] = op over all ranks r of from[r][i]. As on a ring, the sum of part p
/// of the elements begins with rank p + 1, in the type of the elements; a part
/// has `part` elements, and the first one here is `first`.
void reduce(ncclDataType_t type, ncclRedOp_t op,
            const std::vector<const char *> &from, char *to, size_t count,
            size_t part, size_t first);

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_NCCL_REDUCTION_H
