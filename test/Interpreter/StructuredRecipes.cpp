//===- StructuredRecipes.cpp - Random contraction, reduction, indexing ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RandomPrograms.h.
//
//===----------------------------------------------------------------------===//

#include "ProgramWriter.h"

using namespace llmc::test;

/// x [.., k, ..] with a matrix [k, 3], or with itself over all but one dim.
void llmc::test::addDot(Writer &w) {
  int x = w.bounded(w.anyOfRank(2));
  int64_t batch = w.anyDim(x), contract = w.anyDim(x);
  int y = w.unary("cosine", x);
  std::string dims;
  Shape to;
  if (batch != contract) {
    dims = "batching_dims = [" + std::to_string(batch) + "] x [" +
           std::to_string(batch) + "], ";
    to.push_back(w.shape(x)[batch]);
  }
  for (int side = 0; side < 2; ++side)
    for (int64_t d = 0; d < static_cast<int64_t>(w.shape(x).size()); ++d)
      if (d != contract && (batch == contract || d != batch))
        to.push_back(w.shape(x)[d]);
  if (to.size() > 5)
    return;
  int z =
      w.visible(w.call("dot_general",
                       w.name(x) + ", " + w.name(y) + ", " + dims +
                           "contracting_dims = [" + std::to_string(contract) +
                           "] x [" + std::to_string(contract) + "]",
                       w.typeOf(x) + ", " + w.typeOf(y), to),
                to);
  w.bounded(z);
}

static void addReduceOf(Writer &w, const char *op, const std::string &initial) {
  int x = w.anyOfRank(1);
  int64_t dim = w.anyDim(x);
  Shape to = w.shape(x);
  to.erase(to.begin() + dim);
  std::string start = w.splat({}, initial);
  int y = w.visible("stablehlo.reduce(" + w.name(x) + " init: " + start +
                        ") applies stablehlo." + op + " across dimensions = [" +
                        std::to_string(dim) + "] : (" + w.typeOf(x) + ", " +
                        w.type({}) + ") -> " + w.type(to),
                    to);
  w.bounded(y);
}

void llmc::test::addReduceAdd(Writer &w) { addReduceOf(w, "add", "0.0"); }
void llmc::test::addReduceMax(Writer &w) { addReduceOf(w, "maximum", "-9.0"); }
void llmc::test::addReduceMin(Writer &w) { addReduceOf(w, "minimum", "9.0"); }
void llmc::test::addReduceMultiply(Writer &w) {
  addReduceOf(w, "multiply", "1.0");
}

void llmc::test::addGather(Writer &w) {
  int x = w.anyOfRank(2);
  Shape to = w.shape(x), sizes = to, offsets;
  std::string indices = w.rowIndices(to[0], 3);
  to[0] = 3;
  sizes[0] = 1;
  for (size_t d = 1; d < to.size(); ++d)
    offsets.push_back(d);
  w.visible("\"stablehlo.gather\"(" + w.name(x) + ", " + indices +
                ") <{dimension_numbers = #stablehlo.gather<offset_dims = [" +
                joined(offsets) +
                "], collapsed_slice_dims = [0], start_index_map = [0], "
                "index_vector_dim = 1>, slice_sizes = array<i64: " +
                joined(sizes) + ">}> : (" + w.typeOf(x) +
                ", tensor<3x1xi32>) -> " + w.type(to),
            to);
}

void llmc::test::addScatter(Writer &w) {
  int x = w.anyOfRank(2);
  Shape part = w.shape(x), windows;
  std::string indices = w.rowIndices(part[0], part[0]);
  for (size_t d = 1; d < part.size(); ++d)
    windows.push_back(d);
  int update = w.unary("sine", x);
  std::string scalar = w.type({});
  int y = w.visible(
      "\"stablehlo.scatter\"(" + w.name(x) + ", " + indices + ", " +
          w.name(update) +
          ") <{scatter_dimension_numbers = #stablehlo.scatter<"
          "update_window_dims = [" +
          joined(windows) +
          "], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
          "index_vector_dim = 1>}> ({\n  ^bb0(%a: " +
          scalar + ", %b: " + scalar + "):\n    %s = stablehlo.add %a, %b : " +
          scalar + "\n    stablehlo.return %s : " + scalar + "\n  }) : (" +
          w.typeOf(x) + ", tensor<" + std::to_string(part[0]) + "x1xi32>, " +
          w.typeOf(update) + ") -> " + w.typeOf(x),
      w.shape(x));
  w.bounded(y);
}
