//===- Movement.h - Rearranging elements ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the families of data-movement ops share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_MOVEMENT_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_MOVEMENT_H

#include "llmc/Dialect/Graph/IR/ShardingRule.h"
#include "llmc/Support/HostTensor.h"

namespace llmc::stablehlo {

/// States that partial values of every kind pass through `group` jointly.
void carryAnyPartial(graph::ShardingRule &rule, ArrayRef<int> group);

RankedTensorType typeOf(Value value);

/// What is written into a box, in the shape of its elements: where dims of size
/// 1 were put around a value to write it, that value.
Value reshapeUpdate(OpBuilder &builder, Location loc, Value update,
                    ArrayRef<int64_t> shape);

/// Appends the tensor whose element at `index` is operand[from], where `map`
/// fills `from` (sized to the operand's rank).
LogicalResult evaluateMap(
    const HostTensor &operand, RankedTensorType resultType,
    function_ref<void(ArrayRef<int64_t> index, SmallVectorImpl<int64_t> &from)>
        map,
    SmallVectorImpl<HostTensor> &results);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_MOVEMENT_H
