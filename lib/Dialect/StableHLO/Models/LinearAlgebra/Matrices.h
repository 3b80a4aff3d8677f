//===- Matrices.h - What the ops of matrices share --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix is the last two dimensions of a tensor; those before number
// matrices. Rows are the last dimension but one.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_MATRICES_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_MATRICES_H

#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"

namespace llmc::stablehlo {

//===----------------------------------------------------------------------===//
// Graph ops
//===----------------------------------------------------------------------===//

/// Rows and columns of each matrix exchanged.
Value transposeMatrices(OpBuilder &b, Location loc, Value x);

/// Products of matrices, summed over the columns of both, x yᵀ, or over the
/// rows of both, xᵀ y.
enum class Summed { Columns, Rows };
Value multiplyMatrices(OpBuilder &b, Location loc, Value x, Value y,
                       Summed summed);

/// Rows of the largest matrix whose factor or equation is one kernel. What has
/// more is written out in blocks before kernels are formed: halves of halves,
/// whose products run at the speed of the library. With half of it steps are
/// shorter by a quarter, and compiling takes twice as long (rationale.md).
constexpr int64_t blockRows = 32;

/// Columns of the largest panel whose factors with pivots are one kernel, which
/// goes over all its rows and columns in each step.
constexpr int64_t panelColumns = 32;

/// Where `size` rows or columns, more than `block`, are halved: after the most,
/// but not all, that are a block doubled again and again, so that the halves of
/// all levels have few shapes.
int64_t halve(int64_t size, int64_t block);

/// Some rows and columns of each matrix.
struct MatrixPart {
  int64_t row, column, rows, columns;
};
Value takePart(OpBuilder &b, Location loc, Value x, MatrixPart part);

/// Matrices one below the other, and one beside the other.
Value joinRows(OpBuilder &b, Location loc, ValueRange xs);
Value joinColumns(OpBuilder &b, Location loc, ValueRange xs);

/// Which elements of a matrix a triangle has: of `lower` those whose row is at
/// least their column, without the diagonal if `strict`. i1 of x's shape.
Value makeTriangle(OpBuilder &b, Location loc, Value x, bool lower,
                   bool strict);

/// `x` where the triangle is, else 0.
Value keepTriangle(OpBuilder &b, Location loc, Value x, bool lower,
                   bool strict);

/// f32 for floats that are narrower, else the type itself.
Type getWideElement(Type element);

//===----------------------------------------------------------------------===//
// Rule and evaluation
//===----------------------------------------------------------------------===//

/// The dims that number matrices pass through all operands and results.
void addMatrixNumbers(graph::ShardingRule &rule, RankedTensorType type);

/// All elements, and back: row-major.
std::vector<double> loadElements(const HostTensor &tensor);
HostTensor storeElements(RankedTensorType type, ArrayRef<double> elements);

/// Of all devices: more matrices.
template <typename Op>
struct MoreMatrices
    : graph::BatchingOpInterface::ExternalModel<MoreMatrices<Op>, Op> {
  LogicalResult buildBatched(mlir::Operation *, graph::BatchForm &form) const {
    form.cloneAlong(form.getAxes());
    return llvm::success();
  }
};

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

/// Positions and elements of one update (Kernel.h).
struct UpdateMath {
  OpBuilder &b;
  Location loc;

  Value index(int64_t value) const;
  Value add(Value x, Value y) const;
  Value sub(Value x, Value y) const;
  Value isLess(Value x, Value y) const;
  Value isEqual(Value x, Value y) const;
  Value either(Value x, Value y) const;
  Value both(Value x, Value y) const;
  Value choose(Value condition, Value yes, Value no) const;
  Value number(Type element, double value) const;
};

/// `indices` without the last `count`, and `more`.
SmallVector<Value> replaceLast(mlir::ValueRange indices, size_t count,
                               mlir::ValueRange more);

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void registerCholeskyModel(mlir::DialectRegistry &registry);
void registerLuModels(mlir::DialectRegistry &registry);
void registerTriangularSolveModel(mlir::DialectRegistry &registry);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_MATRICES_H
