//===- DistDialect.td - The dist dialect -------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect itself and the enumerations that its attributes and ops share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_DISTDIALECT
#define LLMC_DIALECT_DIST_IR_DISTDIALECT

include "llmc/Support/NamedKind.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::llmc::dist";
  let summary = "programs over states, meshes and layouts, and how they are cut";
  let description = [{
    `dist` says what a program is (states, hyper values, steps, entries), where
    its values live (meshes, layouts, reshards, collectives) and when its parts
    run (segments, transfers, timelines). Its functions are pure; nothing is in
    place before buffers are assigned.

    Marks on functions, ops, arguments and results:

    | attribute | on | value |
    |---|---|---|
    | `dist.role` | argument, result | one of the names below |
    | `dist.reads` | argument | symbol of the state that it holds |
    | `dist.writes` | result | symbol of the state that it replaces |
    | `dist.gradient_of` | argument, result | symbol of a state |
    | `dist.hyper` | argument | symbol of a `dist.hyper` |
    | `dist.input`, `dist.metric` | argument; result | name |
    | `dist.layout` | argument, result | `#dist.layout` |
    | `dist.slot` | argument, result | `#dist.slot` |
    | `dist.send`, `dist.recv` | result; argument | symbol of a transfer |
    | `dist.moment` | argument, result of an optimizer function | name of its state |
    | `dist.constant`, `dist.default` | argument of an optimizer function | name of a setting; its default |
    | `dist.data` | argument that is an input | `#dist.data`: the source that feeds it |
    | `dist.block`, `dist.chunk` | op | integer, at least 0 |
    | `dist.phase` | op | `#dist.phase<forward>` and so on |
    | `dist.layouts` | op | one `#dist.layout` for each result |
    | `dist.at` | op of an update | `array<i64>`: coordinates of the pipeline axis that run it, by default all |
    | `dist.name` | op | name for `--fetch`, reports and files |
    | `dist.jax_function` | op, until phase 1 has differentiated it | name of JAX's own function that the op was the result of, where another function may have the same ops and another derivative |
    | `dist.stop_gradient` | op, inside phase 1 | `array<i64>`: operands through which no derivative flows |

    Roles of arguments: `input`, `hyper`, `parameter`, `optimizer`, `carried`,
    `constant`, `step`, `microbatch`, `loss_sum`, `count`, `gradient`; of results: `loss`,
    `loss_sum`, `count`, `metric`, `output`, `parameter`, `optimizer`,
    `carried`, `gradient`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    // Names of the marks, in one place.
    static constexpr llvm::StringLiteral kRole = "dist.role";
    static constexpr llvm::StringLiteral kReads = "dist.reads";
    static constexpr llvm::StringLiteral kWrites = "dist.writes";
    static constexpr llvm::StringLiteral kGradientOf = "dist.gradient_of";
    static constexpr llvm::StringLiteral kHyper = "dist.hyper";
    static constexpr llvm::StringLiteral kInput = "dist.input";
    static constexpr llvm::StringLiteral kMetric = "dist.metric";
    static constexpr llvm::StringLiteral kLayout = "dist.layout";
    static constexpr llvm::StringLiteral kSlot = "dist.slot";
    static constexpr llvm::StringLiteral kSend = "dist.send";
    static constexpr llvm::StringLiteral kRecv = "dist.recv";
    static constexpr llvm::StringLiteral kMoment = "dist.moment";
    static constexpr llvm::StringLiteral kConstant = "dist.constant";
    static constexpr llvm::StringLiteral kDefault = "dist.default";
    static constexpr llvm::StringLiteral kData = "dist.data";
    static constexpr llvm::StringLiteral kLayouts = "dist.layouts";
    static constexpr llvm::StringLiteral kAt = "dist.at";
    static constexpr llvm::StringLiteral kName = "dist.name";
    static constexpr llvm::StringLiteral kBlock = "dist.block";
    static constexpr llvm::StringLiteral kPhase = "dist.phase";
    static constexpr llvm::StringLiteral kChunk = "dist.chunk";
    static constexpr llvm::StringLiteral kJaxFunction = "dist.jax_function";
    static constexpr llvm::StringLiteral kStopGradient = "dist.stop_gradient";
    /// The functions that `kJaxFunction` may name.
    static constexpr llvm::StringLiteral kNamedJaxFunctions[] = {"relu", "relu6", "log1mexp"};

  private:
    void registerAttributes();

  public:
  }];
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Dist_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::llmc::dist";
  let genSpecializedAttr = 0;
}

def Dist_Role : Dist_Enum<"Role", "role of a state", [
  I32EnumAttrCase<"Parameter", 0, "parameter">,
  I32EnumAttrCase<"Optimizer", 1, "optimizer">,
  I32EnumAttrCase<"Carried", 2, "carried">,
  I32EnumAttrCase<"Constant", 3, "constant">
]>;

def Dist_Phase : Dist_Enum<"Phase", "part of a step to which an op belongs", [
  I32EnumAttrCase<"Forward", 0, "forward">,
  I32EnumAttrCase<"Backward", 1, "backward">,
  I32EnumAttrCase<"BackwardInput", 2, "backward_input">,
  I32EnumAttrCase<"BackwardWeight", 3, "backward_weight">,
  I32EnumAttrCase<"Update", 4, "update">
]>;

def Dist_Access : Dist_Enum<"Access", "what a kernel does with an argument", [
  I32EnumAttrCase<"Read", 0, "read">,
  I32EnumAttrCase<"Write", 1, "write">,
  I32EnumAttrCase<"ReadWrite", 2, "readwrite">,
  I32EnumAttrCase<"Scalar", 3, "scalar">
]>;

def Dist_DrawKind : Dist_Enum<"DrawKind", "how initial values are drawn", [
  I32EnumAttrCase<"Zeros", 0, "zeros">,
  I32EnumAttrCase<"Ones", 1, "ones">,
  I32EnumAttrCase<"Constant", 2, "constant">,
  I32EnumAttrCase<"Normal", 3, "normal">,
  I32EnumAttrCase<"Uniform", 4, "uniform">,
  I32EnumAttrCase<"TruncatedNormal", 5, "truncated_normal">
]>;

// Numbered as the runtime's DataKind.
def Dist_DataKind : Dist_Enum<"DataKind", "what a sample of a source is", [
  I32EnumAttrCase<"Tokens", 0, "tokens">,
  I32EnumAttrCase<"Array", 1, "array">
]>;

// Numbered as the runtime's HyperKind.
def Dist_RuleKind : Dist_Enum<"RuleKind", "what gives a hyper value", [
  I32EnumAttrCase<"Step", 0, "step">,
  I32EnumAttrCase<"Seed", 1, "seed">,
  I32EnumAttrCase<"External", 2, "external">,
  I32EnumAttrCase<"Constant", 3, "constant">,
  I32EnumAttrCase<"WarmupConstant", 4, "warmup_constant">,
  I32EnumAttrCase<"WarmupLinear", 5, "warmup_linear">,
  I32EnumAttrCase<"WarmupCosine", 6, "warmup_cosine">
]>;

def Dist_SlotKind : Dist_Enum<"SlotKind", "which kind of slot holds a value", [
  I32EnumAttrCase<"State", 0, "state">,
  I32EnumAttrCase<"Step", 1, "step">,
  I32EnumAttrCase<"Act", 2, "act">,
  I32EnumAttrCase<"Bnd", 3, "bnd">,
  I32EnumAttrCase<"Input", 4, "input">,
  I32EnumAttrCase<"Hyper", 5, "hyper">,
  I32EnumAttrCase<"Metric", 6, "metric">,
  I32EnumAttrCase<"Output", 7, "output">
]>;

def Dist_RecomputeKind : Dist_Enum<"RecomputeKind", "which blocks are recomputed", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"All", 1, "all">,
  I32EnumAttrCase<"Every", 2, "every">
]>;

def Dist_Memory : Dist_Enum<"Memory", "memory that holds a state", [
  I32EnumAttrCase<"Device", 0, "device">,
  I32EnumAttrCase<"Host", 1, "host">,
  I32EnumAttrCase<"Disk", 2, "disk">
]>;

#endif // LLMC_DIALECT_DIST_IR_DISTDIALECT
