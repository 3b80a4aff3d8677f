//===- DistDialect.td - The dist dialect -------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect itself and the enumerations that its attributes and ops share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_DISTDIALECT
#define LLMC_DIALECT_DIST_IR_DISTDIALECT

include "llmc/Support/Dropout.td"
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

    What an argument or result of a program's function is says its port,
    `dist.port = #dist.port<...>`, the one mark that it may have. Ops carry:

    | attribute | value |
    |---|---|
    | `dist.block`, `dist.chunk` | integer, at least 0 |
    | `dist.phase` | `#dist.phase<forward>` and so on |
    | `dist.layouts` | one `#dist.layout` for each result |
    | `dist.at` (of an update) | `array<i64>`: coordinates of the pipeline axis that run it, by default all |
    | `dist.name` | name for `--fetch`, reports and files |
    | `dist.jax_function` (until phase 1 has differentiated it) | name of JAX's own function that the op was the result of, where another function may have the same ops and another derivative |
    | `dist.unroll` (of loops, in the import) | unit: the loop does not stay one |
    | `dist.precision` (inside phase 1, of steps and states) | float type of factors (`llmc-narrow`): of all contractions of the step, or of those that read the state |
    | `dist.scaling` (inside phase 1, of recipes and steps) | `array<i64>`: how many microbatches back the scales of floats of eight bits look (0: at their own tensor), and how many powers of two they leave free |
    | `dist.rounds_terms` (of a conversion, from phase 3 on) | unit: it rounds each device's term of a sum, before the terms are added up |
    | `dist.model_flops` (of steps, entries and timelines, from the end of phase 1 on) | `f64` of at least 0: flops of a step of the model, as a utilisation counts them |
    | `dist.stop_gradient` (inside phase 1) | `array<i64>`: operands through which no derivative flows |
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    // Names of the marks of ops, in one place.
    static constexpr llvm::StringLiteral kLayouts = "dist.layouts";
    static constexpr llvm::StringLiteral kAt = "dist.at";
    static constexpr llvm::StringLiteral kName = "dist.name";
    static constexpr llvm::StringLiteral kBlock = "dist.block";
    static constexpr llvm::StringLiteral kPhase = "dist.phase";
    static constexpr llvm::StringLiteral kChunk = "dist.chunk";
    static constexpr llvm::StringLiteral kJaxFunction = "dist.jax_function";
    static constexpr llvm::StringLiteral kUnroll = "dist.unroll";
    static constexpr llvm::StringLiteral kPrecision = "dist.precision";
    static constexpr llvm::StringLiteral kModelFlops = "dist.model_flops";
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
  I32EnumAttrCase<"Update", 4, "update">,
  I32EnumAttrCase<"Prepare", 5, "prepare">
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
  I32EnumAttrCase<"Array", 1, "array">,
  I32EnumAttrCase<"Text", 2, "text">
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

// Functions of steps and entries have the ports down to `output`, which every
// phase understands; optimizer functions `parameter`, `gradient` and those from
// `moment` on; programs of timelines `buffer` for a state, `act`, and what
// crosses stages.
def Dist_PortKind : I64EnumAttr<"PortKind", "what an argument or result is", [
  I64EnumAttrCase<"Input", 0, "input">,
  I64EnumAttrCase<"Hyper", 1, "hyper">,
  I64EnumAttrCase<"Parameter", 2, "parameter">,
  I64EnumAttrCase<"Optimizer", 3, "optimizer">,
  I64EnumAttrCase<"Carried", 4, "carried">,
  I64EnumAttrCase<"Constant", 5, "constant">,
  I64EnumAttrCase<"Step", 6, "step">,
  I64EnumAttrCase<"Microbatch", 7, "microbatch">,
  I64EnumAttrCase<"Loss", 8, "loss">,
  I64EnumAttrCase<"LossSum", 9, "loss_sum">,
  I64EnumAttrCase<"Count", 10, "count">,
  I64EnumAttrCase<"MetricSum", 11, "metric_sum">,
  I64EnumAttrCase<"Gradient", 12, "gradient">,
  I64EnumAttrCase<"Metric", 13, "metric">,
  I64EnumAttrCase<"Output", 14, "output">,
  I64EnumAttrCase<"Moment", 15, "moment">,
  I64EnumAttrCase<"Setting", 16, "setting">,
  I64EnumAttrCase<"Buffer", 17, "buffer">,
  I64EnumAttrCase<"Act", 18, "act">,
  I64EnumAttrCase<"Send", 19, "send">,
  I64EnumAttrCase<"Recv", 20, "recv">,
  I64EnumAttrCase<"Carry", 21, "carry">,
  I64EnumAttrCase<"Kept", 22, "kept">
]> {
  let cppNamespace = "::llmc::dist";
  let genSpecializedAttr = 0;
}

def Dist_RecomputeKind : Dist_Enum<"RecomputeKind", "which blocks are recomputed", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"All", 1, "all">,
  I32EnumAttrCase<"Every", 2, "every">
]>;

def Dist_EnterKind : Dist_Enum<"EnterKind", "what a value is in a trip", [
  I32EnumAttrCase<"Same", 0, "same">,
  I32EnumAttrCase<"Row", 1, "row">,
  I32EnumAttrCase<"Carry", 2, "carry">
]>;

def Dist_LeaveKind : Dist_Enum<"LeaveKind", "what is made of the values of all trips", [
  I32EnumAttrCase<"Last", 0, "last">,
  I32EnumAttrCase<"Stack", 1, "stack">,
  I32EnumAttrCase<"Sum", 2, "sum">
]>;

def Dist_Memory : Dist_Enum<"Memory", "memory that holds a state", [
  I32EnumAttrCase<"Device", 0, "device">,
  I32EnumAttrCase<"Host", 1, "host">,
  I32EnumAttrCase<"Disk", 2, "disk">
]>;

#endif // LLMC_DIALECT_DIST_IR_DISTDIALECT
