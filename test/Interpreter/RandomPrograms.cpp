//===- RandomPrograms.cpp - Small random graphs over all ops --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RandomPrograms.h.
//
//===----------------------------------------------------------------------===//

#include "ProgramWriter.h"
#include <cstdlib>
#include <utility>

using namespace llmc::test;

namespace {

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
LLMC_NAME(kAsinh, "asinh");
LLMC_NAME(kAtan, "atan");
LLMC_NAME(kAtan2, "atan2");
LLMC_NAME(kRoundEven, "round_nearest_even");
LLMC_NAME(kRoundAway, "round_nearest_afz");
LLMC_NAME(kSinh, "sinh");
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

/// The parts of a float, each shifted and counted, summed as floats. Of an f64
/// both halves; other floats as f32.
void addBits(Writer &w) {
  int x = w.any();
  Shape split = w.shape(x);
  std::string from = w.name(x), single = w.type(w.shape(x), "f32");
  std::string type = w.typeOf(x);
  if (w.element == "f64")
    split.push_back(2);
  else
    from = w.hidden("stablehlo.convert " + from + " : (" +
                    std::exchange(type, single) + ") -> " + single);
  std::string integers = w.type(split, "ui32");
  std::string bits = w.hidden("stablehlo.bitcast_convert " + from + " : (" +
                              type + ") -> " + integers);
  std::string places =
      w.hidden("stablehlo.constant dense<" + std::to_string(w.below(40)) +
               "> : " + integers);
  const char *ops[] = {"shift_left", "shift_right_logical",
                       "shift_right_arithmetic"};
  std::string moved = w.hidden(std::string("stablehlo.") + ops[w.below(3)] +
                               " " + bits + ", " + places + " : " + integers);
  std::string count = w.hidden(std::string("stablehlo.") +
                               (w.coin() ? "popcnt " : "count_leading_zeros ") +
                               moved + " : " + integers);
  w.visible("stablehlo.convert " + count + " : (" + integers + ") -> " +
                w.type(split),
            split);
}

void addReducePrecision(Writer &w) {
  int x = w.any();
  const char *formats[] = {"e8m7", "e5m2", "e8m0", "e11m23"};
  w.visible("stablehlo.reduce_precision " + w.name(x) +
                ", format = " + formats[w.below(4)] + " : " + w.typeOf(x),
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

/// What is changed is read on the way to the update too: the value itself, one
/// made of it, or one made of the constant that is changed.
void addUpdateOfItself(Writer &w) {
  int x = w.anyOfRank(1);
  std::string type = w.typeOf(x), changed = w.name(x), update = changed;
  int64_t kind = w.below(3);
  if (kind == 1)
    update = w.hidden("stablehlo.negate " + changed + " : " + type);
  if (kind == 2) {
    changed = w.splat(w.shape(x), "0.25");
    update = w.hidden("stablehlo.maximum " + w.name(x) + ", " + changed +
                      " : " + type);
  }
  std::string types = type + ", " + type;
  std::string starts = startIndices(w, x, types);
  w.visible(w.call("dynamic_update_slice", changed + ", " + update + starts,
                   types, w.shape(x)),
            w.shape(x));
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
    {"round_nearest_even", addUnary<kRoundEven>, false},
    {"round_nearest_afz", addUnary<kRoundAway>, false},
    {"atan2", addByPositive<kAtan2>, true},
    {"bits", addBits, false},
    {"reduce_precision", addReducePrecision, false},
    {"chlo.asinh", addChlo<kAsinh>, true},
    {"chlo.atan", addChlo<kAtan>, true},
    {"chlo.sinh", addChlo<kSinh>, true},
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
    {"dynamic_update_slice of itself", addUpdateOfItself, true},
    {"dot_general", addDot, true},
    {"reduce add", addReduceAdd, true},
    {"reduce maximum", addReduceMax, true},
    {"reduce minimum", addReduceMin, true},
    {"reduce multiply", addReduceMultiply, true},
    {"gather", addGather, true},
    {"scatter", addScatter, true},
    {"reduce with an outer value", addReduceWithOuter, true},
    {"reduce in order", addReduceInOrder, false},
    {"scatter with an outer value", addScatterWithOuter, true},
    {"dot_general of two types", addMixedDot, false},
    {"dot_general of booleans", addBoolDot, false},
    {"table", addTable, true},
    {"mask", addMask, true},
    {"empty", addEmpty, true},
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
  for (const Shape &shape : options.shapes) {
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
  for (size_t i = options.shapes.size(); i < w.variables.size(); ++i)
    if (!w.variables[i].isUsed) {
      names += (names.empty() ? "" : ", ") + w.variables[i].name;
      types += (types.empty() ? "" : ", ") + w.typeOf(i);
    }
  for (const Variable &result : w.results) {
    names += (names.empty() ? "" : ", ") + result.name;
    types += (types.empty() ? "" : ", ") + w.type(result.shape);
  }
  return text + ") -> (" + types + ") {\n" + w.body + "  return " + names +
         (names.empty() ? "" : " : ") + types + "\n}\n";
}

uint64_t llmc::test::readSetting(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}
