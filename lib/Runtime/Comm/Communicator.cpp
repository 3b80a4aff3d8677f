//===- Communicator.cpp - Names of collectives ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Comm/Communicator.h"

namespace llmc::rt {

std::string_view nameOf(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::allReduce:
    return "all_reduce";
  case CollectiveKind::allGather:
    return "all_gather";
  case CollectiveKind::reduceScatter:
    return "reduce_scatter";
  case CollectiveKind::allToAll:
    return "all_to_all";
  case CollectiveKind::broadcast:
    return "broadcast";
  case CollectiveKind::reduce:
    return "reduce";
  case CollectiveKind::permute:
    return "permute";
  }
  return "unknown";
}

std::string_view nameOf(Reduction reduction) {
  switch (reduction) {
  case Reduction::sum:
    return "sum";
  case Reduction::product:
    return "product";
  case Reduction::min:
    return "min";
  case Reduction::max:
    return "max";
  case Reduction::logicalAnd:
    return "and";
  case Reduction::logicalOr:
    return "or";
  }
  return "unknown";
}

} // namespace llmc::rt
