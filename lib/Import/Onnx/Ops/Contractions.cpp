//===- Contractions.cpp - Products of matrices ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transposition of an operand is a choice of the contracted dimension, and
// never an op.
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

/// One operand of MatMul with the leading dimensions `batch`.
static Value withBatch(NodeImport &node, Value x, ArrayRef<int64_t> batch) {
  SmallVector<int64_t> shape(batch);
  shape.append(shapeOf(x).end() - 2, shapeOf(x).end());
  return node.broadcast(x, shape);
}

/// Of two operands of rank 2 and more.
static rt::Result<Value> multiply(NodeImport &node, Value x, Value y) {
  int64_t left = rankOf(x) - 2, right = rankOf(y) - 2;
  if (shapeOf(x)[left + 1] != shapeOf(y)[right])
    return node.refuse("expected a product of matrices that fit, got " +
                       show(x.getType()) + " and " + show(y.getType()));
  MLIRContext *context = node.b.getContext();
  // A weight for all of the batch: no batch dimension at all.
  if (right == 0)
    return hlo::dotGeneral(node.b, node.loc, x, y,
                           hlo::dotDims(context, {}, {}, {left + 1}, {0}));
  SmallVector<int64_t> batch(std::max(left, right), 1);
  auto size = static_cast<int64_t>(batch.size());
  for (auto [rank, value] : {std::pair(left, x), std::pair(right, y)})
    for (int64_t i = 0; i < rank; ++i) {
      int64_t &at = batch[size - rank + i], other = shapeOf(value)[i];
      if (at != other && at != 1 && other != 1)
        return node.refuse("expected leading dimensions that fit, got " +
                           show(x.getType()) + " and " + show(y.getType()));
      at = at == 1 ? other : at;
    }
  x = withBatch(node, x, batch);
  y = withBatch(node, y, batch);
  SmallVector<int64_t> dims = range(0, size);
  return hlo::dotGeneral(node.b, node.loc, x, y,
                         hlo::dotDims(context, dims, dims, {size + 1}, {size}));
}

static rt::Status importMatMul(NodeImport &node) {
  Value x = node.input(0), y = node.input(1);
  bool isLeftVector = rankOf(x) == 1, isRightVector = rankOf(y) == 1;
  if (rankOf(x) == 0 || rankOf(y) == 0)
    return node.refuse("expected vectors or matrices, got " +
                       show(x.getType()) + " and " + show(y.getType()));
  if (isLeftVector)
    x = hlo::reshape(node.b, node.loc, x, {1, shapeOf(x)[0]});
  if (isRightVector)
    y = hlo::reshape(node.b, node.loc, y, {shapeOf(y)[0], 1});
  LLMC_TRY_ASSIGN(Value product, multiply(node, x, y));
  SmallVector<int64_t> shape(shapeOf(product));
  if (isRightVector)
    shape.pop_back();
  if (isLeftVector)
    shape.erase(shape.end() - (isRightVector ? 1 : 2));
  return node.finish({hlo::reshape(node.b, node.loc, product, shape)});
}

static Value scaled(NodeImport &node, Value x, double factor) {
  return factor == 1 ? x : hlo::mul(node.b, node.loc, x, node.like(x, factor));
}

/// alpha A B + beta C.
static rt::Status importGemm(NodeImport &node) {
  if (node.rank(0) != 2 || node.rank(1) != 2)
    return node.refuse("expected two matrices, got " +
                       show(Type(node.type(0))) + " and " +
                       show(Type(node.type(1))));
  int64_t left = node.getInt("transA", 0) ? 0 : 1;
  int64_t right = node.getInt("transB", 0) ? 1 : 0;
  if (node.shape(0)[left] != node.shape(1)[right])
    return node.refuse("expected a product of matrices that fit, got " +
                       show(Type(node.type(0))) + " and " +
                       show(Type(node.type(1))));
  Value product = hlo::dotGeneral(
      node.b, node.loc, node.input(0), node.input(1),
      hlo::dotDims(node.b.getContext(), {}, {}, {left}, {right}));
  product = scaled(node, product, node.getFloat("alpha", 1));
  double beta = node.getFloat("beta", 1);
  if (!node.has(2) || beta == 0)
    return node.finish({product});
  LLMC_TRY_ASSIGN(SmallVector<int64_t> shape,
                  node.broadcastShape({product, node.input(2)}));
  if (ArrayRef<int64_t>(shape) != shapeOf(product))
    return node.refuse("expected a third operand that can be repeated to " +
                       show(product.getType()) + ", got " +
                       show(Type(node.type(2))));
  Value bias = node.broadcast(scaled(node, node.input(2), beta), shape);
  return node.finish({hlo::add(node.b, node.loc, product, bias)});
}

void onnx::addContractionOps(OpTable &table) {
  table["MatMul"] = {importMatMul, 2, 2, kNewestKnown};
  table["Gemm"] = {importGemm, 2, 3, kNewestKnown};
}
