//===- EdgeRecipes.cpp - Random bodies, types, tables and empty tensors ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is legal and rare: bodies of reductions and scatters that use values
// from outside, contractions of two element types, constants of several hundred
// elements, dimensions of size 0. See RandomPrograms.h.
//
//===----------------------------------------------------------------------===//

#include "ProgramWriter.h"

using namespace llmc::test;

//===----------------------------------------------------------------------===//
// Bodies that use values from outside
//===----------------------------------------------------------------------===//

/// A scalar between -1 and 1 from outside of a body: a constant, one computed
/// from constants, or one computed from the arguments.
static std::string outerScalar(Writer &w) {
  std::string scalar = w.type({});
  int64_t kind = w.below(3);
  if (kind < 2) {
    std::string constant = w.splat({}, w.coin() ? "0.75" : "-0.5");
    return kind == 0
               ? constant
               : w.hidden("stablehlo.cosine " + constant + " : " + scalar);
  }
  int x = w.any();
  Shape dims;
  for (size_t d = 0; d < w.shape(x).size(); ++d)
    dims.push_back(d);
  std::string zero = w.splat({}, "0.0");
  std::string sum =
      w.hidden("stablehlo.reduce(" + w.name(x) + " init: " + zero +
               ") applies stablehlo.add across dimensions = [" + joined(dims) +
               "] : (" + w.typeOf(x) + ", " + scalar + ") -> " + scalar);
  return w.hidden("stablehlo.sine " + sum + " : " + scalar);
}

/// Lines that make %s of %a (accumulator), %b (element) and `outer`.
static std::string bodyWith(Writer &w, const std::string &outer,
                            bool isOrdered) {
  std::string scalar = w.type({});
  const char *inner[] = {"multiply", "add", "subtract"};
  std::string first = isOrdered ? "%a" : "%b", second = isOrdered ? "%b" : "%a";
  return "    %m = stablehlo." +
         std::string(inner[isOrdered ? 0 : w.below(3)]) + " " + first + ", " +
         outer + " : " + scalar + "\n    %n = stablehlo.tanh %m : " + scalar +
         "\n    %s = stablehlo.add " + second + ", %n : " + scalar + "\n";
}

static void addReduceOfBody(Writer &w, bool isOrdered) {
  int x = w.bounded(w.anyOfRank(1));
  int64_t dim = w.anyDim(x);
  Shape to = w.shape(x);
  to.erase(to.begin() + dim);
  std::string outer = outerScalar(w), start = w.splat({}, "0.0");
  std::string scalar = w.type({});
  int y =
      w.visible("stablehlo.reduce(" + w.name(x) + " init: " + start +
                    ") across dimensions = [" + std::to_string(dim) + "] : (" +
                    w.typeOf(x) + ", " + scalar + ") -> " + w.type(to) +
                    "\n   reducer(%a: " + scalar + ", %b: " + scalar + ") {\n" +
                    bodyWith(w, outer, isOrdered) +
                    "    stablehlo.return %s : " + scalar + "\n  }",
                to);
  w.bounded(y);
}

void llmc::test::addReduceWithOuter(Writer &w) {
  addReduceOfBody(w, /*isOrdered=*/false);
}

/// tanh(p * c) + e: the order of the elements matters.
void llmc::test::addReduceInOrder(Writer &w) {
  addReduceOfBody(w, /*isOrdered=*/true);
}

/// Adds or assigns a function of the update and of a value from outside.
void llmc::test::addScatterWithOuter(Writer &w) {
  int x = w.anyOfRank(2);
  Shape windows;
  for (size_t d = 1; d < w.shape(x).size(); ++d)
    windows.push_back(d);
  int64_t rows = w.shape(x)[0];
  std::string indices = w.rowIndices(rows, rows);
  int update = w.unary("sine", x);
  std::string scalar = w.type({}), outer = outerScalar(w);
  std::string body = bodyWith(w, outer, /*isOrdered=*/false);
  int y = w.visible(
      "\"stablehlo.scatter\"(" + w.name(x) + ", " + indices + ", " +
          w.name(update) +
          ") <{scatter_dimension_numbers = #stablehlo.scatter<"
          "update_window_dims = [" +
          joined(windows) +
          "], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
          "index_vector_dim = 1>}> ({\n  ^bb0(%a: " +
          scalar + ", %b: " + scalar + "):\n" + body + "    stablehlo.return " +
          (w.coin() ? "%s" : "%n") + " : " + scalar + "\n  }) : (" +
          w.typeOf(x) + ", tensor<" + std::to_string(rows) + "x1xi32>, " +
          w.typeOf(update) + ") -> " + w.typeOf(x),
      w.shape(x));
  w.bounded(y);
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// x [.., k, ..] with a narrower tensor of its shape, over one dim.
void llmc::test::addMixedDot(Writer &w) {
  int x = w.bounded(w.anyOfRank(1));
  int64_t contract = w.anyDim(x);
  const char *narrow[] = {"bf16", "f16", "f32"};
  std::string type =
      w.type(w.shape(x), narrow[w.below(w.element == "f64" ? 3 : 2)]);
  int y = w.unary("cosine", x);
  std::string z = w.hidden("stablehlo.convert " + w.name(y) + " : (" +
                           w.typeOf(y) + ") -> " + type);
  Shape to;
  for (int side = 0; side < 2; ++side)
    for (int64_t d = 0; d < static_cast<int64_t>(w.shape(x).size()); ++d)
      if (d != contract)
        to.push_back(w.shape(x)[d]);
  if (to.size() > 5)
    return;
  bool isLeft = w.coin();
  std::string dims = std::to_string(contract);
  int product = w.visible(
      w.call("dot_general",
             (isLeft ? z + ", " + w.name(x) : w.name(x) + ", " + z) +
                 ", contracting_dims = [" + dims + "] x [" + dims + "]",
             isLeft ? type + ", " + w.typeOf(x) : w.typeOf(x) + ", " + type,
             to),
      to);
  w.bounded(product);
}

/// "or" of "and" over one dim, as a number.
void llmc::test::addBoolDot(Writer &w) {
  int x = w.anyOfRank(1);
  int64_t contract = w.anyDim(x);
  Shape to;
  for (int side = 0; side < 2; ++side)
    for (int64_t d = 0; d < static_cast<int64_t>(w.shape(x).size()); ++d)
      if (d != contract)
        to.push_back(w.shape(x)[d]);
  if (to.size() > 5)
    return;
  std::string type = w.type(w.shape(x), "i1"), dim = std::to_string(contract);
  std::string left = w.condition(x), right = w.condition(x);
  left = w.hidden("stablehlo.or " + left + ", " + right + " : " + type);
  std::string product =
      w.hidden("stablehlo.dot_general " + left + ", " + right +
               ", contracting_dims = [" + dim + "] x [" + dim + "] : (" + type +
               ", " + type + ") -> " + w.type(to, "i1"));
  w.visible("stablehlo.convert " + product + " : (" + w.type(to, "i1") +
                ") -> " + w.type(to),
            to);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// A constant of `shape`'s trailing dims and enough rows for several hundred
/// elements, seen in `shape`; `elements` writes the value of so many elements.
template <typename Elements>
static std::string windowOfTable(Writer &w, const Shape &shape,
                                 const std::string &element,
                                 Elements elements) {
  int64_t row = 1;
  for (size_t d = 1; d < shape.size(); ++d)
    row *= shape[d];
  int64_t start = w.below(5), rows = std::max(shape[0] + start, 256 / row + 1);
  std::string line = w.type({rows * row}, element);
  std::string flat = w.hidden("stablehlo.constant dense<" +
                              elements(rows * row) + "> : " + line);
  Shape big = shape;
  big[0] = rows;
  std::string table = w.hidden("stablehlo.reshape " + flat + " : (" + line +
                               ") -> " + w.type(big, element));
  std::string ranges =
      std::to_string(start) + ":" + std::to_string(start + shape[0]);
  for (size_t d = 1; d < shape.size(); ++d)
    ranges += ", 0:" + std::to_string(shape[d]);
  return w.hidden("stablehlo.slice " + table + " [" + ranges + "] : (" +
                  w.type(big, element) + ") -> " + w.type(shape, element));
}

void llmc::test::addTable(Writer &w) {
  int x = w.anyOfRank(1);
  std::string part = windowOfTable(w, w.shape(x), w.element, [&](int64_t n) {
    std::string text = "[";
    for (int64_t i = 0; i < n; ++i)
      text += (i ? ", " : "") + std::to_string(w.below(512)) + ".0e-3";
    return text + "]";
  });
  w.binary("add", x, part);
}

/// A mask as JAX prints it (one byte an element), as MLIR 22 does (one bit), or
/// written out.
void llmc::test::addMask(Writer &w) {
  int x = w.anyOfRank(1), y = w.sameShape(x);
  std::string part = windowOfTable(w, w.shape(x), "i1", [&](int64_t n) {
    int64_t form = w.below(3);
    std::string text = form < 2 ? "\"0x" : "[";
    for (int64_t i = 0; i < n; ++i) {
      if (form == 0)
        text += w.coin() ? "01" : "00";
      else if (form == 1)
        text += i % 8 == 0 ? std::string{"0123456789ABCDEF"[w.below(16)],
                                         "0123456789ABCDEF"[w.below(16)]}
                           : "";
      else
        text += std::string(i ? ", " : "") + (w.coin() ? "true" : "false");
    }
    return text + (form < 2 ? "\"" : "]");
  });
  w.visible("stablehlo.select " + part + ", " + w.name(x) + ", " + w.name(y) +
                " : " + w.type(w.shape(x), "i1") + ", " + w.typeOf(x),
            w.shape(x));
}

//===----------------------------------------------------------------------===//
// Dimensions of size 0
//===----------------------------------------------------------------------===//

/// Nothing of x along one dim, then put to use where it changes nothing.
void llmc::test::addEmpty(Writer &w) {
  int x = w.anyOfRank(1);
  int64_t dim = w.anyDim(x);
  Shape none = w.shape(x), rest = none;
  std::string ranges;
  for (size_t d = 0; d < none.size(); ++d)
    ranges += std::string(d ? ", " : "") + "0:" +
              std::to_string(static_cast<int64_t>(d) == dim ? 0 : none[d]);
  none[dim] = 0;
  rest.erase(rest.begin() + dim);
  std::string cut = w.hidden(
      w.call("slice", w.name(x) + " [" + ranges + "]", w.typeOf(x), none));
  std::string empty = w.hidden("stablehlo.tanh " + cut + " : " + w.type(none));
  w.returned(empty, none);
  std::string start = w.splat({}, "0.0"), dims = std::to_string(dim);
  int64_t kind = w.below(3);
  if (kind == 0) {
    w.visible(w.call("concatenate",
                     empty + ", " + w.name(x) + ", dim = " + dims,
                     w.type(none) + ", " + w.typeOf(x), w.shape(x)),
              w.shape(x));
  } else if (kind == 1) {
    w.visible("stablehlo.reduce(" + empty + " init: " + start +
                  ") applies stablehlo.add across dimensions = [" + dims +
                  "] : (" + w.type(none) + ", " + w.type({}) + ") -> " +
                  w.type(rest),
              rest);
  } else if (2 * rest.size() <= 4) {
    Shape to = rest;
    to.insert(to.end(), rest.begin(), rest.end());
    w.visible(w.call("dot_general",
                     empty + ", " + empty + ", contracting_dims = [" + dims +
                         "] x [" + dims + "]",
                     w.type(none) + ", " + w.type(none), to),
              to);
  }
}
