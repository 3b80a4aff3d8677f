//===- PlanAttrs.td - Attributes of the plan dialect -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions, operands and what entries list.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_PLAN_IR_PLANATTRS
#define LLMC_DIALECT_PLAN_IR_PLANATTRS

include "llmc/Dialect/Plan/IR/PlanDialect.td"
include "llmc/Dialect/Plan/IR/PlanInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

class Plan_Attr<string name, string mnemonicOf, list<Trait> traits = []> : AttrDef<Plan_Dialect, name, traits> {
  let mnemonic = mnemonicOf;
}

def Plan_ExprAttr : Plan_Attr<"Expr", "expr"> {
  let summary = "an integer that depends on the device or the microbatch";
  let description = [{
    `#plan.expr<add(mul(5, coordinate("tensor")), mod(microbatch, 2))>`; leaves
    are integers, `coordinate("axis")`, `microbatch` and `parameter(0)`; two
    operands have add, sub, mul, floordiv, mod, min, max, equal, less and
    less_equal (0 or 1).

    Constraints: leaves have no operands, the others two; a coordinate names its
    axis; a parameter is at least 0. Text nests at most 64 deep.
  }];
  let parameters = (ins "ExprOp":$op, "int64_t":$value, OptionalParameter<"::mlir::StringAttr">:$axis,
                        OptionalParameter<"::llmc::plan::ExprAttr">:$lhs,
                        OptionalParameter<"::llmc::plan::ExprAttr">:$rhs);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ExprAttr getConstant(mlir::MLIRContext *context, int64_t value);
    static ExprAttr getCoordinate(mlir::MLIRContext *context, llvm::StringRef axis);
    static ExprAttr getMicrobatch(mlir::MLIRContext *context);
    static ExprAttr getParameter(mlir::MLIRContext *context, int64_t number);
    /// Folds constants, x + 0, x * 1 and x * 0.
    static ExprAttr getBinary(ExprOp op, ExprAttr lhs, ExprAttr rhs);
    bool isConstant() const { return getOp() == ExprOp::Constant; }
  }];
}

def Plan_OperandAttr : Plan_Attr<"Operand", "operand"> {
  let summary = "a view of a buffer";
  let description = [{
    `#plan.operand<@tmp.x0, [4, 4], f32>`; with `offset` in bytes from the start
    of the buffer, `strides` in elements (absent: row-major, side by side) and
    an expression `expr` that is added to the offset, in bytes:
    `#plan.operand<@W1, [2, 6], f32, offset = 48, strides = [12, 1],
    expr = <mul(48, coordinate("data"))>>`.

    Constraints: sizes and strides at least 0, one stride for each dim, offset at least 0,
    an element type that the runtime knows.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$buffer, "::mlir::DenseI64ArrayAttr":$shape,
                        "::mlir::Type":$dtype, DefaultValuedParameter<"int64_t", "0">:$offset,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$strides,
                        OptionalParameter<"::llmc::plan::ExprAttr">:$expr);
  let builders = [AttrBuilder<(ins "::mlir::FlatSymbolRefAttr":$buffer, "::llvm::ArrayRef<int64_t>":$shape,
                                   "::mlir::Type":$dtype), [{
    return $_get($_ctxt, buffer, ::mlir::DenseI64ArrayAttr::get($_ctxt, shape), dtype, 0,
                 ::mlir::DenseI64ArrayAttr(), ExprAttr());
  }]>];
  let assemblyFormat = "`<` $buffer `,` $shape `,` $dtype (`,` struct($offset, $strides, $expr)^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes from the first to the end of the last element (the expression
    /// apart), or nothing on overflow.
    std::optional<int64_t> getSpan() const;
  }];
}

def Plan_UseAttr : Plan_Attr<"Use", "use"> {
  let summary = "an operand of a kernel or library and what happens to it";
  let description = "`#plan.use<read, <@tmp.x0, [4, 4], f32>>`.";
  let parameters = (ins "Access":$access, "::llmc::plan::OperandAttr":$operand);
  let assemblyFormat = "`<` $access `,` $operand `>`";
}

def Plan_LoopDimAttr : Plan_Attr<"LoopDim", "dim"> {
  let summary = "a loop of a contraction with its strides";
  let description = [{
    `#plan.dim<m, 4, a = 12, c = 6>`: strides in elements of the left side, the
    right side, the result and the bias.

    Constraints: size at least 1; m has no stride in b, n none in a, k none in c
    and in the bias.
  }];
  let parameters = (ins "LoopKind":$kind, "int64_t":$size, DefaultValuedParameter<"int64_t", "0">:$a,
                        DefaultValuedParameter<"int64_t", "0">:$b, DefaultValuedParameter<"int64_t", "0">:$c,
                        DefaultValuedParameter<"int64_t", "0">:$bias);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Plan_ContractionAttr : Plan_Attr<"Contraction", "contraction",
    [DeclareAttrInterfaceMethods<Plan_LibraryDescriptorInterface>]> {
  let summary = "c = activation(alpha * sum a * b + beta * c + bias)";
  let description = [{
    ```mlir
    #plan.contraction<[<m, 4, a = 8, c = 6>, <n, 6, b = 1, c = 1>, <k, 8, a = 1, b = 6>],
        accumulate = f32, beta = 1>
    ```
    The operands are a, b, with `has_bias = true` the bias, and c; sums are made
    in `accumulate`. `alpha` is 1 where it is absent. What each field means says
    `ContractionShape` in `llmc/Runtime/Base/Library.h`.

    Constraints: `accumulate` is an element type that the runtime knows; beta is
    0 or 1; a stride of the bias only where there is one.
  }];
  let parameters = (ins ArrayRefParameter<"::llmc::plan::LoopDimAttr">:$dims, "::mlir::Type":$accumulate,
                        OptionalParameter<"::mlir::FloatAttr">:$alpha,
                        DefaultValuedParameter<"int64_t", "0">:$beta,
                        DefaultValuedParameter<"bool", "false">:$has_bias,
                        DefaultValuedParameter<"Activation", "Activation::None">:$activation);
  let assemblyFormat = "`<` custom<LoopDims>($dims) `,` struct($accumulate, $alpha, $beta, $has_bias, $activation) `>`";
  let genVerifyDecl = 1;
}

def Plan_WindowAttr : Plan_Attr<"Window", "window"> {
  let summary = "a window of a convolution with its sizes, strides and steps";
  let description = [{
    `#plan.window<sizes = [32, 3, 16], strides = [3, 48, 16], steps = [1, 1, 2],
    low = 1>`: sizes and strides in elements of the left side, the right side
    and the result; of the same three, how many positions lie from one element to
    the next: dilation, dilation and stride. What the fields mean says
    `ConvolutionWindow` in `llmc/Runtime/Base/Library.h`.

    Constraints: three of each; sizes and steps at least 1, strides at least 0.
  }];
  let parameters = (ins "::mlir::DenseI64ArrayAttr":$sizes, "::mlir::DenseI64ArrayAttr":$strides,
                        "::mlir::DenseI64ArrayAttr":$steps, DefaultValuedParameter<"int64_t", "0">:$low,
                        DefaultValuedParameter<"bool", "false">:$reversed);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_ConvolutionAttr : Plan_Attr<"Convolution", "convolution",
    [DeclareAttrInterfaceMethods<Plan_LibraryDescriptorInterface>]> {
  let summary = "c = sum a * b under windows + beta * c + bias";
  let description = [{
    ```mlir
    #plan.convolution<[<m, 8, a = 3072, c = 4096>, <n, 16, b = 1, c = 1>, <k, 3, a = 1, b = 16>],
        windows = [<sizes = [32, 3, 16], strides = [96, 144, 256], steps = [1, 1, 2], low = 1>],
        accumulate = f32>
    ```
    The operands are a, b, with `has_bias = true` the bias, and c; sums are made
    in `accumulate`. What each field means says `ConvolutionShape` in
    `llmc/Runtime/Base/Library.h`.

    Constraints: `accumulate` is an element type that the runtime knows; beta is
    0 or 1; a stride of the bias only where there is one.
  }];
  let parameters = (ins ArrayRefParameter<"::llmc::plan::LoopDimAttr">:$dims,
                        ArrayRefParameter<"::llmc::plan::WindowAttr">:$windows, "::mlir::Type":$accumulate,
                        DefaultValuedParameter<"int64_t", "0">:$beta,
                        DefaultValuedParameter<"bool", "false">:$has_bias);
  let assemblyFormat = "`<` custom<LoopDims>($dims) `,` `windows` `=` custom<Windows>($windows) `,` struct($accumulate, $beta, $has_bias) `>`";
  let genVerifyDecl = 1;
}

def Plan_AttentionDimAttr : Plan_Attr<"AttentionDim", "attention_dim"> {
  let summary = "an index of an attention with its strides";
  let description = [{
    `#plan.attention_dim<row, 64, q = 512, out = 512, rows = 1>`: strides in
    elements of q, k, v, bias, out (or its cotangent), rows (logsumexp and
    delta), dq, dk and dv, and of the counter of the weights' random bits.

    Constraints: size at least 1; ten strides of at least 0, and none along
    what an operand lacks: q and dq have row and depth, k and dk column and
    depth, v and dv column and value, bias and bits row and column, out row and
    value, rows row, and all have batch.
  }];
  let parameters = (ins "AttentionKind":$kind, "int64_t":$size, ArrayRefParameter<"int64_t">:$strides);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Plan_AttentionAttr : Plan_Attr<"Attention", "attention",
    [DeclareAttrInterfaceMethods<Plan_LibraryDescriptorInterface>]> {
  let summary = "out = softmax(scale * q * k^T + bias) * v, or its gradient";
  let description = [{
    ```mlir
    #plan.attention<[<batch, 8, q = 64, k = 64, v = 64, out = 64, rows = 16>,
        <row, 16, q = 512, out = 512, rows = 1>, <column, 16, k = 512, v = 512>,
        <depth, 64, q = 1, k = 1>, <value, 64, v = 1, out = 1>],
        accumulate = f32, scale = 1.250000e-01 : f64, causal = true>
    ```
    The operands are q, k, v, with `has_bias = true` the bias, with
    `has_offset = true` the offset, with a dropout the state, then out and logsumexp; with `gradient =
    true` instead logsumexp, delta, the cotangent, dq, dk and dv. `scale` is 1
    where it is absent. What each field means says `AttentionShape` in
    `llmc/Runtime/Base/Library.h`.

    Constraints: one index each of row, column, depth and value; `accumulate`
    is f32 or f64; a stride of the bias, of dq, dk and dv or of bits only where there
    is one; a shift and an offset only of what is causal.
  }];
  let parameters = (ins ArrayRefParameter<"::llmc::plan::AttentionDimAttr">:$dims, "::mlir::Type":$accumulate,
                        OptionalParameter<"::mlir::FloatAttr">:$scale,
                        DefaultValuedParameter<"bool", "false">:$gradient,
                        DefaultValuedParameter<"bool", "false">:$safe,
                        DefaultValuedParameter<"bool", "false">:$causal,
                        DefaultValuedParameter<"int64_t", "0">:$shift,
                        DefaultValuedParameter<"bool", "false">:$has_offset,
                        DefaultValuedParameter<"bool", "false">:$has_bias,
                        OptionalParameter<"::llmc::plan::DropoutAttr">:$dropout);
  let assemblyFormat = "`<` custom<AttentionDims>($dims) `,` struct($accumulate, $scale, $gradient, $safe, $causal, $shift, $has_offset, $has_bias, $dropout) `>`";
  let genVerifyDecl = 1;
}

def Plan_ArgsortAttr : Plan_Attr<"Argsort", "argsort",
    [DeclareAttrInterfaceMethods<Plan_LibraryDescriptorInterface>]> {
  let summary = "the positions of the first elements along one dim, in order";
  let description = [{
    ```mlir
    #plan.argsort<outer = 4, size = 50000, inner = 1, count = 8, descending = [true]>
    ```
    The operands are the keys, one for each flag, row-major [outer, size, inner],
    and the result [outer, count, inner]. What each field means says
    `llmc/Runtime/Base/ArgsortShape.h`.

    Constraints: at least one key; numbers of at least 0; a size below 2^31 and
    a count of at most the size.
  }];
  let parameters = (ins "int64_t":$outer, "int64_t":$size, "int64_t":$inner, "int64_t":$count,
                        "::mlir::DenseBoolArrayAttr":$descending);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_GroupedContractionAttr : Plan_Attr<"GroupedContraction", "grouped_contraction",
    [DeclareAttrInterfaceMethods<Plan_LibraryDescriptorInterface>]> {
  let summary = "a contraction for each group of rows";
  let description = [{
    ```mlir
    #plan.grouped_contraction<product = <[<m, 64, a = 6, c = 10>, <n, 10, b = 1, c = 1>, <k, 6, a = 1, b = 10>],
        accumulate = f32>, rows = 0, num_sizes = 8, groups = 8, stride = 60>
    ```
    The operands are a, b, the sizes, with `has_first = true` the first groups,
    and c. `rows` is the number of the dim that counts rows. What each field means says
    `GroupedContractionShape` in `llmc/Runtime/Base/Library.h`.

    Constraints: rows that are a dim m or k; numbers of at least 0; a product
    without bias, alpha and activation.
  }];
  let parameters = (ins "::llmc::plan::ContractionAttr":$product, "int64_t":$rows, "int64_t":$num_sizes,
                        "int64_t":$groups, "int64_t":$stride,
                        DefaultValuedParameter<"bool", "false">:$has_own_sizes,
                        DefaultValuedParameter<"bool", "false">:$has_first);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_MessageAttr : Plan_Attr<"Message", "message"> {
  let summary = "what goes along a transfer";
  let description = [{
    `#plan.message<@t0, peer = <add(coordinate("pipe"), 1)>, operands = [...]>`;
    the peer is the stage of the other end.

    Constraints: at least one operand.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$transfer, "::llmc::plan::ExprAttr":$peer,
                        ArrayRefParameter<"::llmc::plan::OperandAttr">:$operands);
  let assemblyFormat = "`<` $transfer `,` `peer` `=` $peer `,` `operands` `=` `[` $operands `]` `>`";
  let genVerifyDecl = 1;
}

def Plan_TableAttr : Plan_Attr<"Table", "table"> {
  let summary = "what each stage runs in each row";
  let description = [{
    `#plan.table<["0.0 .", "0.1 2.0", "1.0 3.0"]>`: a string for each row of
    time, a word for each stage: program (by position in the op's list) and
    microbatch, or `.`.

    Constraints: at least one stage, rows of equal length.
  }];
  let parameters = (ins "int64_t":$numStages, ArrayRefParameter<"::llmc::plan::Cell">:$cells);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumRows() const;
    llvm::ArrayRef<Cell> getRow(int64_t row) const;
  }];
}

def Plan_InputAttr : Plan_Attr<"Input", "input"> {
  let summary = "data of a microbatch that an entry takes";
  let description = [{
    `#plan.input<"tokens", tensor<8x128xi32>, layout = #dist.layout<...>,
    stages = [0], data = #dist.data<"corpus">>`: the type is that of the whole
    microbatch; `data` is the source that feeds it (absent: the caller does).

    Constraints: a name; a static shape without encoding; stages ascending.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::RankedTensorType":$type,
                        OptionalParameter<"::mlir::Attribute">:$layout,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$stages,
                        OptionalParameter<"::mlir::Attribute">:$data);
  let assemblyFormat = "`<` $name `,` $type (`,` struct($layout, $stages, $data)^)? `>`";
  let genVerifyDecl = 1;
}

def Plan_FetchAttr : Plan_Attr<"Fetch", "fetch"> {
  let summary = "a tensor that an entry returns";
  let description = [{
    `#plan.fetch<"logits", tensor<8x10xf32>, layout = ..., stages = [1],
    each_microbatch = true>`. A box of a tensor names it, where the box begins
    and the tensor's shape:
    `#plan.fetch<"grad.W.1", tensor<4x4xf32>, part_of = "grad.W", origin = [0, 4],
    whole = [4, 8]>`.

    Constraints: a name; a static shape without encoding; stages ascending; of a
    box all three, and it lies in the tensor.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::RankedTensorType":$type,
                        OptionalParameter<"::mlir::Attribute">:$layout,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$stages,
                        DefaultValuedParameter<"bool", "false">:$each_microbatch,
                        OptionalParameter<"::mlir::StringAttr">:$part_of,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$origin,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$whole);
  let assemblyFormat = [{
    `<` $name `,` $type
    (`,` struct($layout, $stages, $each_microbatch, $part_of, $origin, $whole)^)? `>`
  }];
  let genVerifyDecl = 1;
}

def Plan_MetricAttr : Plan_Attr<"Metric", "metric"> {
  let summary = "a scalar that an entry returns once in a step";
  let description = [{
    `#plan.metric<"loss", f32>`.

    Constraints: a name; an element type that the runtime knows.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::Type":$dtype);
  let assemblyFormat = "`<` $name `,` $dtype `>`";
  let genVerifyDecl = 1;
}

#endif // LLMC_DIALECT_PLAN_IR_PLANATTRS
