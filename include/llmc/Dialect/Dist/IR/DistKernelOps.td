//===- DistKernelOps.td - Launches and library calls -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels, and what program bodies hold once they are formed (phase 7).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_DISTKERNELOPS
#define LLMC_DIALECT_DIST_IR_DISTKERNELOPS

include "llmc/Dialect/Dist/IR/DistLayoutOps.td"

def Dist_KernelGroup : OpDocGroup {
  let summary = "Kernels";
  let description = "Formed kernels, their uses, and calls of libraries.";
}

def Dist_ArgumentAttr : Dist_Attr<"Argument", "argument"> {
  let summary = "an argument of a kernel: what it is, and what is done with it";
  let description = [{
    `#dist.argument<read, tensor<24xf32>>`: memory of 24 elements; `write` and
    `readwrite` likewise. The element type is that of the graph: in memory it is
    signless, and i1 takes a byte. `#dist.argument<scalar, i32, 4>`: a number of
    0, 1, 2 or 3 that each launch gives.

    Constraints: memory is a tensor of one static dimension and without layout,
    whose elements are numbers, and has no bound; a scalar is an integer with a
    bound of at least 1.
  }];
  let parameters = (ins "Access":$access, "::mlir::Type":$type,
                        DefaultValuedParameter<"int64_t", "0">:$bound);
  let assemblyFormat = "`<` $access `,` $type (`,` $bound^)? `>`";
  let extraClassDeclaration = [{
    bool isScalar() const { return getAccess() == Access::Scalar; }
    /// The type in the signature of the kernel's code: a flat memref of the
    /// elements as they lie in memory, an index for a scalar.
    ::mlir::Type getCodeType() const;
  }];
  let genVerifyDecl = 1;
}

def Dist_LaunchShapeAttr : Dist_Attr<"LaunchShape", "launch_shape"> {
  let summary = "how the rows of a kernel fall to threads";
  let description = [{
    `#dist.launch_shape<rows = 4, threads = 128, shared = 1024, align = 16>`:
    128 threads with 1024 bytes that they share compute 4 rows, so a call begins
    at a multiple of 4; memory begins at multiples of 16 bytes, or of the
    element's size where that is more. On processors all are as by default.

    Constraints: rows and threads at least 1, shared at least 0; align is a
    power of two up to 64.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "1">:$rows, DefaultValuedParameter<"int64_t", "1">:$threads,
                        DefaultValuedParameter<"int64_t", "0">:$shared, DefaultValuedParameter<"int64_t", "1">:$align);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Dist_WindowAttr : Dist_Attr<"Window", "window"> {
  let summary = "how the window of a convolution moves along one spatial dim";
  let description = [{
    `#dist.window<stride = 2, low = 1, lhs_dilation = 1, rhs_dilation = 2>`: at
    place p, element j of the right side meets element i of the left side, where
    lhs_dilation * i = stride * p + rhs_dilation * j - low; nothing is met
    between and beyond the elements. With `reversed = true`, j counts from the
    end. All are as in `stablehlo.convolution`.

    Constraints: stride and dilations at least 1.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "1">:$stride, DefaultValuedParameter<"int64_t", "0">:$low,
                        DefaultValuedParameter<"int64_t", "1">:$lhs_dilation,
                        DefaultValuedParameter<"int64_t", "1">:$rhs_dilation,
                        DefaultValuedParameter<"bool", "false">:$reversed);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

let opDocGroup = Dist_KernelGroup in {

def Dist_KernelOp : Dist_SymbolOp<"kernel", [Dist_SymbolUser]> {
  let summary = "what a kernel says of itself";
  let description = [{
    ```mlir
    dist.kernel @k_3f2a(read tensor<24xf32>, scalar i32 below 4, write tensor<6xf32>) for "cpu" rows(6) scratch(64) by @k_3f2a_cpu
    func.func private @k_3f2a_cpu(%x: memref<24xf32>, %c: index, %y: memref<6xf32>, %begin: index, %end: index, %scratch: memref<64xi8>) { ... }
    ```
    Stands beside its code in the module `@kernels`. The arguments are the
    operands of a launch, then its results that are not tied, in order; what is
    tied is one argument that is read and written (`readwrite`). The code
    computes the rows [begin, end) of `rows`, 1 where it cannot be sliced, with
    `scratch` bytes for the call. `for` is the target that the code is written
    for, as plans name it; `launch` says how it is started, where that is not as
    on processors. Made by kernel formation, becomes an entry of the
    manifest.

    Constraints: a target; rows and scratch at least 0; the code is a function
    beside the kernel, without results, whose arguments are those of the kernel,
    two indices, and a memref of `scratch` bytes.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypedArrayAttrBase<Dist_ArgumentAttr, "array of arguments">:$arguments,
                       StrAttr:$target, DefaultValuedAttr<Dist_I64Attr, "1">:$rows,
                       DefaultValuedAttr<Dist_I64Attr, "0">:$scratch, OptionalAttr<Dist_LaunchShapeAttr>:$shape,
                       FlatSymbolRefAttr:$code);
  let assemblyFormat = [{
    $sym_name `` custom<Arguments>($arguments) `for` $target (`rows` `(` $rows^ `)`)? (`scratch` `(` $scratch^ `)`)?
    (`launch` $shape^)? `by` $code attr-dict
  }];
  let extraClassDeclaration = [{
    /// Arguments of the code after those of the kernel: begin, end, scratch.
    static constexpr unsigned kNumCallArguments = 3;
    /// The arguments, typed.
    auto getArgumentRange() { return getArguments().getAsRange<ArgumentAttr>(); }
    ::mlir::FunctionType getCodeType();
  }];
  let hasVerifier = 1;
}

def Dist_LaunchOp : Dist_Op<"launch", [Pure]> {
  let summary = "runs a formed kernel";
  let description = [{
    ```mlir
    %h, %s = dist.launch @kernels::@k_3f2a(%a, %b) {tied = [[0, 1] ], scratch = 64 : i64}
        : (tensor<4x6xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4xf32>)
    ```
    `tied` lists (result, operand) pairs that share a buffer: the kernel works
    in place. `scratch` is in bytes, as the kernel states it. The kernel is a
    `dist.kernel` of the module `@kernels`. Made by kernel formation, becomes `plan.kernel`.

    Constraints: tied pairs are in range, no result and no operand twice, with types of
    equal size in bytes; scratch at least 0.
  }];
  let arguments = (ins SymbolRefAttr:$kernel, Variadic<AnyType>:$inputs, OptionalAttr<ArrayAttr>:$tied,
                       DefaultValuedAttr<Dist_I64Attr, "0">:$scratch);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
  let extraClassDeclaration = [{
    /// Pairs (result, operand) that share a buffer.
    llvm::SmallVector<std::pair<int64_t, int64_t>> getTiedPairs();
  }];
  let hasVerifier = 1;
}

def Dist_ContractOp : Dist_Op<"contract", [Pure, AttrSizedOperandSegments]> {
  let summary = "a contraction done by a library, with an optional accumulator or bias";
  let description = [{
    ```mlir
    %y = dist.contract %x, %w batch [] x [] contracting [1] x [0]
        : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %g = dist.contract %x, %dy plus %acc batch [] x [] contracting [0] x [0]
        : (tensor<4x4xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %z = dist.contract %x, %w bias %b batch [] x [] contracting [1] x [0]
        : (tensor<4x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
    ```
    Dims of the result: batch, those left of the left side, those left of the
    right side. The accumulator shares the result's buffer (beta = 1). The bias
    is added to the sums and repeated along all dims but those left of the right
    side, which it has in their order; dims of size 1 do not count. Sums are made
    in the result's element type or wider. Made by kernel formation, becomes
    `plan.library`.

    Constraints: dims in range, none twice; paired dims have equal sizes; the
    result has the dims stated; the accumulator has the result's type; the bias
    has its element type and the dims left of the right side; both sides have the
    same element type, or floats of eight bits; no accumulator beside a bias.
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, Optional<AnyRankedTensor>:$accumulator,
                       Optional<AnyRankedTensor>:$bias,
                       DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch,
                       DenseI64ArrayAttr:$lhs_contracting, DenseI64ArrayAttr:$rhs_contracting);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`plus` $accumulator^)? (`bias` $bias^)? `batch` $lhs_batch `x` $rhs_batch
    `contracting` $lhs_contracting `x` $rhs_contracting attr-dict `:` functional-type(operands, $result)
  }];
  let extraClassDeclaration = [{
    /// Dims that are left of the right side, the last of the result.
    int64_t getNumRightDims();
  }];
  let hasVerifier = 1;
}

def Dist_ConvolveOp : Dist_Op<"convolve", [Pure, AttrSizedOperandSegments]> {
  let summary = "a convolution done by a library, with an optional accumulator or bias";
  let description = [{
    ```mlir
    %y = dist.convolve %x, %w dims [0, 3, 1, 2] x [2, 3, 0, 1] -> [0, 3, 1, 2]
        windows [#dist.window<stride = 2, low = 1>, #dist.window<stride = 2, low = 1>]
        : (tensor<8x32x32x3xf32>, tensor<3x3x3x16xf32>) -> tensor<8x16x16x16xf32>
    %g = dist.convolve %x, %dy plus %acc dims [3, 0, 1, 2] x [0, 3, 1, 2] -> [2, 3, 0, 1]
        windows [#dist.window<low = 1>, #dist.window<low = 1>]
        : (tensor<8x32x32x4xf32>, tensor<8x32x32x16xf32>, tensor<3x3x4x16xf32>) -> tensor<3x3x4x16xf32>
    ```
    The lists name batch, features and spatial dims of the left side; input
    features, output features and spatial dims of the right side, the kernel;
    batch, features and spatial dims of the result. With feature groups, group g
    of the output features sees group g of the left side's features only, with
    batch groups group g of its batch. Where windows stand, see `#dist.window`:
    the result says at how many places. The accumulator shares the result's
    buffer; the bias has the result's features and is added to the sums, which
    are made in the result's element type or wider. Made by kernel formation,
    becomes `plan.library`.

    Constraints: lists of one length, each of all dims of its tensor; a window
    for each spatial dim; group counts at least 1, one of them 1, that divide
    what they split; batches and features of equal sizes in all tensors; both
    sides have the same element type or floats of 8 bits; the accumulator has the result's type, the
    bias its element type and as many elements as it has features; no
    accumulator beside a bias.
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, Optional<AnyRankedTensor>:$accumulator,
                       Optional<AnyRankedTensor>:$bias,
                       DenseI64ArrayAttr:$lhs_dims, DenseI64ArrayAttr:$rhs_dims, DenseI64ArrayAttr:$result_dims,
                       TypedArrayAttrBase<Dist_WindowAttr, "array of windows">:$windows,
                       DefaultValuedAttr<Dist_I64Attr, "1">:$feature_groups,
                       DefaultValuedAttr<Dist_I64Attr, "1">:$batch_groups);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`plus` $accumulator^)? (`bias` $bias^)? `dims` $lhs_dims `x` $rhs_dims `->` $result_dims
    `windows` $windows (`feature_groups` `(` $feature_groups^ `)`)? (`batch_groups` `(` $batch_groups^ `)`)?
    attr-dict `:` functional-type(operands, $result)
  }];
  let extraClassDeclaration = [{
    int64_t getGroups() { return getFeatureGroups() * getBatchGroups(); }
    auto getWindowRange() { return getWindows().getAsRange<WindowAttr>(); }
  }];
  let hasVerifier = 1;
}

def Dist_ArgsortOp : Dist_Op<"argsort", [Pure]> {
  let summary = "an argsort done by a library";
  let description = [{
    ```mlir
    %p = dist.argsort %x dim 1 descending [true] : (tensor<4x50000xf32>) -> tensor<4x8xi32>
    ```
    `nn.argsort` on buffers. Made by kernel formation, becomes `plan.library`.

    Constraints: keys of one shape, which has the dim with less than 2^31 elements,
    and a flag for each of them; the result has that shape, with at most as many
    elements along the dim, of i32.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$keys, Dist_I64Attr:$dim, DenseBoolArrayAttr:$descending);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $keys `dim` $dim `descending` $descending attr-dict `:` functional-type($keys, $result)
  }];
  let hasVerifier = 1;
}

def Dist_ContractGroupsOp : Dist_Op<"contract_groups", [Pure, AttrSizedOperandSegments]> {
  let summary = "a product of each group of rows with its own matrix, done by a library";
  let description = [{
    ```mlir
    %y = dist.contract_groups %x, %w, %sizes batch [] x [] contracting [1] x [1] rows 0 groups 0
        : (tensor<64x6xf32>, tensor<8x6x10xf32>, tensor<8xi32>) -> tensor<64x10xf32>
    %g = dist.contract_groups %x, %dy, %sizes plus %acc batch [] x [] contracting [0] x [0] rows 0
        : (tensor<64x6xf32>, tensor<64x10xf32>, tensor<8xi32>, tensor<8x6x10xf32>) -> tensor<8x6x10xf32>
    ```
    `nn.grouped_dot` on buffers. The accumulator shares the result's buffer.
    Made by kernel formation, becomes `plan.library`.

    Constraints: as `nn.grouped_dot`; both sides have the same element type, and
    the accumulator has the result's type.
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, AnyRankedTensor:$sizes,
                       Optional<AnyRankedTensor>:$first, Optional<AnyRankedTensor>:$accumulator,
                       DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch,
                       DenseI64ArrayAttr:$lhs_contracting, DenseI64ArrayAttr:$rhs_contracting,
                       I64Attr:$rows, OptionalAttr<I64Attr>:$groups);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $sizes (`first` $first^)? (`plus` $accumulator^)? `batch` $lhs_batch `x` $rhs_batch
    `contracting` $lhs_contracting `x` $rhs_contracting `rows` $rows (`groups` $groups^)?
    attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

def Dist_AttendOp : Dist_Op<"attend", [Pure, AttrSizedOperandSegments]> {
  let summary = "an attention done by a library";
  let description = [{
    ```mlir
    %y, %lse = dist.attend %q, %k, %v scale 1.250000e-01 causal 0 dims [0, 2, 1, 3], [0, 2, 1, 3], [0, 2, 1, 3]
        : (tensor<8x128x12x64xf32>, tensor<8x128x12x64xf32>, tensor<8x128x12x64xf32>)
        -> (tensor<8x12x128x64xf32>, tensor<8x12x128xf32>)
    ```
    `nn.attention` on buffers: the lists say which dim of query, key and value
    is the first, second ... of those that `nn.attention` has, so that permuted
    tensors are read where they lie. Made by kernel formation, becomes
    `plan.library`.

    Constraints: each list has each dim of its tensor once; the key has a rank
    of 2 at least, the value its rank, the query no less; state, strides and
    dropout together, with a stride for each dim of the query. What the dims hold the
    plan's verifier checks.
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
                       Optional<AnyRankedTensor>:$bias, Optional<AnyRankedTensor>:$offset,
                       Optional<AnyRankedTensor>:$state, OptionalAttr<DenseI64ArrayAttr>:$bit_strides,
                       OptionalAttr<Dist_DropoutAttr>:$dropout,
                       F64Attr:$scale, OptionalAttr<I64Attr>:$causal, UnitAttr:$safe,
                       DenseI64ArrayAttr:$query_dims, DenseI64ArrayAttr:$key_dims, DenseI64ArrayAttr:$value_dims);
  let results = (outs AnyRankedTensor:$result, AnyRankedTensor:$logsumexp);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` $bias^)? (`offset` $offset^)?
    (`dropout` $state^ `strides` $bit_strides $dropout)? `scale` $scale (`causal` $causal^)?
    (`safe` $safe^)? `dims` $query_dims `,` $key_dims `,` $value_dims attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Dist_AttendGradOp : Dist_Op<"attend_grad", [Pure, AttrSizedOperandSegments]> {
  let summary = "cotangents of an attention, done by a library";
  let description = [{
    ```mlir
    %dq, %dk, %dv = dist.attend_grad %q, %k, %v, %lse, %delta, %g scale 1.250000e-01
        dims [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]
        : (tensor<8x128x64xf32>, tensor<8x128x64xf32>, tensor<8x128x64xf32>, tensor<8x128xf32>, tensor<8x128xf32>,
           tensor<8x128x64xf32>) -> (tensor<8x128x64xf32>, tensor<8x128x64xf32>, tensor<8x128x64xf32>)
    ```
    `nn.attention_grad` on buffers, as `dist.attend`; the last list is of the
    cotangent.

    Constraints: as `dist.attend`.
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
                       AnyRankedTensor:$logsumexp, AnyRankedTensor:$delta, AnyRankedTensor:$cotangent,
                       Optional<AnyRankedTensor>:$bias, Optional<AnyRankedTensor>:$offset,
                       Optional<AnyRankedTensor>:$state, OptionalAttr<DenseI64ArrayAttr>:$bit_strides,
                       OptionalAttr<Dist_DropoutAttr>:$dropout,
                       F64Attr:$scale, OptionalAttr<I64Attr>:$causal, UnitAttr:$safe,
                       DenseI64ArrayAttr:$query_dims, DenseI64ArrayAttr:$key_dims, DenseI64ArrayAttr:$value_dims,
                       DenseI64ArrayAttr:$cotangent_dims);
  let results = (outs AnyRankedTensor:$dquery, AnyRankedTensor:$dkey, AnyRankedTensor:$dvalue);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $logsumexp `,` $delta `,` $cotangent (`bias` $bias^)? (`offset` $offset^)?
    (`dropout` $state^ `strides` $bit_strides $dropout)? `scale` $scale (`causal` $causal^)? (`safe` $safe^)?
    `dims` $query_dims `,` $key_dims `,` $value_dims `,` $cotangent_dims attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_DIST_IR_DISTKERNELOPS
