//===- LockstepCollectives.cpp - What devices exchange --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LockstepCollectives.h.
//
//===----------------------------------------------------------------------===//

#include "LockstepCollectives.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llmc;

std::vector<std::vector<int64_t>> llmc::listGroups(const rt::Mesh &mesh,
                                                   ArrayRef<int32_t> axes) {
  std::vector<int32_t> list(axes.begin(), axes.end());
  std::vector<std::vector<int64_t>> groups;
  for (int64_t device = 0; device < mesh.numDevices(); ++device) {
    std::vector<int64_t> at = mesh.coordinatesOf(device);
    if (mesh.memberIndex(list, at) != 0)
      continue;
    std::vector<int64_t> &group = groups.emplace_back();
    for (int64_t i = 0; i < mesh.groupSize(list); ++i) {
      int64_t rest = i;
      for (size_t k = list.size(); k-- > 0;) {
        at[list[k]] = rest % mesh.axes[list[k]].size;
        rest /= mesh.axes[list[k]].size;
      }
      group.push_back(mesh.deviceAt(at));
    }
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// Parts of tensors
//===----------------------------------------------------------------------===//

/// Part number `i` of `n` equal ones along `dim`.
static HostTensor takePart(const HostTensor &tensor, int64_t dim, int64_t i,
                           int64_t n) {
  SmallVector<int64_t> shape(tensor.getShape());
  shape[dim] /= n;
  HostTensor part(tensor.getElementType(), shape);
  SmallVector<int64_t> from(shape.size()), to(shape.size());
  from[dim] = i * shape[dim];
  copyBox(tensor, from, part, to, shape);
  return part;
}

static HostTensor joinParts(ArrayRef<HostTensor> parts, int64_t dim) {
  SmallVector<int64_t> shape(parts.front().getShape());
  int64_t size = shape[dim];
  shape[dim] *= parts.size();
  HostTensor whole(parts.front().getElementType(), shape);
  SmallVector<int64_t> from(shape.size()), to(shape.size());
  for (auto [i, part] : llvm::enumerate(parts)) {
    to[dim] = i * size;
    copyBox(part, from, whole, to, part.getShape());
  }
  return whole;
}

namespace {
/// One buffer in one group.
struct Exchange {
  const rt::Mesh &mesh;
  std::vector<int32_t> axes;
  ArrayRef<int64_t> group;
  ArrayRef<HostTensor> inputs, counts;
  llvm::MutableArrayRef<HostTensor> outputs;

  int64_t size() const { return group.size(); }

  std::string run(dist::AllReduceOp op) {
    HostTensor sum = total(op.getKind());
    for (auto [input, output] : llvm::zip_equal(inputs, outputs))
      if (input)
        output = sum;
    return "";
  }

  std::string run(dist::ReduceScatterOp op) {
    if (std::string error = checkParts(op.getDim()); !error.empty())
      return error;
    HostTensor sum = total(op.getKind());
    for (int64_t i = 0; i < size(); ++i)
      outputs[i] = takePart(sum, op.getDim(), i, size());
    return "";
  }

  std::string run(dist::AllGatherOp op) {
    if (std::string error = checkAll(); !error.empty())
      return error;
    HostTensor whole = joinParts(inputs, op.getDim());
    llvm::fill(outputs, whole);
    return "";
  }

  std::string run(dist::AllToAllOp op) {
    if (std::string error = checkParts(op.getSplitDim()); !error.empty())
      return error;
    for (int64_t i = 0; i < size(); ++i) {
      SmallVector<HostTensor> parts;
      for (const HostTensor &input : inputs)
        parts.push_back(takePart(input, op.getSplitDim(), i, size()));
      outputs[i] = joinParts(parts, op.getConcatDim());
    }
    return "";
  }

  std::string run(dist::PermuteOp op) {
    if (std::string error = checkAll(); !error.empty())
      return error;
    if (op.getFrom()) {
      for (auto [output, source] : llvm::zip_equal(outputs, *op.getFrom()))
        output = inputs[source];
      return "";
    }
    std::vector<int32_t> to;
    for (auto axis : op.getTo()->getAsRange<StringAttr>())
      to.push_back(mesh.axisNamed(axis.str()));
    for (int64_t i = 0; i < size(); ++i)
      outputs[i] = inputs[mesh.memberIndex(to, mesh.coordinatesOf(group[i]))];
    return "";
  }

  std::string run(dist::BroadcastOp op) {
    for (auto [i, device] : llvm::enumerate(group))
      if (isAt(device, op.getFrom()))
        llvm::fill(outputs, inputs[i]);
    return "";
  }

  std::string run(dist::ReduceOp op) {
    HostTensor sum = total(op.getKind());
    for (auto [i, device] : llvm::enumerate(group))
      if (isAt(device, op.getTo()))
        outputs[i] = sum;
    return "";
  }

  /// Rows that come in, zero elsewhere.
  std::string run(dist::RaggedAllToAllOp op) {
    if (std::string error = checkAll(); !error.empty())
      return error;
    SmallVector<int64_t> shape(inputs.front().getShape());
    auto dim = static_cast<int64_t>(op.getDim());
    shape[dim] =
        cast<RankedTensorType>(op.getResult(0).getType()).getDimSize(dim);
    for (HostTensor &output : outputs)
      output = HostTensor(inputs.front().getElementType(), shape);
    int64_t outer = 1;
    for (int64_t batch : ArrayRef(shape).take_front(dim))
      outer *= batch;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t from = 0; from < size(); ++from)
        if (std::string error = sendRows(dim, o, from); !error.empty())
          return error;
    return "";
  }

  bool isAt(int64_t device, ArrayRef<int64_t> coordinates) const {
    std::vector<int64_t> at = mesh.coordinatesOf(device);
    for (auto [axis, coordinate] : llvm::zip_equal(axes, coordinates))
      if (at[axis] != coordinate)
        return false;
    return true;
  }

private:
  std::string sendRows(int64_t dim, int64_t outer, int64_t from);
  HostTensor total(ReductionKind kind) const {
    SmallVector<HostTensor> terms;
    for (const HostTensor &input : inputs)
      if (input)
        terms.push_back(input);
    return combineTensors(terms, kind);
  }
  /// Where each member has a part of its own, all must take part.
  std::string checkAll() const {
    for (auto [input, device] : llvm::zip_equal(inputs, group))
      if (!input)
        return "no value at device " + describeDevice(mesh, device);
    return "";
  }
  std::string checkParts(int64_t dim) const {
    if (std::string error = checkAll(); !error.empty())
      return error;
    if (inputs.front().getShape()[dim] % size() == 0)
      return "";
    return "dim " + std::to_string(dim) + " of size " +
           std::to_string(inputs.front().getShape()[dim]) +
           " is not divisible by " + std::to_string(size()) + " members";
  }
};
} // namespace

/// All slices of a member, at one index of the dims before its rows.
std::string Exchange::sendRows(int64_t dim, int64_t outer, int64_t from) {
  int64_t n = counts[from].getShape().back(), each = n / size();
  int64_t rowsIn = inputs[from].getShape()[dim],
          rowsOut = outputs[from].getShape()[dim];
  int64_t bytes =
      inputs[from].getStrides()[dim] * inputs[from].getElementBytes();
  auto at = [&](int64_t member, int64_t list, int64_t slice) {
    return counts[member].getInt((outer * 4 + list) * n + slice);
  };
  for (int64_t i = 0; i < n; ++i) {
    int64_t to = i / each, first = at(from, 0, i), count = at(from, 1, i),
            target = at(from, 2, i),
            expected = at(to, 3, from * each + i % each);
    bool isIn = count > 0 && first >= 0 && target >= 0 &&
                count <= std::min(rowsIn - first, rowsOut - target);
    if (count != expected || (count != 0 && !isIn))
      return "device " + describeDevice(mesh, group[from]) + " sends " +
             std::to_string(count) + " rows from row " + std::to_string(first) +
             " to row " + std::to_string(target) + " of device " +
             describeDevice(mesh, group[to]) + ", which expects " +
             std::to_string(expected) + " and has " + std::to_string(rowsOut);
    if (count > 0 && bytes > 0)
      std::memcpy(outputs[to].mutableBytes() +
                      (outer * rowsOut + target) * bytes,
                  inputs[from].bytes() + (outer * rowsIn + first) * bytes,
                  count * bytes);
  }
  return "";
}

std::string llmc::exchange(Operation *collective, const rt::Mesh &mesh,
                           ArrayRef<int32_t> axes, ArrayRef<int64_t> group,
                           ArrayRef<HostTensor> inputs,
                           ArrayRef<HostTensor> counts,
                           llvm::MutableArrayRef<HostTensor> outputs) {
  Exchange state{mesh,   {axes.begin(), axes.end()}, group, inputs, counts,
                 outputs};
  return llvm::TypeSwitch<Operation *, std::string>(collective)
      .Case<dist::AllReduceOp, dist::ReduceScatterOp, dist::AllGatherOp,
            dist::AllToAllOp, dist::PermuteOp, dist::BroadcastOp,
            dist::ReduceOp, dist::RaggedAllToAllOp>(
          [&](auto op) { return state.run(op); })
      .Default([](Operation *) { return "not a known collective"; });
}

bool llmc::isRead(Operation *collective, const rt::Mesh &mesh,
                  ArrayRef<int32_t> axes, int64_t device) {
  auto broadcast = dyn_cast<dist::BroadcastOp>(collective);
  if (!broadcast)
    return true;
  Exchange state{mesh, {axes.begin(), axes.end()}, {}, {}, {}, {}};
  return state.isAt(device, broadcast.getFrom());
}
