//===- ModelWriter.h - What writes random models ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers and ends of models (ModelText.cpp), losses (ModelLoss.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ENDTOEND_PROPERTIES_MODELWRITER_H
#define LLMC_TEST_ENDTOEND_PROPERTIES_MODELWRITER_H

#include "ModelText.h"
#include <map>
#include <random>
#include <vector>

namespace llmc::test::model {

using Shape = std::vector<int64_t>;

struct Value {
  std::string name;
  Shape shape;
};

class ModelWriter {
public:
  explicit ModelWriter(const ModelOptions &options)
      : options(options), engine(options.seed), names(options.seed) {}

  std::string write();

private:
  int64_t below(int64_t end) { return static_cast<int64_t>(engine() % end); }
  bool coin() { return below(2) == 0; }
  template <typename List> auto pick(const List &list) {
    return list[below(static_cast<int64_t>(list.size()))];
  }

  static std::string type(const Shape &shape, const char *element = "f64") {
    std::string text = "tensor<";
    for (int64_t size : shape)
      text += std::to_string(size) + "x";
    return text + element + ">";
  }
  std::string line(const std::string &text) {
    std::string name = "%" + std::to_string(next++);
    body += "  " + name + " = " + text + "\n";
    return name;
  }
  Value add(const std::string &text, const Shape &shape) {
    return {line(text), shape};
  }

  Value parameter(const std::string &name, const Shape &shape);
  void input(const std::string &name, const Shape &shape, const char *element);
  Value binary(const char *op, const Value &x, const Value &y) {
    return add("stablehlo." + std::string(op) + " " + x.name + ", " + y.name +
                   " : " + type(x.shape),
               x.shape);
  }
  Value unary(const char *op, const Value &x) {
    return add("stablehlo." + std::string(op) + " " + x.name + " : " +
                   type(x.shape),
               x.shape);
  }
  Value splat(const char *value, const Shape &shape) {
    return add("stablehlo.constant dense<" + std::string(value) +
                   "> : " + type(shape),
               shape);
  }
  Value dot(const Value &x, const Value &w, int64_t contracted);
  Value broadcast(const Value &x, const Shape &to, const Shape &dims);
  Value reduce(const char *op, const char *init, const Value &x,
               const Shape &dims);
  Value activate(const Value &x);
  Value addBias(const Value &x, const std::string &name);
  Value slice(const Value &x, int64_t from, int64_t to);

  Value perceptron(const Value &x, const std::string &name);
  Value gated(const Value &x, const std::string &name);
  Value cell(const Value &x);
  Value norm(const Value &x, const std::string &name);
  Value attention(const Value &x, const std::string &name);
  Value embed();
  std::string table(const Shape &shape, const char *element);
  Value edge(const Value &x, const std::string &name);
  Value scaleByCounter(const Value &x);
  Value roundShared(const Value &x);
  Value addPositions(const Value &x);
  Value mask(const Value &x);
  Value addSummary(const Value &x);
  Value chosen(int64_t bound, const Shape &shape);
  Value sumAll(const Value &x);
  Value maskedMean(const Value &x, int64_t bound, bool isBounded);
  Value combine(const Value &terms);
  std::string loss(const Value &x);
  std::string optimizer();

  const ModelOptions &options;
  std::mt19937_64 engine;
  std::string body, arguments, states;
  /// By name: blocks may share them.
  std::map<std::string, Value> parameters;
  Shape batch;
  int64_t width = 4, classes = 7;
  bool hasTokens = false, isTied = false;
  /// Of the counter that each microbatch replaces; empty without one.
  std::string counter;
  Value embedding;
  int next = 0;
  ModelNames names;
};

} // namespace llmc::test::model

#endif // LLMC_TEST_ENDTOEND_PROPERTIES_MODELWRITER_H
