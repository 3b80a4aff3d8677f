//===- GraphTensor.td - Constraints and traits of graph tensors -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The predicates of GraphTensor.h as ODS type constraints.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_GRAPHTENSOR_TD
#define LLMC_SUPPORT_GRAPHTENSOR_TD

include "mlir/IR/OpBase.td"

class GraphTensorOf<string predicate, string summary>
    : Type<CPred<"::llmc::" # predicate # "($_self)">, summary,
           "::mlir::RankedTensorType">;

def GraphTensor : GraphTensorOf<"isGraphTensor",
    "statically shaped tensor of i1, integers or floats below 2^63 bytes">;
def BoolTensor : GraphTensorOf<"isBoolTensor", "statically shaped tensor of i1">;
def IntTensor : GraphTensorOf<"isIntTensor", "statically shaped tensor of integers">;
def BoolOrIntTensor : GraphTensorOf<"isBoolOrIntTensor",
    "statically shaped tensor of i1 or integers">;
def FloatTensor : GraphTensorOf<"isFloatTensor", "statically shaped tensor of floats">;
def NumberTensor : GraphTensorOf<"isNumberTensor",
    "statically shaped tensor of integers or floats">;
def SignedTensor : GraphTensorOf<"isSignedTensor",
    "statically shaped tensor of signed integers or floats">;
def ScalarTensor : GraphTensorOf<"isScalarTensor", "tensor of rank 0">;
def IndexScalar : GraphTensorOf<"isIndexScalar", "integer tensor of rank 0">;

/// What texts may also hold until the import has split it into its parts.
def ComplexTensor : GraphTensorOf<"isComplexTensor",
    "statically shaped tensor of complex<f32> or complex<f64> below 2^63 bytes">;
class OrComplex<Type real>
    : Type<Or<[real.predicate, ComplexTensor.predicate]>,
           real.summary # " or of complex numbers", "::mlir::RankedTensorType">;
def GraphOrComplexTensor : OrComplex<GraphTensor>;
def FloatOrComplexTensor : OrComplex<FloatTensor>;
def NumberOrComplexTensor : OrComplex<NumberTensor>;
def SignedOrComplexTensor : OrComplex<SignedTensor>;
def ScalarOrComplexTensor : GraphTensorOf<"isScalarOrComplexTensor", "tensor of rank 0">;

class GraphTrait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::llmc";
}
def ElementwiseShape : GraphTrait<"ElementwiseShape">;
def UniformElement : GraphTrait<"UniformElement">;
def FixedElement : GraphTrait<"FixedElement">;

#endif // LLMC_SUPPORT_GRAPHTENSOR_TD
