//===- StableHLOCollectiveOps.td - What a device reads of others ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of manual regions that look at other devices. The import replaces
// them by ops on values of all devices, so that no later phase meets one.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_STABLEHLOCOLLECTIVEOPS_TD
#define LLMC_DIALECT_STABLEHLO_IR_STABLEHLOCOLLECTIVEOPS_TD

include "llmc/Dialect/StableHLO/IR/StableHLOElementwiseOps.td"

class StableHLO_GroupsOp<string mnemonic, dag operands, dag numbers, dag outs, list<Trait> traits,
                         dag extra = (ins)>
    : StableHLO_Op<mnemonic, traits> {
  let arguments = !con(operands, numbers,
                       (ins I64ElementsAttr:$replica_groups,
                            OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle), extra);
  let results = outs;
  let hasVerifier = 1;
}

def StableHLO_AllReduceOp : StableHLO_GroupsOp<"all_reduce", (ins Variadic<GraphOrComplexTensor>:$operands), (ins),
    (outs Variadic<GraphOrComplexTensor>:$result), [RecursiveMemoryEffects, RecursivelySpeculatable],
    (ins UnitAttr:$use_global_device_ids)> {
  let summary = "Reduction over the devices of a group, for all of them";
  let description = [{
    Constraints: at least one operand; results of the operands' types; the body is
    a function of scalars, of two of the first operand's elements; `replica_groups`
    has two dims and no number twice.
  }];
  let regions = (region SizedRegion<1>:$computation);
}

def StableHLO_ReduceScatterOp : StableHLO_GroupsOp<"reduce_scatter", (ins GraphOrComplexTensor:$operand),
    (ins I64Attr:$scatter_dimension), (outs GraphOrComplexTensor:$result),
    [RecursiveMemoryEffects, RecursivelySpeculatable], (ins UnitAttr:$use_global_device_ids)> {
  let summary = "Reduction over the devices of a group, to each its part";
  let description = [{
    Constraints: as `all_reduce`, of one operand; the result is as the operand, but
    for `scatter_dimension`, of which it has a part.
  }];
  let regions = (region SizedRegion<1>:$computation);
}

def StableHLO_AllGatherOp : StableHLO_GroupsOp<"all_gather", (ins Variadic<GraphOrComplexTensor>:$operands),
    (ins I64Attr:$all_gather_dim), (outs Variadic<GraphOrComplexTensor>:$result), [Pure],
    (ins UnitAttr:$use_global_device_ids)> {
  let summary = "The values of the devices of a group, one after another along a dim";
  let description = [{
    Constraints: at least one operand, as many results; a result is as its operand,
    but for `all_gather_dim`, of which it has several times as much.
  }];
}

def StableHLO_AllToAllOp : StableHLO_GroupsOp<"all_to_all", (ins Variadic<GraphOrComplexTensor>:$operands),
    (ins I64Attr:$split_dimension, I64Attr:$concat_dimension, I64Attr:$split_count),
    (outs Variadic<GraphOrComplexTensor>:$result), [Pure]> {
  let summary = "To each device of a group its part of a dim, one after another along a dim";
  let description = [{
    Constraints: at least one operand, as many results; `split_count` is the number
    of devices of a group, divides the split dim and multiplies the other.
  }];
}

def StableHLO_RaggedAllToAllOp : StableHLO_GroupsOp<"ragged_all_to_all",
    (ins GraphTensor:$operand, GraphTensor:$output, GraphTensor:$input_offsets, GraphTensor:$send_sizes,
         GraphTensor:$output_offsets, GraphTensor:$recv_sizes),
    (ins), (outs GraphTensor:$result), [Pure]> {
  let summary = "To each device of a group slices of rows, as many as the run says";
  let description = [{
    Texts have it as a custom call, `@ragged_all_to_all`, of which the import makes
    this op. Row numbers and counts have an entry for each slice, as many slices for
    each device of the group: slice i is rows `input_offsets[i]` to
    `input_offsets[i] + send_sizes[i]` of the operand, and lies from row
    `output_offsets[i]` on in the result of the device that gets it, which expects
    `recv_sizes[i]` rows of device i. All other rows are those of `output`.

    Constraints: operand, output and result differ in their first dim only; output and
    result have one type; offsets and sizes are integers, one list for each, of
    one length, a multiple of the devices of a group.
  }];
  let extraClassDeclaration = [{
    /// Of the custom call.
    static constexpr ::llvm::StringLiteral kCallTarget = "ragged_all_to_all";
  }];
}

def StableHLO_CollectiveBroadcastOp : StableHLO_GroupsOp<"collective_broadcast", (ins GraphOrComplexTensor:$operand),
    (ins), (outs GraphOrComplexTensor:$result), [Pure]> {
  let summary = "The value of the first device of a group, for all of them";
  let description = "Constraints: operand and result have one type.";
}

def StableHLO_CollectivePermuteOp : StableHLO_Op<"collective_permute", [Pure]> {
  let summary = "The value of another device, zero where none sends";
  let description = [{
    Constraints: operand and result have one type; `source_target_pairs` has two
    columns, in each of which no device stands twice.
  }];
  let arguments = (ins GraphOrComplexTensor:$operand, I64ElementsAttr:$source_target_pairs,
                       OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle);
  let results = (outs GraphOrComplexTensor:$result);
  let hasVerifier = 1;
}

class StableHLO_DeviceNumberOp<string mnemonic, string text> : StableHLO_Op<mnemonic, [Pure]> {
  let summary = text;
  let description = "Constraints: the result is a scalar of ui32.";
  let results = (outs IntTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def StableHLO_PartitionIdOp : StableHLO_DeviceNumberOp<"partition_id", "The device's number in the mesh">;
def StableHLO_ReplicaIdOp : StableHLO_DeviceNumberOp<"replica_id", "The number of the program's replica">;

#endif // LLMC_DIALECT_STABLEHLO_IR_STABLEHLOCOLLECTIVEOPS_TD
