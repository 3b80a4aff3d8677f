//===- PlanDialect.td - The plan dialect -------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect itself and its enumerations, whose numbers are those of the
// runtime's structs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_PLAN_IR_PLANDIALECT
#define LLMC_DIALECT_PLAN_IR_PLANDIALECT

include "llmc/Support/Dropout.td"
include "llmc/Support/NamedKind.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::llmc::plan";
  let summary = "the execution plan: programs of instructions on streams";
  let description = [{
    What every device runs, in the terms of the plan file: `plan` ops and the
    structs of `llmc/Runtime/Plan` correspond one to one. There are no values:
    operands are places. Ordering (phase 7) makes programs with frames and
    buffers that have no offsets yet; phase 8 places them, and Target/Plan
    writes the file. States, hyper values and the mesh stay what they are and
    are named by symbol.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
  private:
    void registerAttributes();

  public:
  }];
}

class Plan_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::llmc::plan";
  let genSpecializedAttr = 0;
}
class Plan_EnumAttr<EnumInfo info, string mnemonic> : EnumAttr<Plan_Dialect, info, mnemonic>;

def Plan_StreamKind : Plan_Enum<"StreamKind", "what a stream carries", [
  I32EnumAttrCase<"Compute", 0, "compute">,
  I32EnumAttrCase<"Copy", 1, "copy">,
  I32EnumAttrCase<"Collective", 2, "collective">,
  I32EnumAttrCase<"Send", 3, "send">,
  I32EnumAttrCase<"Receive", 4, "receive">
]>;
def Plan_StreamKindAttr : Plan_EnumAttr<Plan_StreamKind, "stream_kind">;

def Plan_FrameKind : Plan_Enum<"FrameKind", "what a frame holds", [
  I32EnumAttrCase<"State", 0, "state">,
  I32EnumAttrCase<"Hyper", 1, "hyper">,
  I32EnumAttrCase<"Step", 2, "step">,
  I32EnumAttrCase<"Act", 3, "act">,
  I32EnumAttrCase<"Bnd", 4, "bnd">,
  I32EnumAttrCase<"Input", 5, "input">,
  I32EnumAttrCase<"Tmp", 6, "tmp">,
  I32EnumAttrCase<"Scratch", 7, "scratch">
]>;
def Plan_FrameKindAttr : Plan_EnumAttr<Plan_FrameKind, "frame_kind">;

def Plan_Phase : Plan_Enum<"Phase", "what a program is in a schedule", [
  I32EnumAttrCase<"Other", 0, "other">,
  I32EnumAttrCase<"Forward", 1, "forward">,
  I32EnumAttrCase<"Backward", 2, "backward">,
  I32EnumAttrCase<"BackwardInput", 3, "backward_input">,
  I32EnumAttrCase<"BackwardWeight", 4, "backward_weight">,
  I32EnumAttrCase<"Update", 5, "update">
]>;
def Plan_PhaseAttr : Plan_EnumAttr<Plan_Phase, "phase">;

def Plan_EntryKind : Plan_Enum<"EntryKind", "what an entry is for", [
  I32EnumAttrCase<"Train", 0, "train">,
  I32EnumAttrCase<"Evaluate", 1, "evaluate">,
  I32EnumAttrCase<"Forward", 2, "forward">
]>;
def Plan_EntryKindAttr : Plan_EnumAttr<Plan_EntryKind, "entry_kind">;

def Plan_Access : Plan_Enum<"Access", "what happens to an operand", [
  I32EnumAttrCase<"Read", 0, "read">,
  I32EnumAttrCase<"Write", 1, "write">,
  I32EnumAttrCase<"ReadWrite", 2, "readwrite">
]>;

def Plan_LoopKind : Plan_Enum<"LoopKind", "a loop of a contraction", [
  I32EnumAttrCase<"Batch", 0, "batch">,
  I32EnumAttrCase<"M", 1, "m">,
  I32EnumAttrCase<"N", 2, "n">,
  I32EnumAttrCase<"K", 3, "k">
]>;

def Plan_AttentionKind : Plan_Enum<"AttentionKind", "an index of an attention", [
  I32EnumAttrCase<"Batch", 0, "batch">,
  I32EnumAttrCase<"Row", 1, "row">,
  I32EnumAttrCase<"Column", 2, "column">,
  I32EnumAttrCase<"Depth", 3, "depth">,
  I32EnumAttrCase<"Value", 4, "value">
]>;

def Plan_Activation : Plan_Enum<"Activation", "an element-wise function of a library's result", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Relu", 1, "relu">,
  I32EnumAttrCase<"Gelu", 2, "gelu">,
  I32EnumAttrCase<"GeluTanh", 3, "gelu_tanh">,
  I32EnumAttrCase<"Tanh", 4, "tanh">,
  I32EnumAttrCase<"Logistic", 5, "logistic">
]>;

def Plan_CollectiveKindAttr
    : Llmc_NamedKindAttr<Plan_Dialect, "CollectiveKind", "collective_kind", "kind of a collective">;
def Plan_DropoutAttr : Llmc_DropoutAttr<Plan_Dialect>;
def Plan_ReductionAttr : Llmc_NamedKindAttr<Plan_Dialect, "ReductionKind", "reduction", "kind of a reduction">;

def Plan_HostEnd : Plan_Enum<"HostEnd", "the host's end of a copy", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Input", 1, "input">,
  I32EnumAttrCase<"Hyper", 2, "hyper">,
  I32EnumAttrCase<"Metric", 3, "metric">,
  I32EnumAttrCase<"Fetch", 4, "fetch">
]>;
def Plan_HostEndAttr : Plan_EnumAttr<Plan_HostEnd, "host">;

def Plan_ExprOp : Plan_Enum<"ExprOp", "node of an expression", [
  I32EnumAttrCase<"Constant", 0, "constant">,
  I32EnumAttrCase<"Coordinate", 1, "coordinate">,
  I32EnumAttrCase<"Microbatch", 2, "microbatch">,
  I32EnumAttrCase<"Parameter", 3, "parameter">,
  I32EnumAttrCase<"Add", 4, "add">,
  I32EnumAttrCase<"Sub", 5, "sub">,
  I32EnumAttrCase<"Mul", 6, "mul">,
  I32EnumAttrCase<"FloorDiv", 7, "floordiv">,
  I32EnumAttrCase<"Mod", 8, "mod">,
  I32EnumAttrCase<"Min", 9, "min">,
  I32EnumAttrCase<"Max", 10, "max">,
  I32EnumAttrCase<"Equal", 11, "equal">,
  I32EnumAttrCase<"Less", 12, "less">,
  I32EnumAttrCase<"LessEqual", 13, "less_equal">
]>;

#endif // LLMC_DIALECT_PLAN_IR_PLANDIALECT
