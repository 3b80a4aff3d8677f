//===- StepValues.cpp - Scalars and sums of a step ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StepValues.h.
//
//===----------------------------------------------------------------------===//

#include "StepValues.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"
#include <cstring>

using namespace mlir;
using namespace llmc;

HostTensor llmc::makeScalar(Type type, double value) {
  HostTensor tensor(getElementTypeOrSelf(type), ArrayRef<int64_t>());
  tensor.setFloat(0, value);
  return tensor;
}

FailureOr<HostTensor> llmc::evaluateHyper(
    Operation *from, const SymbolTable &symbols, FlatSymbolRefAttr name,
    const llvm::StringMap<double> &externals, int64_t step, uint64_t seed) {
  auto hyper = symbols.lookup<dist::HyperOp>(name.getValue());
  if (!hyper)
    return from->emitOpError()
           << "expected a 'dist.hyper' named '" << name.getValue() << "'";
  rt::HyperRule rule = dist::getRuntimeRule(hyper.getRule());
  if (rule.kind == rt::HyperKind::external) {
    auto value = externals.find(name.getValue());
    if (value == externals.end())
      return emitRefusal(hyper, rt::ErrorKind::usage)
             << "expected a value from outside for '" << name.getValue()
             << "', got none";
    rule.base = value->second;
  }
  return makeScalar(hyper.getType(), rt::evaluate(rule, step, seed));
}

Type llmc::getAccumulateType(dist::StateOp state, Type gradient) {
  if (state && state.getRow() && state.getRow()->getAccumulate())
    return state.getRow()->getAccumulate();
  auto type = dyn_cast<FloatType>(gradient);
  if (type && type.getWidth() < 32)
    return Float32Type::get(gradient.getContext());
  return gradient;
}

HostTensor llmc::convertElements(const HostTensor &tensor, Type type) {
  if (tensor.getElementType() == type)
    return tensor;
  HostTensor result(type, tensor.getShape());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    result.setFloat(i, tensor.getFloat(i));
  return result;
}

void llmc::convertTo(HostTensor &tensor, Type type) {
  tensor = convertElements(tensor, type);
}

void llmc::convertTo(DeviceTensors &tensors, Type type) {
  for (HostTensor &tensor : tensors)
    if (tensor)
      convertTo(tensor, type);
}

void llmc::addTo(HostTensor &sum, const HostTensor &value, Type type) {
  if (!sum) {
    sum = convertElements(value, type);
    return;
  }
  for (int64_t i = 0; i < sum.getNumElements(); ++i)
    if (sum.isFloat())
      sum.setFloat(i, sum.getFloat(i) + value.getFloat(i));
    else
      sum.setInt(i, sum.getInt(i) + value.getInt(i));
}

void llmc::addTo(DeviceTensors &sum, const DeviceTensors &value, Type type) {
  sum.resize(value.size());
  for (auto [total, term] : llvm::zip_equal(sum, value))
    if (term)
      addTo(total, term, type);
}

void llmc::addCounts(const NamedTensors &counts,
                     llvm::StringMap<double> &totals) {
  for (auto &[name, value] : counts)
    totals[name.getValue()] += value.isFloat()
                                   ? value.getFloat(0)
                                   : static_cast<double>(value.getInt(0));
}

/// Calls `visit` with the byte positions in whole and part of each element of
/// the box.
static void walkBox(const HostTensor &whole, const HostTensor &part,
                    ArrayRef<int64_t> offsets,
                    llvm::function_ref<void(int64_t, int64_t)> visit) {
  if (part.getNumElements() == 0)
    return;
  SmallVector<int64_t> strides = whole.getStrides();
  SmallVector<int64_t> index(part.getShape().size());
  int64_t size = part.getElementBytes(), at = 0;
  do {
    int64_t position = 0;
    for (auto [i, offset, stride] : llvm::zip_equal(index, offsets, strides))
      position += (i + offset) * stride;
    visit(position * size, at);
    at += size;
  } while (nextIndex(index, part.getShape()));
}

HostTensor llmc::cutBox(const HostTensor &whole, RankedTensorType type,
                        ArrayRef<int64_t> offsets) {
  HostTensor part(type);
  char *out = part.mutableBytes();
  walkBox(whole, part, offsets, [&](int64_t from, int64_t to) {
    std::memcpy(out + to, whole.bytes() + from, part.getElementBytes());
  });
  return part;
}

void llmc::pasteBox(HostTensor &whole, const HostTensor &part,
                    ArrayRef<int64_t> offsets) {
  char *out = whole.mutableBytes();
  walkBox(whole, part, offsets, [&](int64_t to, int64_t from) {
    std::memcpy(out + to, part.bytes() + from, part.getElementBytes());
  });
}
