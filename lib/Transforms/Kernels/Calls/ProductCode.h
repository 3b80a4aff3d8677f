//===- ProductCode.h - One sum of products, in code -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an index stands in the operands of a product, how elements become
// terms, and sums elements.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_CALLS_PRODUCTCODE_H
#define LLMC_LIB_TRANSFORMS_KERNELS_CALLS_PRODUCTCODE_H

#include "ProductForm.h"

namespace llmc::kernels {

/// Offsets in elements, and the positions along the windows.
struct ProductWalk {
  Value a, b, c, bias;
  Values positions;
};

class ProductCode {
public:
  ProductCode(GridCode &code, const Product &product);

  /// Where the row-major position `index` of `dims` stands.
  ProductWalk walk(ArrayRef<ProductDim> dims, Value index);
  /// Where windows begin, and nothing else is moved.
  ProductWalk start();
  ProductWalk add(const ProductWalk &left, const ProductWalk &right);

  /// The element of a or b as a term; zero where `isIn` is false.
  Value loadTerm(Value memory, rt::DType type, Value at, Value isIn);
  /// The element of a at `at`, which windows may leave out.
  Value loadLeft(Value memory, const ProductWalk &at, Value isIn);
  /// sum + left * right.
  Value multiplyAdd(Value left, Value right, Value sum);
  Value addSums(Value left, Value right);
  Value zero();
  /// What `c` gets of a sum, with what it had and the bias where there are
  /// such.
  void storeSum(Value sum, const ProductWalk &at, Value bias, Value c);

  Type getSumType() const { return sumType; }

private:
  Value toSum(Value element, rt::DType type);
  Value fromSum(Value sum, Type type);

  GridCode &code;
  const Product &product;
  Type sumType;
};

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_CALLS_PRODUCTCODE_H
