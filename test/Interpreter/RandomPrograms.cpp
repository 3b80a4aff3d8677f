//===- RandomPrograms.cpp - Small random graphs over all ops --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RandomPrograms.h.
//
//===----------------------------------------------------------------------===//

#include "RandomPrograms.h"
#include <algorithm>
#include <random>
#include <vector>

using namespace llmc::test;

namespace {
using Shape = std::vector<int64_t>;

struct Variable {
  std::string name;
  Shape shape;
  bool isUsed = false;
};

std::string joined(const Shape &list) {
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

  std::string element;
  std::mt19937_64 engine;
  std::vector<Variable> variables;
  std::string body;
  int next = 0;
};

//===----------------------------------------------------------------------===//
// Element-wise recipes
//===----------------------------------------------------------------------===//

template <const char *const &op> void addUnary(Writer &w) {
  w.unary(op, w.any());
}
template <const char *const &op> void addOfBounded(Writer &w) {
  w.unary(op, w.bounded(w.any()));
}
template <const char *const &op> void addOfPositive(Writer &w) {
  w.unary(op, w.positive(w.any()));
}
template <const char *const &op> void addChlo(Writer &w) {
  int x = w.bounded(w.any());
  w.visible(std::string("chlo.") + op + " " + w.name(x) + " : " + w.typeOf(x) +
                " -> " + w.typeOf(x),
            w.shape(x));
}
template <const char *const &op> void addBinary(Writer &w) {
  int x = w.any();
  w.binary(op, x, w.sameShape(x));
}
template <const char *const &op> void addBoundedBinary(Writer &w) {
  int x = w.any();
  w.binary(op, w.bounded(x), w.bounded(w.sameShape(x)));
}
template <const char *const &op> void addByPositive(Writer &w) {
  int x = w.any();
  w.binary(op, x, w.positive(w.sameShape(x)));
}

#define LLMC_NAME(variable, text) constexpr const char *const variable = text
LLMC_NAME(kAbs, "abs");
LLMC_NAME(kAdd, "add");
LLMC_NAME(kCbrt, "cbrt");
LLMC_NAME(kCeil, "ceil");
LLMC_NAME(kCosine, "cosine");
LLMC_NAME(kDivide, "divide");
LLMC_NAME(kErf, "erf");
LLMC_NAME(kErfc, "erfc");
LLMC_NAME(kExp, "exponential");
LLMC_NAME(kExpm1, "exponential_minus_one");
LLMC_NAME(kFloor, "floor");
LLMC_NAME(kLog, "log");
LLMC_NAME(kLog1p, "log_plus_one");
LLMC_NAME(kLogistic, "logistic");
LLMC_NAME(kMaximum, "maximum");
LLMC_NAME(kMinimum, "minimum");
LLMC_NAME(kMultiply, "multiply");
LLMC_NAME(kNegate, "negate");
LLMC_NAME(kRemainder, "remainder");
LLMC_NAME(kRsqrt, "rsqrt");
LLMC_NAME(kSign, "sign");
LLMC_NAME(kSine, "sine");
LLMC_NAME(kSqrt, "sqrt");
LLMC_NAME(kSquare, "square");
LLMC_NAME(kSubtract, "subtract");
LLMC_NAME(kTanh, "tanh");
#undef LLMC_NAME

void addPower(Writer &w) {
  int x = w.any();
  w.binary("power", w.positive(x), w.bounded(w.sameShape(x)));
}

void addSelect(Writer &w) {
  int x = w.any(), y = w.sameShape(x);
  std::string predicate = w.condition(x);
  if (w.coin())
    predicate = w.hidden("stablehlo.not " + predicate + " : " +
                         w.type(w.shape(x), "i1"));
  w.visible("stablehlo.select " + predicate + ", " + w.name(x) + ", " +
                w.name(y) + " : " + w.type(w.shape(x), "i1") + ", " +
                w.typeOf(x),
            w.shape(x));
}

void addClamp(Writer &w) {
  int x = w.any();
  std::string low = w.splat({}, "-0.7"), high = w.splat({}, "0.6");
  w.visible(w.call("clamp", low + ", " + w.name(x) + ", " + high,
                   w.type({}) + ", " + w.typeOf(x) + ", " + w.type({}),
                   w.shape(x)),
            w.shape(x));
}

void addLogic(Writer &w) {
  int x = w.any();
  const char *ops[] = {"and", "or", "xor"};
  std::string type = w.type(w.shape(x), "i1");
  std::string finite = w.hidden("stablehlo.is_finite " + w.name(x) + " : (" +
                                w.typeOf(x) + ") -> " + type);
  std::string both =
      w.hidden(std::string("stablehlo.") + ops[w.below(3)] + " " +
               w.condition(x) + ", " + finite + " : " + type);
  w.visible("stablehlo.convert " + both + " : (" + type + ") -> " + w.typeOf(x),
            w.shape(x));
}

/// By way of bf16 and of i32: both round.
void addConvert(Writer &w) {
  int x = w.any();
  std::string narrow = w.type(w.shape(x), w.coin() ? "bf16" : "i32");
  std::string rounded = w.hidden("stablehlo.convert " + w.name(x) + " : (" +
                                 w.typeOf(x) + ") -> " + narrow);
  w.visible("stablehlo.convert " + rounded + " : (" + narrow + ") -> " +
                w.typeOf(x),
            w.shape(x));
}

void addIota(Writer &w) {
  int x = w.anyOfRank(1);
  std::string type = w.type(w.shape(x), "i32");
  std::string position = w.hidden(
      "stablehlo.iota dim = " + std::to_string(w.anyDim(x)) + " : " + type);
  std::string number = w.hidden("stablehlo.convert " + position + " : (" +
                                type + ") -> " + w.typeOf(x));
  w.bounded(w.binary("add", x, number));
}

void addBarrier(Writer &w) {
  int x = w.any();
  w.visible("stablehlo.optimization_barrier " + w.name(x) + " : " + w.typeOf(x),
            w.shape(x));
}

//===----------------------------------------------------------------------===//
// Recipes that move elements
//===----------------------------------------------------------------------===//

void addBroadcast(Writer &w) {
  int x = w.any();
  Shape to = w.shape(x), dims;
  size_t at = w.below(to.size() + 1);
  for (size_t d = 0; d < to.size(); ++d)
    dims.push_back(d + (d >= at));
  to.insert(to.begin() + at, 2);
  if (to.size() > 4)
    return;
  w.visible(w.call("broadcast_in_dim",
                   w.name(x) + ", dims = [" + joined(dims) + "]", w.typeOf(x),
                   to),
            to);
}

void addReshape(Writer &w) {
  int x = w.any();
  int64_t size = 1;
  for (int64_t dim : w.shape(x))
    size *= dim;
  Shape to;
  for (int64_t factor : {2, 3})
    if (size % factor == 0 && w.coin()) {
      to.push_back(factor);
      size /= factor;
    }
  to.insert(to.begin() + w.below(to.size() + 1), size);
  w.visible(w.call("reshape", w.name(x), w.typeOf(x), to), to);
}

void addTranspose(Writer &w) {
  int x = w.anyOfRank(2);
  Shape permutation(w.shape(x).size()), to;
  for (size_t d = 0; d < permutation.size(); ++d)
    permutation[d] = d;
  for (size_t d = permutation.size() - 1; d > 0; --d)
    std::swap(permutation[d], permutation[w.below(d + 1)]);
  for (int64_t dim : permutation)
    to.push_back(w.shape(x)[dim]);
  w.visible(w.call("transpose",
                   w.name(x) + ", dims = [" + joined(permutation) + "]",
                   w.typeOf(x), to),
            to);
}

void addReverse(Writer &w) {
  int x = w.anyOfRank(1);
  w.visible("stablehlo.reverse " + w.name(x) + ", dims = [" +
                std::to_string(w.anyDim(x)) + "] : " + w.typeOf(x),
            w.shape(x));
}

void addSlice(Writer &w) {
  int x = w.anyOfRank(1);
  Shape to;
  std::string ranges;
  for (int64_t size : w.shape(x)) {
    int64_t start = w.below(size), limit = start + 1 + w.below(size - start);
    int64_t stride = 1 + w.below(2);
    to.push_back((limit - start + stride - 1) / stride);
    ranges += (ranges.empty() ? "" : ", ") + std::to_string(start) + ":" +
              std::to_string(limit) +
              (stride == 1 ? "" : ":" + std::to_string(stride));
  }
  w.visible(w.call("slice", w.name(x) + " [" + ranges + "]", w.typeOf(x), to),
            to);
}

/// Negative edges crop.
void addPad(Writer &w) {
  int x = w.anyOfRank(1);
  Shape low, high, interior, to;
  for (int64_t size : w.shape(x)) {
    low.push_back(w.below(3) - 1);
    high.push_back(w.below(3) - 1);
    interior.push_back(w.below(2));
    int64_t padded = low.back() + high.back() + size +
                     std::max<int64_t>(size - 1, 0) * interior.back();
    if (padded < 1) {
      high.back() += 1 - padded;
      padded = 1;
    }
    to.push_back(padded);
  }
  std::string value = w.splat({}, "0.25");
  w.visible(w.call("pad",
                   w.name(x) + ", " + value + ", low = [" + joined(low) +
                       "], high = [" + joined(high) + "], interior = [" +
                       joined(interior) + "]",
                   w.typeOf(x) + ", " + w.type({}), to),
            to);
}

void addConcatenate(Writer &w) {
  int x = w.anyOfRank(1), y = w.sameShape(x);
  int64_t dim = w.anyDim(x);
  Shape to = w.shape(x);
  to[dim] *= 2;
  w.visible(
      w.call("concatenate",
             w.name(x) + ", " + w.name(y) + ", dim = " + std::to_string(dim),
             w.typeOf(x) + ", " + w.typeOf(y), to),
      to);
}

/// Start indices that are partly out of bounds: they are clamped.
std::string startIndices(Writer &w, int x, std::string &types) {
  std::string names;
  for (int64_t size : w.shape(x)) {
    names += ", " + w.index(w.below(size + 2) - 1);
    types += ", tensor<i32>";
  }
  return names;
}

void addDynamicSlice(Writer &w) {
  int x = w.anyOfRank(1);
  Shape to;
  for (int64_t size : w.shape(x))
    to.push_back(1 + w.below(size));
  std::string types = w.typeOf(x);
  std::string starts = startIndices(w, x, types);
  w.visible(w.call("dynamic_slice",
                   w.name(x) + starts + ", sizes = [" + joined(to) + "]", types,
                   to),
            to);
}

void addDynamicUpdateSlice(Writer &w) {
  int x = w.anyOfRank(1);
  std::string ranges;
  Shape part;
  for (int64_t size : w.shape(x)) {
    part.push_back(1 + w.below(size));
    ranges += (ranges.empty() ? "0:" : ", 0:") + std::to_string(part.back());
  }
  int source = w.unary("cosine", x);
  int update = w.visible(
      w.call("slice", w.name(source) + " [" + ranges + "]", w.typeOf(x), part),
      part);
  std::string types = w.typeOf(x) + ", " + w.typeOf(update);
  std::string starts = startIndices(w, x, types);
  w.visible(w.call("dynamic_update_slice",
                   w.name(x) + ", " + w.name(update) + starts, types,
                   w.shape(x)),
            w.shape(x));
}

//===----------------------------------------------------------------------===//
// Contraction, reduction, indexing
//===----------------------------------------------------------------------===//

/// x [.., k, ..] with a matrix [k, 3], or with itself over all but one dim.
void addDot(Writer &w) {
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

void addReduceOf(Writer &w, const char *op, const std::string &initial) {
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

void addReduceAdd(Writer &w) { addReduceOf(w, "add", "0.0"); }
void addReduceMax(Writer &w) { addReduceOf(w, "maximum", "-9.0"); }
void addReduceMin(Writer &w) { addReduceOf(w, "minimum", "9.0"); }
void addReduceMultiply(Writer &w) { addReduceOf(w, "multiply", "1.0"); }

/// Indices of rows, some twice and some out of bounds.
std::string rowIndices(Writer &w, int64_t rows, int64_t count) {
  std::string values;
  for (int64_t i = 0; i < count; ++i)
    values += (i ? ", [" : "[") + std::to_string(w.below(rows + 2) - 1) + "]";
  return w.hidden("stablehlo.constant dense<[" + values + "]> : tensor<" +
                  std::to_string(count) + "x1xi32>");
}

void addGather(Writer &w) {
  int x = w.anyOfRank(2);
  Shape to = w.shape(x), sizes = to, offsets;
  std::string indices = rowIndices(w, to[0], 3);
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

void addScatter(Writer &w) {
  int x = w.anyOfRank(2);
  Shape part = w.shape(x), windows;
  std::string indices = rowIndices(w, part[0], part[0]);
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

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

struct Recipe {
  const char *name;
  void (*add)(Writer &);
  /// Differentiable everywhere that values are likely to be.
  bool isSmooth;
};

const Recipe kRecipes[] = {
    {"add", addBinary<kAdd>, true},
    {"subtract", addBinary<kSubtract>, true},
    {"multiply", addBoundedBinary<kMultiply>, true},
    {"divide", addByPositive<kDivide>, true},
    {"maximum", addBinary<kMaximum>, true},
    {"minimum", addBinary<kMinimum>, true},
    {"power", addPower, true},
    {"remainder", addByPositive<kRemainder>, false},
    {"abs", addUnary<kAbs>, true},
    {"negate", addUnary<kNegate>, true},
    {"sign", addUnary<kSign>, false},
    {"floor", addUnary<kFloor>, false},
    {"ceil", addUnary<kCeil>, false},
    {"tanh", addUnary<kTanh>, true},
    {"logistic", addUnary<kLogistic>, true},
    {"sine", addUnary<kSine>, true},
    {"cosine", addUnary<kCosine>, true},
    {"cbrt", addOfPositive<kCbrt>, true},
    {"exponential", addOfBounded<kExp>, true},
    {"exponential_minus_one", addOfBounded<kExpm1>, true},
    {"log", addOfPositive<kLog>, true},
    {"log_plus_one", addOfPositive<kLog1p>, true},
    {"sqrt", addOfPositive<kSqrt>, true},
    {"rsqrt", addOfPositive<kRsqrt>, true},
    {"chlo.square", addChlo<kSquare>, true},
    {"chlo.erf", addChlo<kErf>, true},
    {"chlo.erfc", addChlo<kErfc>, true},
    {"select", addSelect, true},
    {"clamp", addClamp, true},
    {"logic", addLogic, false},
    {"convert", addConvert, false},
    {"iota", addIota, true},
    {"optimization_barrier", addBarrier, true},
    {"broadcast_in_dim", addBroadcast, true},
    {"reshape", addReshape, true},
    {"transpose", addTranspose, true},
    {"reverse", addReverse, true},
    {"slice", addSlice, true},
    {"pad", addPad, true},
    {"concatenate", addConcatenate, true},
    {"dynamic_slice", addDynamicSlice, true},
    {"dynamic_update_slice", addDynamicUpdateSlice, true},
    {"dot_general", addDot, true},
    {"reduce add", addReduceAdd, true},
    {"reduce maximum", addReduceMax, true},
    {"reduce minimum", addReduceMin, true},
    {"reduce multiply", addReduceMultiply, true},
    {"gather", addGather, true},
    {"scatter", addScatter, true},
};

std::vector<const Recipe *> getRecipes(const ProgramOptions &options) {
  std::vector<const Recipe *> recipes;
  for (const Recipe &recipe : kRecipes)
    if (recipe.isSmooth || !options.smooth)
      recipes.push_back(&recipe);
  return recipes;
}
} // namespace

int llmc::test::getNumRecipes(const ProgramOptions &options) {
  return static_cast<int>(getRecipes(options).size());
}

const char *llmc::test::getRecipeName(const ProgramOptions &options,
                                      int recipe) {
  return getRecipes(options)[recipe]->name;
}

std::string llmc::test::makeProgram(const ProgramOptions &options) {
  std::vector<const Recipe *> recipes = getRecipes(options);
  Writer w(options);
  std::string text = "func.func @" + options.name + "(";
  for (const Shape &shape : {Shape{4, 6}, Shape{2, 4, 6}, Shape{6}}) {
    std::string name = "%arg" + std::to_string(w.variables.size());
    text += (w.variables.empty() ? "" : ", ") + name + ": " + w.type(shape);
    w.variables.push_back({name, shape});
  }
  int first = options.firstRecipe < 0
                  ? static_cast<int>(w.below(recipes.size()))
                  : options.firstRecipe;
  recipes[first]->add(w);
  for (int i = 1; i < options.numRecipes; ++i)
    recipes[w.below(recipes.size())]->add(w);
  std::string names, types;
  for (size_t i = 3; i < w.variables.size(); ++i)
    if (!w.variables[i].isUsed) {
      names += (names.empty() ? "" : ", ") + w.variables[i].name;
      types += (types.empty() ? "" : ", ") + w.typeOf(i);
    }
  return text + ") -> (" + types + ") {\n" + w.body + "  return " + names +
         (names.empty() ? "" : " : ") + types + "\n}\n";
}
