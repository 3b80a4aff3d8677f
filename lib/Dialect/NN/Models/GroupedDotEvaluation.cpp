//===- GroupedDotEvaluation.cpp - Plain evaluation of grouped_dot ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each product of two elements goes to the element of the result that it is a
// term of; sums are in double or in 64 bits.
//
// Test: test/Dialect/NN/Models/GroupedDotTest.cpp
//===----------------------------------------------------------------------===//

#include "GroupedDotSides.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;

namespace {
/// A walk over some dims of several tensors, in elements.
struct GroupedWalk {
  SmallVector<int64_t> shape;
  SmallVector<SmallVector<int64_t>> steps;

  /// `dims` has one list for each of `tensors`, all of one length; a dim of -1
  /// is one that the tensor lacks.
  GroupedWalk(ArrayRef<const HostTensor *> tensors,
              ArrayRef<SmallVector<int64_t>> dims) {
    for (size_t i = 0; i < dims.front().size(); ++i) {
      shape.push_back(1);
      steps.emplace_back();
      for (auto [tensor, list] : llvm::zip_equal(tensors, dims)) {
        bool isThere = list[i] >= 0;
        steps.back().push_back(isThere ? tensor->getStrides()[list[i]] : 0);
        if (isThere)
          shape.back() = tensor->getShape()[list[i]];
      }
    }
  }
  /// Calls `visit` with the index and the places in the tensors.
  template <typename Visit>
  void forEach(ArrayRef<int64_t> begin, Visit visit) const {
    if (llvm::is_contained(shape, 0))
      return;
    SmallVector<int64_t> index(shape.size(), 0);
    do {
      SmallVector<int64_t> places(begin);
      for (auto [at, step] : llvm::zip_equal(index, steps))
        for (auto [place, each] : llvm::zip_equal(places, step))
          place += at * each;
      visit(index, places);
    } while (nextIndex(index, shape));
  }
};

/// The group of each row of each list less the first one, -1 for none.
class GroupOfRows {
public:
  /// What is wrong with the sizes, or nothing.
  std::string read(const HostTensor &sizes, int64_t rows) {
    int64_t count = sizes.getShape().back();
    numLists = 1;
    for (int64_t size : sizes.getShape().drop_back())
      numLists *= size;
    for (int64_t list = 0; list < numLists; ++list) {
      std::vector<int64_t> &groups = ofRows.emplace_back();
      for (int64_t group = 0; group < count; ++group) {
        int64_t size = sizes.getInt(list * count + group),
                before = groups.size();
        if (size < 0 || size > rows - before)
          return "expected groups of at least 0 rows and at most " +
                 std::to_string(rows) + " together, got " +
                 std::to_string(size) + " of group " + std::to_string(group) +
                 " behind " + std::to_string(before);
        groups.insert(groups.end(), size, group);
      }
      groups.resize(rows, -1);
    }
    return "";
  }
  int64_t get(int64_t batch, int64_t row) const {
    return ofRows[numLists == 1 ? 0 : batch][row];
  }

private:
  int64_t numLists = 1;
  std::vector<std::vector<int64_t>> ofRows;
};

class GroupedProducts {
public:
  GroupedProducts(GroupedDotOp op, EvaluationCall &call)
      : op(op), call(call), sides(op), result(op.getType()) {}

  LogicalResult run();

private:
  void listDims();
  template <typename Visit> void forEachTerm(Visit visit);

  GroupedDotOp op;
  EvaluationCall &call;
  GroupedSides sides;
  HostTensor result;
  GroupOfRows groups;
  /// Dims of the walk in both sides and in the result.
  SmallVector<int64_t> left, right, out;
};
} // namespace

void GroupedProducts::listDims() {
  left = sides.lhsBatch;
  right = sides.rhsBatch;
  out = sides.getBatchOfResult();
  auto add = [&](ArrayRef<int64_t> l, ArrayRef<int64_t> r,
                 ArrayRef<int64_t> o) {
    size_t most = std::max({l.size(), r.size(), o.size()});
    for (auto [list, all] : {std::pair(&left, l), {&right, r}, {&out, o}}) {
      llvm::append_range(*list, all);
      list->append(most - all.size(), -1);
    }
  };
  add(sides.lhsFree, {}, sides.getLeftOfResult());
  add({}, sides.rhsFree, sides.getRightOfResult());
  add(sides.lhsContracting, sides.rhsContracting, {});
}

/// Calls `visit` with the places in both sides and in the result.
template <typename Visit> void GroupedProducts::forEachTerm(Visit visit) {
  const HostTensor &x = call.operands[0], &y = call.operands[1];
  auto [value, matrixDim] = getMatrices(op);
  bool isOfResult = value == op.getResult();
  const HostTensor &matrices = isOfResult ? result : y;
  int64_t stride = matrices.getStrides()[matrixDim],
          count = matrices.getShape()[matrixDim];
  size_t rows = llvm::find(left, sides.rows) - left.begin();
  GroupedWalk walk({&x, &y, &result}, {left, right, out});
  walk.forEach(
      {0, 0, 0}, [&](ArrayRef<int64_t> index, SmallVectorImpl<int64_t> &at) {
        int64_t batch = 0;
        for (size_t i = 0; i < sides.lhsBatch.size(); ++i)
          batch = batch * walk.shape[i] + index[i];
        int64_t group = groups.get(batch, index[rows]);
        int64_t first = op.getFirst() ? call.operands[3].getInt(batch) : 0;
        if (group < 0 || group < first || group - first >= count)
          return;
        at[isOfResult ? 2 : 1] += (group - first) * stride;
        visit(at);
      });
}

LogicalResult GroupedProducts::run() {
  const HostTensor &x = call.operands[0], &y = call.operands[1];
  std::string error = groups.read(call.operands[2], x.getShape()[sides.rows]);
  if (!error.empty())
    return emitRefusal(op, rt::ErrorKind::mismatch) << error;
  listDims();
  std::vector<double> floats(result.getNumElements());
  std::vector<int64_t> integers(result.getNumElements());
  if (result.isFloat())
    forEachTerm([&](ArrayRef<int64_t> at) {
      floats[at[2]] += x.getFloat(at[0]) * y.getFloat(at[1]);
    });
  else
    forEachTerm([&](ArrayRef<int64_t> at) {
      integers[at[2]] += x.getInt(at[0]) * y.getInt(at[1]);
    });
  for (int64_t i = 0; i < result.getNumElements(); ++i)
    result.isFloat() ? result.setFloat(i, floats[i])
                     : result.setInt(i, integers[i]);
  call.results.push_back(std::move(result));
  return success();
}

LogicalResult nn::evaluateGroupedDot(GroupedDotOp op, EvaluationCall &call) {
  return GroupedProducts(op, call).run();
}
