//===- Boxes.cpp - Between whole tensors and device buffers ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Boxes.h"
#include "llmc/Runtime/Base/SeededFault.h"

namespace llmc::rt::exec {

static std::vector<int64_t> rowMajor(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = strides.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  return strides;
}

/// Steps `index` to the next row (all dims but the last); false at the end.
static bool nextRow(std::vector<int64_t> &index,
                    const std::vector<int64_t> &size) {
  for (size_t i = index.size() - 1; i-- > 0;) {
    if (++index[i] < size[i]) {
      return true;
    }
    index[i] = 0;
  }
  return false;
}

static void visitBox(const Box &box, const Placement &placement,
                     const std::vector<int64_t> &localStrides,
                     const std::vector<int64_t> &globalStrides,
                     const RunVisitor &visit) {
  size_t rank = box.size.size();
  if (rank == 0) {
    visit({0, 0, 1});
    return;
  }
  for (int64_t size : box.size) {
    if (size == 0) {
      return;
    }
  }
  std::vector<int64_t> index(rank);
  do {
    ElementRun run{0, 0, box.size[rank - 1]};
    for (size_t i = 0; i < rank; ++i) {
      run.local += (box.local[i] + index[i]) * localStrides[i];
      int64_t first =
          isSeeded(Fault::boxOffsetIsForgotten) && i == 0 ? 0 : box.global[i];
      run.global += (placement.origin[i] + first + index[i]) * globalStrides[i];
    }
    if (localStrides[rank - 1] == 1 || run.length == 1) {
      visit(run);
      continue;
    }
    for (int64_t i = 0; i < box.size[rank - 1]; ++i) {
      visit({run.local + i * localStrides[rank - 1], run.global + i, 1});
    }
  } while (nextRow(index, box.size));
}

Status visitRuns(const Placement &placement, const Mesh &mesh,
                 const std::vector<int64_t> &coordinates,
                 const RunVisitor &visit, const Box *only) {
  std::vector<Box> boxes;
  if (only) {
    boxes = {*only};
  } else {
    LLMC_TRY_ASSIGN(boxes, placement.layout.boxes(mesh, coordinates));
  }
  std::vector<int64_t> localStrides = placement.strides;
  if (localStrides.empty()) {
    localStrides = rowMajor(placement.layout.localShape(mesh));
  }
  std::vector<int64_t> globalStrides = rowMajor(placement.shape);
  for (const Box &box : boxes) {
    visitBox(box, placement, localStrides, globalStrides, visit);
  }
  return Status::success();
}

} // namespace llmc::rt::exec
