//===- ProgramWriter.h - A random program as it is written ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values by shape, random choices among them, and lines of StableHLO: what the
// recipes (RandomPrograms.cpp, StructuredRecipes.cpp, EdgeRecipes.cpp) are
// written with.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_INTERPRETER_PROGRAMWRITER_H
#define LLMC_TEST_INTERPRETER_PROGRAMWRITER_H

#include "RandomPrograms.h"
#include <algorithm>
#include <random>
#include <vector>

namespace llmc::test {
using Shape = std::vector<int64_t>;

struct Variable {
  std::string name;
  Shape shape;
  bool isUsed = false;
};

inline std::string joined(const Shape &list) {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i)
    text += (i ? ", " : "") + std::to_string(list[i]);
  return text;
}

class Writer {
public:
  explicit Writer(const ProgramOptions &options)
      : element(options.element), engine(options.seed) {}

  //===--- Random choices -------------------------------------------------===//

  int64_t below(int64_t end) { return static_cast<int64_t>(engine() % end); }
  bool coin() { return below(2) == 0; }

  /// Any float value, later ones more often.
  int any() {
    int last = static_cast<int>(variables.size()) - 1;
    int i = coin() ? last - static_cast<int>(below(std::min(last + 1, 3)))
                   : static_cast<int>(below(last + 1));
    variables[i].isUsed = true;
    return i;
  }
  /// A value of rank at least `rank`.
  int anyOfRank(size_t rank) {
    for (int tries = 0; tries < 20; ++tries) {
      int i = any();
      if (shape(i).size() >= rank)
        return i;
    }
    return 0; // the first argument has rank 2
  }
  int64_t anyDim(int value) { return below(shape(value).size()); }
  /// A value of the shape of `like`: another one, or one made from it.
  int sameShape(int like) {
    for (int tries = 0; tries < 4; ++tries) {
      int i = any();
      if (i != like && shape(i) == shape(like))
        return i;
    }
    return unary("sine", like);
  }

  //===--- Text
  //------------------------------------------------------------===//

  const Shape &shape(int value) const { return variables[value].shape; }
  std::string name(int value) const { return variables[value].name; }
  std::string type(const Shape &dims, const std::string &of = "") const {
    std::string text = "tensor<";
    for (int64_t dim : dims)
      text += std::to_string(dim) + "x";
    return text + (of.empty() ? element : of) + ">";
  }
  std::string typeOf(int value) const { return type(shape(value)); }

  std::string fresh() { return "%v" + std::to_string(next++); }

  /// Adds `%v = text`, a value that is no float tensor to build on.
  std::string hidden(const std::string &text) {
    std::string result = fresh();
    body += "  " + result + " = " + text + "\n";
    return result;
  }
  /// Adds a float value.
  int visible(const std::string &text, const Shape &dims) {
    variables.push_back({hidden(text), dims});
    return static_cast<int>(variables.size()) - 1;
  }

  std::string splat(const Shape &dims, const std::string &value,
                    const std::string &of = "") {
    return hidden("stablehlo.constant dense<" + value +
                  "> : " + type(dims, of));
  }
  std::string index(int64_t value) {
    return splat({}, std::to_string(value), "i32");
  }

  int unary(const std::string &op, int x) {
    variables[x].isUsed = true;
    return visible("stablehlo." + op + " " + name(x) + " : " + typeOf(x),
                   shape(x));
  }
  int binary(const std::string &op, int x, const std::string &y) {
    variables[x].isUsed = true;
    return visible("stablehlo." + op + " " + name(x) + ", " + y + " : " +
                       typeOf(x),
                   shape(x));
  }
  int binary(const std::string &op, int x, int y) {
    variables[y].isUsed = true;
    return binary(op, x, name(y));
  }
  /// Into (-1, 1).
  int bounded(int x) { return unary("tanh", x); }
  /// 1 + x^2, bounded.
  int positive(int x) {
    int y = bounded(x);
    return binary("add", binary("multiply", y, y), splat(shape(x), "1.0"));
  }
  /// i1 of the shape of `x`.
  std::string condition(int x) {
    int y = sameShape(x);
    const char *directions[] = {"LT", "GE", "GT", "LE", "NE", "EQ"};
    return hidden(std::string("stablehlo.compare ") + directions[below(6)] +
                  ", " + name(x) + ", " + name(y) + " : (" + typeOf(x) + ", " +
                  typeOf(x) + ") -> " + type(shape(x), "i1"));
  }
  std::string call(const std::string &op, const std::string &operands,
                   const std::string &types, const Shape &to) {
    return "stablehlo." + op + " " + operands + " : (" + types + ") -> " +
           type(to);
  }

  /// Indices of rows, some twice and some out of bounds.
  std::string rowIndices(int64_t rows, int64_t count) {
    std::string values;
    for (int64_t i = 0; i < count; ++i)
      values += (i ? ", [" : "[") + std::to_string(below(rows + 2) - 1) + "]";
    return hidden("stablehlo.constant dense<[" + values + "]> : tensor<" +
                  std::to_string(count) + "x1xi32>");
  }
  /// A hidden value becomes a result.
  void returned(const std::string &value, const Shape &dims) {
    results.push_back({value, dims});
  }

  std::string element;
  std::mt19937_64 engine;
  std::vector<Variable> variables;
  /// Results that nothing is built on.
  std::vector<Variable> results;
  std::string body;
  int next = 0;
};

// EdgeRecipes.cpp
void addReduceWithOuter(Writer &w);
void addReduceInOrder(Writer &w);
void addScatterWithOuter(Writer &w);
void addMixedDot(Writer &w);
void addBoolDot(Writer &w);
void addTable(Writer &w);
void addMask(Writer &w);
void addEmpty(Writer &w);

// StructuredRecipes.cpp
void addDot(Writer &w);
void addReduceAdd(Writer &w);
void addReduceMax(Writer &w);
void addReduceMin(Writer &w);
void addReduceMultiply(Writer &w);
void addGather(Writer &w);
void addScatter(Writer &w);

} // namespace llmc::test

#endif // LLMC_TEST_INTERPRETER_PROGRAMWRITER_H
