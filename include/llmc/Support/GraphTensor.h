//===- GraphTensor.h - The tensors that graph-level ops compute on --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every graph dialect (stablehlo, chlo, nn) asks of its operand types, in
// one place: a ranked tensor of static shape whose byte size fits in int64.
// Shapes and element types are compared apart from encodings, because between
// the phases materialize and localize an operand and a result of one op may
// carry different layouts.
// GraphTensor.td wraps the predicates as type constraints and the two traits.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_GRAPHTENSOR_H
#define LLMC_SUPPORT_GRAPHTENSOR_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace llmc {

/// True for i1, iN and uiN with N in {2, 4, 8, 16, 32, 64}, and floats up to 64
/// bits that can be stored (no tf32). Signless integers are signed.
bool isGraphElement(mlir::Type type);

/// True for a ranked tensor of static shape and graph elements whose number of
/// bytes fits in int64.
bool isGraphTensor(mlir::Type type);

/// Graph tensors by element: i1; any integer but i1; either; a float; any
/// number but i1; a signed integer or float; a scalar; a scalar integer.
bool isBoolTensor(mlir::Type type);
bool isIntTensor(mlir::Type type);
bool isBoolOrIntTensor(mlir::Type type);
bool isFloatTensor(mlir::Type type);
bool isNumberTensor(mlir::Type type);
bool isSignedTensor(mlir::Type type);
bool isScalarTensor(mlir::Type type);
bool isIndexScalar(mlir::Type type);

/// A tensor as above, but of complex<f32> or complex<f64>: texts have such, and
/// programs do not.
bool isComplexTensor(mlir::Type type);
/// A scalar of a graph tensor or of a complex one.
bool isScalarOrComplexTensor(mlir::Type type);
/// True for complex<f32> and complex<f64>.
bool isComplexElement(mlir::Type type);

/// `type` without its encoding: what a computed result type starts from.
mlir::RankedTensorType withoutEncoding(mlir::Type type);

/// Ranked tensors of one shape, of one element type; encodings are not read.
/// Both return false when either type is no ranked tensor.
bool haveSameShape(mlir::Type lhs, mlir::Type rhs);
bool haveSameElement(mlir::Type lhs, mlir::Type rhs);

namespace detail {
mlir::LogicalResult verifyElementwiseShape(mlir::Operation *op);
mlir::LogicalResult verifyUniformElement(mlir::Operation *op);
} // namespace detail

/// All operands and results have the shape of the first result.
template <typename ConcreteOp>
class ElementwiseShape
    : public mlir::OpTrait::TraitBase<ConcreteOp, ElementwiseShape> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return detail::verifyElementwiseShape(op);
  }
};

/// All operands and results have the element type of the first result.
template <typename ConcreteOp>
class UniformElement
    : public mlir::OpTrait::TraitBase<ConcreteOp, UniformElement> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return detail::verifyUniformElement(op);
  }
};

/// What the op computes are the bits of its element types: computing in a wider
/// float changes the types around it, and not its own.
template <typename ConcreteOp>
class FixedElement : public mlir::OpTrait::TraitBase<ConcreteOp, FixedElement> {
};

} // namespace llmc

#endif // LLMC_SUPPORT_GRAPHTENSOR_H
