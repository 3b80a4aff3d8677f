//===- PlanInstructionOps.td - What a program may do -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions of a plan. Only signal and wait order streams.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_PLAN_IR_PLANINSTRUCTIONOPS
#define LLMC_DIALECT_PLAN_IR_PLANINSTRUCTIONOPS

include "llmc/Dialect/Plan/IR/PlanInterfaces.td"
include "llmc/Dialect/Plan/IR/PlanTableOps.td"

def Plan_InstructionGroup : OpDocGroup {
  let summary = "Instructions";
  let description = [{
    Each stands in a `plan.program` and belongs to a stream (`on @C`).

    Constraints of all: the stream exists; buffers exist and hold the operands
    (expressions apart).
  }];
}

class Plan_Instruction<string mnemonic, dag extra>
    : Plan_Op<mnemonic, [HasParent<"::llmc::plan::ProgramOp">, Plan_SymbolUser,
                         DeclareOpInterfaceMethods<Plan_InstructionInterface, ["getUses"]>]> {
  let arguments = !con((ins FlatSymbolRefAttr:$stream), extra);
}

def Plan_Operands : TypedArrayAttrBase<Plan_OperandAttr, "array of operands">;
def Plan_Stages : OptionalAttr<DenseI64ArrayAttr>;

let opDocGroup = Plan_InstructionGroup in {

def Plan_KernelOp : Plan_Instruction<"kernel",
    (ins SymbolRefAttr:$kernel, TypedArrayAttrBase<Plan_UseAttr, "array of uses">:$operands,
         TypedArrayAttrBase<Plan_ExprAttr, "array of expressions">:$scalars, OptionalAttr<Plan_OperandAttr>:$scratch)> {
  let summary = "runs a kernel of the kernel object";
  let description = [{
    ```mlir
    plan.kernel on @C @k_3f2a operands([#plan.use<read, <@tmp.x, [4], f32>>]) scalars([]) scratch(<@s, [64], i8>)
    ```
  }];
  let assemblyFormat = [{
    `on` $stream $kernel `operands` `(` $operands `)` `scalars` `(` $scalars `)`
    (`scratch` `(` $scratch^ `)`)? attr-dict
  }];
}

def Plan_LibraryOp : Plan_Instruction<"library",
    (ins Plan_LibraryDescriptorInterface:$descriptor, TypedArrayAttrBase<Plan_UseAttr, "array of uses">:$operands,
         DefaultValuedAttr<Plan_I64Attr, "0">:$workspace_bytes, OptionalAttr<Plan_OperandAttr>:$workspace,
         DefaultValuedAttr<Plan_I64Attr, "0">:$form)> {
  let summary = "calls an op of the device's library";
  let description = [{
    ```mlir
    plan.library on @C #plan.contraction<[<m, 4, a = 8, c = 6>, <n, 6, b = 1, c = 1>, <k, 8, a = 1, b = 6>],
        accumulate = f32, beta = 1>
        operands([#plan.use<read, <@x, [4, 8], f32>>, #plan.use<read, <@w, [8, 6], f32>>,
                  #plan.use<readwrite, <@y, [4, 6], f32>>])
    ```
    The descriptor says what is computed, and of which operands. `workspace_bytes`
    is what the library asked for when the plan was made. `form` is the number of
    the library's way to compute it, as measured on the target.

    Constraints: as many operands as the descriptor names, with its accesses; a form
    from 0 to 255;
    workspace bytes at least 0; a workspace of at least as many where that is not 0.
  }];
  let assemblyFormat = [{
    `on` $stream $descriptor `operands` `(` $operands `)` (`workspace_bytes` `(` $workspace_bytes^ `)`)?
    (`workspace` `(` $workspace^ `)`)? (`form` `(` $form^ `)`)? attr-dict
  }];
  let extraClassDeclaration = [{
    /// The runtime's descriptor, with the types of the operands.
    ::llmc::rt::LibraryDescriptor getRuntimeDescriptor();
  }];
  let hasVerifier = 1;
}

def Plan_CollectiveOp : Plan_Instruction<"collective",
    (ins FlatSymbolRefAttr:$symbol, Plan_CollectiveKindAttr:$kind, OptionalAttr<Plan_ReductionAttr>:$reduction,
         StrArrayAttr:$axes, Plan_Stages:$stages, DefaultValuedAttr<Plan_I64Attr, "0">:$dim,
         DefaultValuedAttr<Plan_I64Attr, "0">:$concat_dim, OptionalAttr<Plan_ExprAttr>:$peer, Plan_Operands:$inputs,
         Plan_Operands:$outputs, OptionalAttr<Plan_OperandAttr>:$counts)> {
  let summary = "a collective among the devices that differ in the axes alone";
  let description = [{
    ```mlir
    plan.collective on @T @c1 all_reduce reduction sum axes(["tensor"]) inputs([#plan.operand<@p, [4], f32>])
        outputs([#plan.operand<@x, [4], f32>])
    ```
    The first axis is the major one. With the pipeline axis among them, `stages`
    take part. `peer` is the member that broadcasts, gets the reduction, or from
    which a permute receives.

    Constraints: at least one axis, each once; a reduction exactly for the reducing
    kinds; a peer exactly for broadcast, reduce and permute, counts exactly for
    ragged_all_to_all; at least one input
    and as many outputs; stages ascending; dims at least 0.
  }];
  let assemblyFormat = [{
    `on` $stream $symbol $kind (`reduction` $reduction^)? `axes` `(` $axes `)` (`stages` `(` $stages^ `)`)?
    (`dim` `(` $dim^ `)`)? (`concat_dim` `(` $concat_dim^ `)`)? (`peer` `(` $peer^ `)`)?
    `inputs` `(` $inputs `)` `outputs` `(` $outputs `)` (`counts` `(` $counts^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_SendOp : Plan_Instruction<"send", (ins Plan_MessageAttr:$message)> {
  let summary = "sends along the pipeline axis";
  let description = [{
    ```mlir
    plan.send on @S <@t0, peer = <add(coordinate("pipe"), 1)>, operands = [<@bnd.t0, [2, 4], f32>]>
    ```
  }];
  let assemblyFormat = "`on` $stream $message attr-dict";
}

def Plan_ReceiveOp : Plan_Instruction<"receive", (ins Plan_MessageAttr:$message)> {
  let summary = "receives along the pipeline axis";
  let description = "As `plan.send`.";
  let assemblyFormat = "`on` $stream $message attr-dict";
}

def Plan_ExchangeOp : Plan_Instruction<"exchange",
    (ins TypedArrayAttrBase<Plan_MessageAttr, "array of messages">:$sends,
         TypedArrayAttrBase<Plan_MessageAttr, "array of messages">:$receives)> {
  let summary = "sends and receives at once";
  let description = [{
    ```mlir
    plan.exchange on @X sends([#plan.message<...>]) receives([#plan.message<...>])
    ```
    Constraints: at least one message.
  }];
  let assemblyFormat = "`on` $stream `sends` `(` $sends `)` `receives` `(` $receives `)` attr-dict";
  let hasVerifier = 1;
}

def Plan_CopyOp : Plan_Instruction<"copy",
    (ins OptionalAttr<Plan_OperandAttr>:$to, OptionalAttr<Plan_OperandAttr>:$from,
         DefaultValuedAttr<Plan_HostEndAttr, "::llmc::plan::HostEnd::None">:$host, OptionalAttr<StrAttr>:$name)> {
  let summary = "copies within a device, or from and to the host";
  let description = [{
    ```mlir
    plan.copy on @K to(<@tok, [8], i32>) host input name("tokens")
    plan.copy on @K from(<@loss, [], f32>) host metric name("loss")
    plan.copy on @C to(<@y, [4], f32>) from(<@x, [4], f32>)
    ```
    `name` is the entry's input, hyper value, metric or fetched value.

    Constraints: input and hyper have a target alone, metric and fetch a source
    alone, otherwise both with equal element counts; a name exactly with the host.
  }];
  let assemblyFormat = [{
    `on` $stream (`to` `(` $to^ `)`)? (`from` `(` $from^ `)`)? (`host` $host^)?
    (`name` `(` $name^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_FillOp : Plan_Instruction<"fill", (ins Plan_OperandAttr:$to, DefaultValuedAttr<Plan_I64Attr, "0">:$pattern)> {
  let summary = "makes every element the pattern's low bytes";
  let description = [{
    ```mlir
    plan.fill on @C <@gE, [10, 4], f32>
    ```
  }];
  let assemblyFormat = "`on` $stream $to (`pattern` `(` $pattern^ `)`)? attr-dict";
}

class Plan_EventOp<string mnemonic> : Plan_Instruction<mnemonic, (ins FlatSymbolRefAttr:$frame, Plan_I64Attr:$event)> {
  let assemblyFormat = "`on` $stream $frame `event` `(` $event `)` attr-dict";
}

def Plan_SignalOp : Plan_EventOp<"signal"> {
  let summary = "sets an event of the frame's slot";
  let description = [{
    ```mlir
    plan.signal on @C @tmp event(1)
    ```
    Constraints: the frame exists and has the event.
  }];
}

def Plan_WaitOp : Plan_EventOp<"wait"> {
  let summary = "waits for the latest signal of an event";
  let description = "Constraints: as `plan.signal`.";
}

def Plan_CallOp : Plan_Instruction<"call",
    (ins FlatSymbolRefAttr:$program, OptionalAttr<Plan_ExprAttr>:$microbatch,
         TypedArrayAttrBase<Plan_ExprAttr, "array of expressions">:$arguments)> {
  let summary = "runs another program in place";
  let description = [{
    ```mlir
    plan.call on @C @part microbatch(<microbatch>) arguments([])
    ```
    The stream is not used: instructions of the program have their own.

    Constraints: the program exists, stands before the caller, and takes as many
    arguments.
  }];
  let assemblyFormat = [{
    `on` $stream $program (`microbatch` `(` $microbatch^ `)`)? `arguments` `(` $arguments `)` attr-dict
  }];
}

def Plan_LoopOp : Plan_Instruction<"loop", (ins Plan_I64Attr:$trips, FlatSymbolRefAttr:$program,
        OptionalAttr<TypedArrayAttrBase<Plan_ExprAttr, "array of expressions">>:$arguments)> {
  let summary = "runs a program once for each trip, whose number is its first parameter";
  let description = [{
    ```mlir
    plan.loop on @C 64 times @time arguments([<param(0)>])
    ```
    The arguments, as the number of the trip of a loop around this one, are the
    parameters after the first.

    Constraints: the program exists, stands before the caller, and takes no more
    parameters than the trip and the arguments; trips at least 0.
  }];
  let assemblyFormat = [{
    `on` $stream $trips `times` $program (`arguments` `(` $arguments^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_WhileOp : Plan_Instruction<"while", (ins Plan_OperandAttr:$flag, FlatSymbolRefAttr:$program)> {
  let summary = "runs a program as long as a flag holds";
  let description = [{
    ```mlir
    plan.while on @C <@tmp.go, [], i1> do @body
    ```
    The flag is read before each run of the program.

    Constraints: the program exists, stands before the caller and takes no
    arguments; the flag is one i1.
  }];
  let assemblyFormat = "`on` $stream $flag `do` $program attr-dict";
  let hasVerifier = 1;
}

def Plan_IfOp : Plan_Instruction<"if", (ins Plan_OperandAttr:$flag, FlatSymbolRefAttr:$program)> {
  let summary = "runs a program where a flag is set (reserved: the loader refuses it)";
  let description = "Constraints: the program exists and stands before the caller.";
  let assemblyFormat = "`on` $stream $flag `then` $program attr-dict";
}

} // opDocGroup

#endif // LLMC_DIALECT_PLAN_IR_PLANINSTRUCTIONOPS
