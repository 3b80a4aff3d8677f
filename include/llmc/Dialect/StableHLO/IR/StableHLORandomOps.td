//===- StableHLORandomOps.td - Random bits --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The import replaces both ops: random bits by arithmetic on counters, or by a
// refusal where there is no key.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_STABLEHLORANDOMOPS_TD
#define LLMC_DIALECT_STABLEHLO_IR_STABLEHLORANDOMOPS_TD

include "mlir/IR/OpAsmInterface.td"
include "llmc/Dialect/StableHLO/IR/StableHLOElementwiseOps.td"

def StableHLO_RngBitGeneratorOp : StableHLO_Op<"rng_bit_generator", [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "Random bits, a function of a key and counters";
  let description = [{
    The state is a key and the first counter; the new state has the counter that
    comes next. `DEFAULT` is `PHILOX`, as on XLA's CPU.

    Constraints: both states have one type, a vector of ui64 of 2 elements for
    `THREE_FRY`, of 2 or 3 for `PHILOX`; the output is of integers or floats.
  }];
  let arguments = (ins IntTensor:$initial_state, StableHLO_RngAlgorithmAttr:$rng_algorithm);
  let results = (outs IntTensor:$output_state, NumberTensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` custom<Algorithm>($rng_algorithm) attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_RngOp : StableHLO_Op<"rng"> {
  let summary = "Random numbers without a key";
  let description = [{
    Deprecated, and refused at import: each execution gives other numbers.

    Constraints: `a` and `b` are scalars of the result's element type; `shape` is a
    vector of i64 with one element for each dimension of the result.
  }];
  let arguments = (ins ScalarTensor:$a, ScalarTensor:$b, IntTensor:$shape,
                       StableHLO_RngDistributionAttr:$rng_distribution);
  let results = (outs GraphTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` custom<Distribution>($rng_distribution)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // LLMC_DIALECT_STABLEHLO_IR_STABLEHLORANDOMOPS_TD
