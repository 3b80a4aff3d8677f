//===- GraphInterfaces.td - The five answers of a graph op -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule, derivative, cost, kernel, evaluation: what every op of a graph states
// once, as external models in lib/Dialect/<D>/Models/<Family>.cpp. Passes,
// interpreter and code generation walk and ask; none knows an op's name.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_GRAPHINTERFACES_TD
#define LLMC_DIALECT_GRAPH_IR_GRAPHINTERFACES_TD

include "mlir/IR/OpBase.td"

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{First answer: how dimensions of operands and results hang together.}];
  let methods = [
    InterfaceMethod<[{The op's factors (ShardingRule.h).}],
      "::llmc::graph::ShardingRule", "getShardingRule", (ins)>,
    InterfaceMethod<[{
      Builds the op's distributed form (global ops with plain rules) in front of
      it and returns the replacements of its results. Called only for factors
      in the rule's `distributed` list.
    }], "::llvm::LogicalResult", "buildDistributedForm",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::SmallVectorImpl<::mlir::Value> &":$results),
      [{}], [{ return ::llvm::failure(); }]>,
    InterfaceMethod<[{
      Builds what one device computes of the op (LocalForm.h): by default the
      op itself on local values. On failure an error has been emitted at the op.
    }], "::llvm::LogicalResult", "buildLocalForm", (ins "::llmc::graph::LocalForm &":$form),
      [{}], [{ return form.cloneOp(), ::llvm::success(); }]>,
    InterfaceMethod<[{
      Whether padding of a reduced factor must hold the reduction's neutral
      element in operand `operand` (not where it holds indices).
    }], "bool", "needsNeutralPadding", (ins "unsigned":$operand), [{}], [{ return true; }]>,
    InterfaceMethod<[{
      Whether operands that are constant along a passing factor give results
      that are: the op does not look at where it stands, and its own evaluation
      on tensors of size 1 along the factor tells which constant.
    }], "bool", "isUniform", (ins), [{}], [{ return false; }]>,
  ];
}

def DerivativeOpInterface : OpInterface<"DerivativeOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{Second answer: the vector-Jacobian product.}];
  let methods = [
    InterfaceMethod<[{
      Builds the cotangents of the operands. `cotangents` has one value for each
      result, null where the cotangent is zero (never all, unless `isOfTrips`). `needed` has one
      flag for each operand; `gradients` is sized to the operands and null, and
      gets a value of the operand's type, or stays null for a zero cotangent.
      May use operands and results as residuals. On failure an error has been
      emitted at the op.
    }], "::llvm::LogicalResult", "buildDerivative",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents,
           "::llvm::ArrayRef<bool>":$needed, "::llvm::SmallVectorImpl<::mlir::Value> &":$gradients)>,
    InterfaceMethod<[{
      True when no derivative ever flows through the op, whatever its types
      (compare, iota, constant, floor): activity stops there.
    }], "bool", "isInactive", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      True where a cotangent may come from another trip of a loop: the derivative
      is then built although no result has one.
    }], "bool", "isOfTrips", (ins), [{}], [{ return false; }]>,
  ];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{Third answer: arithmetic and traffic of one execution.}];
  let methods = [
    InterfaceMethod<[{Flops, transcendentals and bytes (Kernel.h).}],
      "::llmc::graph::OpCost", "getCost", (ins)>,
  ];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    Fourth answer: the form of the op's kernel and the scalar code of one
    element (Kernel.h). Only the methods of the stated form are called. Scalar
    code uses `arith` and `math` on signless types, one rounding for each op
    (no fast-math flags), so that an op gives the same bits in every kernel. An
    update may have loops of `scf`, which read elements as they go.
  }];
  let methods = [
    InterfaceMethod<[{Which of the forms; the methods below say for which form they are.}],
      "::llmc::graph::KernelForm", "getKernelForm", (ins)>,
    InterfaceMethod<[{Element: element of result `result` at `indices`.}],
      "::mlir::Value", "emitElement",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "unsigned":$result,
           "::mlir::ValueRange":$indices, "::llmc::graph::ElementSource":$source),
      [{}], [{ return {}; }]>,
    InterfaceMethod<[{Reduction: inputs and reduced dimensions.}],
      "::llmc::graph::ReductionShape", "getReduction", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      Reduction: one combining step, accumulators with elements of the inputs
      (or with other accumulators). Lanes and their tree are the emitter's.
    }], "::llvm::SmallVector<::mlir::Value>", "emitCombine",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$accumulators, "::mlir::ValueRange":$elements),
      [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      Library: builds, in front of the op, the op that calls the library, with the
      same operands and results (LibraryCall.td).
    }], "::mlir::Operation *", "buildLibraryCall", (ins "::mlir::OpBuilder &":$builder), [{}], [{ return nullptr; }]>,
    InterfaceMethod<[{Update: the shape of the space of updates, walked in row-major order.}],
      "::llvm::SmallVector<int64_t>", "getUpdateShape", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{Update: the operand whose elements are changed in place.}],
      "unsigned", "getChangedOperand", (ins), [{}], [{ return 0; }]>,
    InterfaceMethod<[{
      Update: of one whose `source` reads the changed operand too, as the updates
      before have left it, the order of the updates; none of any other.
    }], "::std::optional<::llmc::graph::UpdateOrder>", "getUpdateOrder", (ins),
      [{}], [{ return ::std::nullopt; }]>,
    InterfaceMethod<[{Update: where the update at `indices` goes.}],
      "::llmc::graph::UpdateTarget", "emitUpdateTarget",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$indices, "::llmc::graph::ElementSource":$source),
      [{}], [{ return {}; }]>,
    InterfaceMethod<[{Update: the new element from the old one and the update at `indices`.}],
      "::mlir::Value", "emitUpdateElement",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$old,
           "::mlir::ValueRange":$indices, "::llmc::graph::ElementSource":$source),
      [{}], [{ return {}; }]>,
    InterfaceMethod<[{Alias: the operand whose bytes result `result` is.}],
      "unsigned", "getAliasedOperand", (ins "unsigned":$result), [{}], [{ return result; }]>,
    InterfaceMethod<[{Decompose: builds graph ops that compute the results.}],
      "::llvm::LogicalResult", "decompose",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::SmallVectorImpl<::mlir::Value> &":$results),
      [{}], [{ return ::llvm::failure(); }]>,
  ];
}

def EvaluationOpInterface : OpInterface<"EvaluationOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    Fifth answer: plain evaluation on dense host tensors, by loops that share
    no code with the kernels: the oracle.
  }];
  let methods = [
    InterfaceMethod<[{
      Computes the results (appended in order). On failure an error has been
      emitted at the op.
    }], "::llvm::LogicalResult", "evaluate",
      (ins "::llvm::ArrayRef<::llmc::HostTensor>":$operands, "::llmc::graph::EvaluationScope &":$scope,
           "::llvm::SmallVectorImpl<::llmc::HostTensor> &":$results)>,
  ];
}

def ExpansionOpInterface : OpInterface<"ExpansionOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    In place of the five answers: an op that is written with other ops. The
    import replaces it, so that no later phase meets it, and what sharding,
    derivative and kernel of it are follows from the ops that it becomes.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds ops in front of the op that compute its results, and appends those.
      They may have expansions themselves. On failure an error has been emitted
      at the op: a refusal, if the text is valid.
    }], "::llvm::LogicalResult", "expand",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>,
  ];
}

def SimplificationOpInterface : OpInterface<"SimplificationOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    Beside the five answers: an op that cheaper ops can stand for where its
    operands are known, or come from certain ops. A box at a run-time position
    that turns out to be constant is a slice, whose dimensions may be split and
    whose derivative is cheap. The import asks once for each op.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds ops in front of the op that compute its results and appends those;
      false where the op is to stay. What is built may be simplified itself.
    }], "bool", "simplify",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>,
  ];
}

#endif // LLMC_DIALECT_GRAPH_IR_GRAPHINTERFACES_TD
