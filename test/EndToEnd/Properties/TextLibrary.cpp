//===- TextLibrary.cpp - Functions that JAX prints apart ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TextRegions.h. All give integers for integers.
//
//===----------------------------------------------------------------------===//

#include "TextRegions.h"

using namespace llmc::test::text;

namespace {
struct Function {
  Shape shape;
  std::string body;
  int next = 0;

  std::string line(const std::string &text) {
    std::string value = "%v" + std::to_string(next++);
    body += "    " + value + " = " + text + "\n";
    return value;
  }
  std::string constant(const std::string &value,
                       const std::string &element = "f64") {
    return line("stablehlo.constant dense<" + value + "> : tensor<" + element +
                ">");
  }
};
} // namespace

static const char *const kAddition =
    " ({\n    ^bb0(%p: tensor<f64>, %q: tensor<f64>):\n"
    "      %r = stablehlo.add %p, %q : tensor<f64>\n"
    "      stablehlo.return %r : tensor<f64>\n    })";

static std::string sort(Function &f, Draw &draw) {
  std::string dim = std::to_string(draw.below(f.shape.size()));
  const char *direction = draw.oneIn(2) ? "LT" : "GT";
  std::string type = typeOf(f.shape);
  return f.line("\"stablehlo.sort\"(%x) <{dimension = " + dim +
                " : i64, is_stable = true}> ({\n"
                "    ^bb0(%p: tensor<f64>, %q: tensor<f64>):\n"
                "      %r = stablehlo.compare " +
                direction +
                ", %p, %q, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>\n"
                "      stablehlo.return %r : tensor<i1>\n    }) : (" +
                type + ") -> " + type);
}

static std::string listOf(const std::vector<Shape> &rows) {
  std::string text;
  for (const Shape &row : rows)
    text += (text.empty() ? "[" : ", [") + join(row) + "]";
  return "[" + text + "]";
}

/// A cumulative sum from either end.
static std::string cumulate(Function &f, Draw &draw) {
  size_t dim = draw.below(f.shape.size());
  Shape window(f.shape.size(), 1);
  std::vector<Shape> padding(f.shape.size(), {0, 0});
  window[dim] = f.shape[dim];
  padding[dim][draw.below(2)] = f.shape[dim] - 1;
  std::string zero = f.constant("0.0"), type = typeOf(f.shape);
  return f.line(
      "\"stablehlo.reduce_window\"(%x, " + zero + ") <{padding = dense<" +
      listOf(padding) + "> : tensor<" + std::to_string(f.shape.size()) +
      "x2xi64>, window_dimensions = array<i64: " + join(window) + ">}>" +
      kAddition + " : (" + type + ", tensor<f64>) -> " + type);
}

/// The first dimension is a batch, the second a space, the rest features.
static std::string convolve(Function &f, Draw &draw) {
  int64_t features = 1;
  for (size_t d = 2; d < f.shape.size(); ++d)
    features *= f.shape[d];
  Shape flat = {f.shape[0], f.shape[1], features},
        kernel = {3, features, features};
  std::string x = f.line("stablehlo.reshape %x : (" + typeOf(f.shape) +
                         ") -> " + typeOf(flat));
  std::string k = f.line("stablehlo.constant dense<" +
                         std::string(draw.oneIn(2) ? "1.0" : "-1.0") +
                         "> : " + typeOf(kernel));
  std::string y = f.line(
      "stablehlo.convolution(" + x + ", " + k +
      ") dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, "
      "1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" +
      typeOf(flat) + ", " + typeOf(kernel) + ") -> " + typeOf(flat));
  return f.line("stablehlo.reshape " + y + " : (" + typeOf(flat) + ") -> " +
                typeOf(f.shape));
}

/// The sum of the rows before each row, by a loop over rows.
static std::string scan(Function &f, Draw &) {
  Shape row = f.shape, rest(f.shape.begin() + 1, f.shape.end());
  row[0] = 1;
  std::string zero = f.constant("0", "i32"), none = f.constant("0.0"),
              type = typeOf(f.shape), of = typeOf(rest), one = typeOf(row);
  std::string start = f.line("stablehlo.broadcast_in_dim " + none +
                             ", dims = [] : (tensor<f64>) -> " + of);
  std::string rows = f.line("stablehlo.broadcast_in_dim " + none +
                            ", dims = [] : (tensor<f64>) -> " + type);
  std::string starts, indices;
  for (size_t d = 1; d < f.shape.size(); ++d) {
    starts += ", " + zero;
    indices += ", tensor<i32>";
  }
  f.body +=
      "    %w:4 = stablehlo.while(%k = " + zero + ", %s = " + start +
      ", %y = " + rows + ", %z = %x) : tensor<i32>, " + of + ", " + type +
      ", " + type + "\n    cond {\n      %n = stablehlo.constant dense<" +
      std::to_string(f.shape[0]) +
      "> : tensor<i32>\n      %c = stablehlo.compare LT, %k, %n, SIGNED : "
      "(tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "      stablehlo.return %c : tensor<i1>\n    } do {\n"
      "      %e = stablehlo.dynamic_slice %z, %k" +
      starts + ", sizes = [" + join(row) + "] : (" + type + ", tensor<i32>" +
      indices + ") -> " + one + "\n      %g = stablehlo.reshape %e : (" + one +
      ") -> " + of + "\n      %t = stablehlo.add %s, %g : " + of +
      "\n      %h = stablehlo.reshape %s : (" + of + ") -> " + one +
      "\n      %u = stablehlo.dynamic_update_slice %y, %h, %k" + starts +
      " : (" + type + ", " + one + ", tensor<i32>" + indices + ") -> " + type +
      "\n      %i = stablehlo.constant dense<1> : tensor<i32>\n"
      "      %m = stablehlo.add %k, %i : tensor<i32>\n"
      "      stablehlo.return %m, %t, %u, %z : tensor<i32>, " +
      of + ", " + type + ", " + type + "\n    }\n";
  return "%w#2";
}

RegionTexts llmc::test::text::makeLibraryCall(const std::string &name,
                                              const Shape &shape, Draw &draw) {
  std::vector<std::string (*)(Function &, Draw &)> makers = {sort, cumulate,
                                                             scan};
  if (shape.size() >= 2)
    makers.push_back(convolve);
  Function f{shape};
  std::string result = draw.pick(makers)(f, draw);
  std::string type = typeOf(shape);
  std::string text = "  func.func private @" + name + "(%x: " + type + ") -> " +
                     type + " {\n" + f.body + "    return " + result + " : " +
                     type + "\n  }\n";
  return {text, text, text, shape};
}
