//===- RowGroups.td - Ops on groups of rows ----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An answer beside the sharding rule, of ops that multiply each group of rows by
// the group's own matrix. The models are in lib/Dialect/<D>/Models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_ROWGROUPS_TD
#define LLMC_DIALECT_GRAPH_IR_ROWGROUPS_TD

include "mlir/IR/OpBase.td"

def RowGroupsOpInterface : OpInterface<"RowGroupsOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    Beside the five answers: an op of one result for which rows of no group count
    for nothing. Where each of several members has some of the groups, it needs
    the rows of these only, whatever else it has in their place (RowGroups.h).
  }];
  let methods = [
    InterfaceMethod<[{The rows and matrices of the op.}], "::llmc::graph::RowGroups", "getRowGroups", (ins)>,
    InterfaceMethod<[{
      Builds what the members compute, each with as many of the groups, in order:
      of `operands` those that count rows have a leading dim of the members. The
      result has one too where it counts rows, and is 0 in rows of other members'
      groups; else it is that of the op.
    }], "::mlir::Value", "buildOfMembers",
      (ins "::mlir::OpBuilder &":$builder, "int64_t":$members, "::mlir::ValueRange":$operands)>,
  ];
}

#endif // LLMC_DIALECT_GRAPH_IR_ROWGROUPS_TD
