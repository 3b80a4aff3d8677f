//===- StableHLOComplexOps.td - Complex numbers and Fourier transforms ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The import splits each complex value into its real and its imaginary part,
// and replaces these ops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_STABLEHLOCOMPLEXOPS_TD
#define LLMC_DIALECT_STABLEHLO_IR_STABLEHLOCOMPLEXOPS_TD

include "llmc/Dialect/StableHLO/IR/StableHLOElementwiseOps.td"

def StableHLO_ComplexOp : StableHLO_Op<"complex", [Pure, ElementwiseShape]> {
  let summary = "Complex numbers of given parts";
  let description = [{
    Constraints: operands and result have one shape; the result is complex, and the
    operands have the element type of its parts.
  }];
  let arguments = (ins FloatTensor:$lhs, FloatTensor:$rhs);
  let results = (outs ComplexTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<PartTypes>(type($lhs), type($rhs), type($result))
  }];
  let hasVerifier = 1;
}

/// Of a real number the number itself, and 0.
class StableHLO_PartOp<string mnemonic, string text>
    : StableHLO_Op<mnemonic, [Pure, ElementwiseShape]> {
  let summary = text;
  let description = [{
    Constraints: operand and result have one shape; the result has the operand's
    element type, or that of the parts of a complex one.
  }];
  let arguments = (ins FloatOrComplexTensor:$operand);
  let results = (outs FloatTensor:$result);
  let assemblyFormat =
      "$operand attr-dict `:` custom<SameTypes>(type($operand), type($result))";
  let hasVerifier = 1;
}

def StableHLO_RealOp : StableHLO_PartOp<"real", "Real part">;
def StableHLO_ImagOp : StableHLO_PartOp<"imag", "Imaginary part">;

def StableHLO_FftOp : StableHLO_Op<"fft", [Pure]> {
  let summary = "Discrete Fourier transform over the last dimensions";
  let description = [{
    `FFT` sums x[j] exp(-2 pi i j k / n); `IFFT` with the other sign, divided by n.
    `RFFT` takes real numbers and returns the first n/2 + 1 results of the last
    dimension, which determine the others; `IRFFT` is its inverse.

    Constraints: 1 to 3 lengths, of the last dimensions in order; the operand is
    real for `RFFT` and complex otherwise, the result real for `IRFFT`, of the
    same precision; the last dimension of the complex side of a real transform has
    size length/2 + 1, or 0 where the length is 0.
  }];
  let arguments = (ins FloatOrComplexTensor:$operand, StableHLO_FftTypeAttr:$fft_type,
                       DenseI64ArrayAttr:$fft_length);
  let results = (outs FloatOrComplexTensor:$result);
  let assemblyFormat = [{
    $operand `,` `type` `=` custom<TransformKind>($fft_type) `,`
    `length` `=` $fft_length attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // LLMC_DIALECT_STABLEHLO_IR_STABLEHLOCOMPLEXOPS_TD
