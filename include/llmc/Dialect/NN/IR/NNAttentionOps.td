//===- NNAttentionOps.td - Scaled dot-product attention ----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention and its gradient as ops of their own, so that a library computes
// them in tiles and no matrix of queries by keys is stored.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_NN_IR_NNATTENTIONOPS
#define LLMC_DIALECT_NN_IR_NNATTENTIONOPS

def NN_AttentionGroup : OpDocGroup {
  let summary = "Attention";
  let description = [{
    Attention without its matrix of scores. What a device's library is asked for
    is `AttentionShape` in `llmc/Runtime/Base/Library.h`.
  }];
}

let opDocGroup = NN_AttentionGroup in {

def NN_AttentionOp : NN_Op<"attention", [AttrSizedOperandSegments]> {
  let summary = "softmax(scale * query key^T + bias) value";
  let description = [{
    ```mlir
    %out, %lse = nn.attention %q, %k, %v scale 1.250000e-01 causal 0
        : (tensor<8x12x128x64xf32>, tensor<8x12x128x64xf32>, tensor<8x12x128x64xf32>)
        -> (tensor<8x12x128x64xf32>, tensor<8x12x128xf32>)
    %out, %lse = nn.attention %q, %k, %v bias %b scale 1.250000e-01 safe
        : (tensor<8x2x6x128x64xf32>, tensor<8x2x128x64xf32>, tensor<8x2x128x64xf32>, tensor<8x1x1x1x128xf32>)
        -> (tensor<8x2x6x128x64xf32>, tensor<8x2x6x128xf32>)
    %out, %lse = nn.attention %q, %k, %v dropout %state strides [16384, 128, 1]
        <jax32 below 3865470566 factor 1.111111e+00> scale 1.250000e-01
        : (tensor<8x128x64xf32>, tensor<8x128x64xf32>, tensor<8x128x64xf32>, tensor<2xui64>)
        -> (tensor<8x128x64xf32>, tensor<8x128xf32>)
    ```
    Vaswani et al. 2017, section 3.2.1. Dims of the key are batches ..., columns,
    depth; of the value batches ..., columns, values; of the query batches ...,
    groups ..., rows, depth: several groups of queries share a key and a value
    (Ainslie et al. 2023). The result has the query's dims with values in place
    of the depth.

        s[row, column] = scale * sum over depth of query * key + bias
        s[row, column] = -inf  where causal and column > row + shift + offset
        logsumexp[row] = log(sum over columns of exp(s))
        result[row]    = sum over columns of exp(s - logsumexp) * value

    A row that sees no column, as all its scores are -inf, has a logsumexp of -inf
    and is NaN; where `safe`, it is 0, as PyTorch has it. The number after `causal` is the shift; the
    offset is what a device adds that has a part of the rows. In `stablehlo`: two
    contractions, a softmax between them.

    With a dropout exp(s - logsumexp) is multiplied by its factor or dropped, by
    the random bits of the counter state[1] + the sum over dims of the scores of
    position * stride under the key state[0]. They are those of a place in the
    whole tensor: a device that has a part adds to state[1] where it begins.

    Made by raising in phase 1; becomes a call of a library.

    Constraints: ranks as said; query, key, value and result have one element
    type; logsumexp has the result's dims without the last, and is f64 for f64,
    else f32; each dim of the bias is that of the scores, or 1; an offset only
    where causal; state, strides and dropout together, with a stride of at least 0
    for each dim of the scores.
  }];
  let arguments = (ins NN_FloatTensor:$query, NN_FloatTensor:$key, NN_FloatTensor:$value,
                       Optional<NN_FloatTensor>:$bias, Optional<NN_IntegerTensor>:$offset,
                       Optional<NN_StateTensor>:$state, OptionalAttr<DenseI64ArrayAttr>:$bit_strides,
                       OptionalAttr<NN_DropoutAttr>:$dropout,
                       F64Attr:$scale, OptionalAttr<I64Attr>:$causal, UnitAttr:$safe);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$logsumexp);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` $bias^)? (`offset` $offset^)?
    (`dropout` $state^ `strides` $bit_strides $dropout)? `scale` $scale
    (`causal` $causal^)? (`safe` $safe^)? attr-dict `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$key, "::mlir::Value":$value,
                                 "::mlir::Value":$bias, "double":$scale, "std::optional<int64_t>":$causal,
                                 "bool":$safe)>];
  let extraClassDeclaration = [{
    /// Dims that the query shares with key and value, and those it has alone.
    int64_t getNumBatches() { return getKey().getType().getRank() - 2; }
    int64_t getNumGroups() { return getQuery().getType().getRank() - 2 - getNumBatches(); }
    /// The query's dims with columns in place of the depth.
    ::mlir::SmallVector<int64_t> getScoreShape();
  }];
  let hasVerifier = 1;
}

def NN_AttentionGradOp : NN_Op<"attention_grad", [AttrSizedOperandSegments]> {
  let summary = "cotangents of query, key and value of an attention";
  let description = [{
    ```mlir
    %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %lse, %delta, %g scale 1.250000e-01 causal 0
        : (tensor<8x128x64xf32>, tensor<8x128x64xf32>, tensor<8x128x64xf32>, tensor<8x128xf32>, tensor<8x128xf32>,
           tensor<8x128x64xf32>) -> (tensor<8x128x64xf32>, tensor<8x128x64xf32>, tensor<8x128x64xf32>)
    ```
    With s as in `nn.attention`, g the cotangent of its result and delta, for
    each row, the sum of g * result less the cotangent of logsumexp (Dao et al.
    2022, algorithm 4):

        p  = exp(s - logsumexp),  ds = p * (g value^T - delta)
        dq = scale * ds key,  dk = scale * ds^T query,  dv = p^T g

    where dk and dv are sums over the groups. With a dropout of factors m, 0 where
    a weight is dropped, ds = p * (m * g value^T - delta) and dv = (m * p)^T g. Where `safe`, p is 0 in a row whose
    logsumexp is -inf. The scores are made again from query and key.

    Constraints: as `nn.attention`; logsumexp and delta alike; g as its result;
    the results as query, key and value.
  }];
  let arguments = (ins NN_FloatTensor:$query, NN_FloatTensor:$key, NN_FloatTensor:$value,
                       NN_FloatTensor:$logsumexp, NN_FloatTensor:$delta, NN_FloatTensor:$cotangent,
                       Optional<NN_FloatTensor>:$bias, Optional<NN_IntegerTensor>:$offset,
                       Optional<NN_StateTensor>:$state, OptionalAttr<DenseI64ArrayAttr>:$bit_strides,
                       OptionalAttr<NN_DropoutAttr>:$dropout,
                       F64Attr:$scale, OptionalAttr<I64Attr>:$causal, UnitAttr:$safe);
  let results = (outs NN_FloatTensor:$dquery, NN_FloatTensor:$dkey, NN_FloatTensor:$dvalue);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $logsumexp `,` $delta `,` $cotangent (`bias` $bias^)? (`offset` $offset^)?
    (`dropout` $state^ `strides` $bit_strides $dropout)? `scale` $scale (`causal` $causal^)? (`safe` $safe^)?
    attr-dict `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "::llmc::nn::AttentionOp":$forward, "::mlir::Value":$delta,
                                 "::mlir::Value":$cotangent)>];
  let extraClassDeclaration = [{
    int64_t getNumBatches() { return getKey().getType().getRank() - 2; }
    int64_t getNumGroups() { return getQuery().getType().getRank() - 2 - getNumBatches(); }
    ::mlir::SmallVector<int64_t> getScoreShape();
  }];
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_NN_IR_NNATTENTIONOPS
