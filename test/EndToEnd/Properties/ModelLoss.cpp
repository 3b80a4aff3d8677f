//===- ModelLoss.cpp - Losses of random models ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One mean or two, with constant divisors or over what a mask chooses.
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include <functional>
#include <numeric>

using namespace llmc::test::model;

/// 1 where the data is below a bound, else 0.
Value ModelWriter::chosen(int64_t bound, const Shape &shape) {
  std::string of = type(shape, hasTokens ? "i32" : "f64");
  std::string limit = line("stablehlo.constant dense<" + std::to_string(bound) +
                           (hasTokens ? "" : ".0") + "> : " + of);
  std::string below =
      line(std::string("stablehlo.compare LT, ") + (hasTokens ? "%x" : "%y") +
           ", " + limit + (hasTokens ? ", SIGNED" : ", FLOAT") + " : (" + of +
           ", " + of + ") -> " + type(shape, "i1"));
  return add("stablehlo.convert " + below + " : (" + type(shape, "i1") +
                 ") -> " + type(shape),
             shape);
}

Value ModelWriter::sumAll(const Value &x) {
  Shape all;
  for (size_t d = 0; d < x.shape.size(); ++d)
    all.push_back(static_cast<int64_t>(d));
  return reduce("add", "0.0", x, all);
}

Value ModelWriter::maskedMean(const Value &x, int64_t bound, bool isBounded) {
  Value weight = chosen(bound, x.shape);
  return binary("divide", sumAll(binary("multiply", x, weight)),
                binary(isBounded ? "maximum" : "add", sumAll(weight),
                       splat(isBounded ? "1.0" : "0.5", {})));
}

/// One or two means, some over what a mask chooses.
Value ModelWriter::combine(const Value &terms) {
  uint64_t kind = std::mt19937_64(options.seed * 31 + 7)() % 5;
  auto masked = [&](const Value &x, int64_t bound, bool isBounded) {
    return maskedMean(x, hasTokens ? bound : 0, isBounded);
  };
  if (kind == 1 && !options.exact)
    return masked(terms, 4, true);
  if (kind == 2 && !options.exact)
    return binary("subtract", masked(terms, 5, false),
                  binary("multiply", splat("0.25", {}),
                         masked(unary("tanh", terms), 2, true)));
  int64_t count = std::accumulate(terms.shape.begin(), terms.shape.end(),
                                  int64_t(1), std::multiplies<>());
  Value n = splat(std::to_string(count).append(".0").c_str(), {});
  Value mean = binary("divide", sumAll(terms), n);
  if (kind == 0 || options.exact)
    return mean;
  Value other = kind < 4 ? masked(unary("sine", terms), 4, true)
                         : binary("divide", sumAll(unary("tanh", terms)), n);
  return binary("add", mean, other);
}

/// Means of squared differences, or of cross-entropies.
std::string ModelWriter::loss(const Value &x) {
  Value terms;
  if (hasTokens && !options.exact) {
    Value logits = isTied ? dot(x, embedding, 1)
                          : dot(x, parameter("head", {width, classes}), 0);
    std::string names = "%" + std::to_string(next);
    body += "  " + names + ":2 = nn.softmax_cross_entropy " + logits.name +
            ", %y : (" + type(logits.shape) + ", " + type(batch, "i32") +
            ") -> (" + type(batch) + ", " + type(batch) + ")\n";
    ++next;
    terms = {names + "#0", batch};
  } else {
    Value d = binary("subtract", x, Value{"%y", x.shape});
    terms = binary("multiply", d, d);
  }
  return combine(terms).name;
}
