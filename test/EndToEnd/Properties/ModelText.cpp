//===- ModelText.cpp - Random models with a training recipe ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ModelText.h.
//
//===----------------------------------------------------------------------===//

#include "ModelOptimizers.h"
#include "ModelWriter.h"

using namespace llmc::test;
using namespace llmc::test::model;

Value ModelWriter::parameter(const std::string &name, const Shape &shape) {
  auto [known, isNew] = parameters.try_emplace(name, Value{"%" + name, shape});
  if (!isNew)
    return known->second;
  std::string symbol = names.symbolOf(name);
  const char *draw = options.exact ? "<uniform, -3.0, 3.0>" : "<normal, 0.4>";
  states += "dist.state @" + symbol + " : " + type(shape) +
            " {role = parameter, source = #dist.draw" + draw + "}\n";
  arguments += ",\n    %" + name + ": " + type(shape) +
               " {dist.port = #dist.port<parameter @" + symbol + ">}";
  return known->second;
}

void ModelWriter::input(const std::string &name, const Shape &shape,
                        const char *element) {
  arguments += std::string(arguments.empty() ? "" : ",\n    ") + "%" + name +
               ": " + type(shape, element) +
               " {dist.port = #dist.port<input \"" + name + "\">}";
}

/// The last dim of x with dim `contracted` of w, a matrix.
Value ModelWriter::dot(const Value &x, const Value &w, int64_t contracted) {
  Shape to = x.shape;
  to.back() = w.shape[1 - contracted];
  return add("stablehlo.dot_general " + x.name + ", " + w.name +
                 ", contracting_dims = [" + std::to_string(x.shape.size() - 1) +
                 "] x [" + std::to_string(contracted) + "] : (" +
                 type(x.shape) + ", " + type(w.shape) + ") -> " + type(to),
             to);
}

Value ModelWriter::broadcast(const Value &x, const Shape &to,
                             const Shape &dims) {
  std::string list;
  for (int64_t dim : dims)
    list += (list.empty() ? "" : ", ") + std::to_string(dim);
  return add("stablehlo.broadcast_in_dim " + x.name + ", dims = [" + list +
                 "] : (" + type(x.shape) + ") -> " + type(to),
             to);
}

Value ModelWriter::reduce(const char *op, const char *init, const Value &x,
                          const Shape &dims) {
  Value start = splat(init, {});
  Shape to;
  std::string list;
  for (int64_t d = 0; d < static_cast<int64_t>(x.shape.size()); ++d) {
    bool isReduced = false;
    for (int64_t dim : dims)
      isReduced |= dim == d;
    if (isReduced)
      list += (list.empty() ? "" : ", ") + std::to_string(d);
    else
      to.push_back(x.shape[d]);
  }
  return add("stablehlo.reduce(" + x.name + " init: " + start.name +
                 ") applies stablehlo." + op + " across dimensions = [" + list +
                 "] : (" + type(x.shape) + ", " + type({}) + ") -> " + type(to),
             to);
}

Value ModelWriter::activate(const Value &x) {
  if (options.exact)
    return coin() ? x : binary("maximum", x, splat("0.0", x.shape));
  const char *ops[] = {"tanh", "logistic", "sine"};
  return unary(ops[below(3)], x);
}

Value ModelWriter::addBias(const Value &x, const std::string &name) {
  Value bias = parameter(name, {x.shape.back()});
  return binary(
      "add", x,
      broadcast(bias, x.shape, {static_cast<int64_t>(x.shape.size()) - 1}));
}

Value ModelWriter::slice(const Value &x, int64_t from, int64_t to) {
  std::string ranges;
  for (size_t d = 0; d + 1 < x.shape.size(); ++d)
    ranges += "0:" + std::to_string(x.shape[d]) + ", ";
  Shape shape = x.shape;
  shape.back() = to - from;
  return add("stablehlo.slice " + x.name + " [" + ranges +
                 std::to_string(from) + ":" + std::to_string(to) + "] : (" +
                 type(x.shape) + ") -> " + type(shape),
             shape);
}

Value ModelWriter::perceptron(const Value &x, const std::string &name) {
  int64_t hidden = pick(Shape{6, 8, 12});
  Value h = dot(x, parameter(name + ".w1", {width, hidden}), 0);
  if (coin())
    h = addBias(h, name + ".b1");
  Value u = dot(activate(h), parameter(name + ".w2", {hidden, width}), 0);
  return coin() ? u : addBias(u, name + ".b2");
}

/// tanh(a) * b, where a and b are the halves of one projection.
Value ModelWriter::gated(const Value &x, const std::string &name) {
  int64_t hidden = pick(Shape{4, 6});
  Value y = dot(x, parameter(name + ".w", {width, 2 * hidden}), 0);
  Value a = slice(y, 0, hidden), b = slice(y, hidden, 2 * hidden);
  return dot(binary("multiply", activate(a), b),
             parameter(name + ".o", {hidden, width}), 0);
}

/// A step of a recurrence: the gates are slices of one sum with a bias. All
/// cells of a model have the same parameters, so that several stages use them.
Value ModelWriter::cell(const Value &x) {
  Value y =
      addBias(dot(x, parameter("cell.w", {width, 2 * width}), 0), "cell.b");
  Value a = activate(slice(y, 0, width)), b = slice(y, width, 2 * width);
  return binary(options.exact ? "add" : "multiply", a, b);
}

Value ModelWriter::norm(const Value &x, const std::string &name) {
  if (options.exact)
    return perceptron(x, name);
  int64_t last = static_cast<int64_t>(x.shape.size()) - 1;
  Shape outer(x.shape.begin(), x.shape.end() - 1), dims;
  for (int64_t d = 0; d < last; ++d)
    dims.push_back(d);
  Value n = splat(std::to_string(width).append(".0").c_str(), outer);
  Value mean = binary("divide", reduce("add", "0.0", x, {last}), n);
  Value centred = binary("subtract", x, broadcast(mean, x.shape, dims));
  Value square = binary("multiply", centred, centred);
  Value variance = binary("divide", reduce("add", "0.0", square, {last}), n);
  Value root = unary("rsqrt", binary("add", variance, splat("0.1", outer)));
  Value y = binary("multiply", centred, broadcast(root, x.shape, dims));
  Value scale = parameter(name + ".g", {width});
  return binary("multiply", y, broadcast(scale, x.shape, {last}));
}

/// Two heads over the sequence; x has three dims.
Value ModelWriter::attention(const Value &x, const std::string &name) {
  if (x.shape.size() != 3)
    return perceptron(x, name);
  Shape heads{x.shape[0], x.shape[1], 2, width / 2};
  Value parts[3];
  for (int k = 0; k < 3; ++k) {
    Value y = dot(x, parameter(name + ".w" + "qkv" [k], { width, width }), 0);
    parts[k] = add("stablehlo.reshape " + y.name + " : (" + type(y.shape) +
                       ") -> " + type(heads),
                   heads);
  }
  Shape square{x.shape[0], 2, x.shape[1], x.shape[1]};
  Value scores =
      add("stablehlo.dot_general " + parts[0].name + ", " + parts[1].name +
              ", batching_dims = [0, 2] x [0, 2], contracting_dims "
              "= [3] x [3] : (" +
              type(heads) + ", " + type(heads) + ") -> " + type(square),
          square);
  Value p = scores;
  if (!options.exact) {
    p = unary("exponential", unary("tanh", scores));
    Value sum = reduce("add", "0.0", p, {3});
    p = binary("divide", p, broadcast(sum, square, {0, 1, 2}));
  }
  Shape mixed{x.shape[0], 2, x.shape[1], width / 2};
  Value o = add("stablehlo.dot_general " + p.name + ", " + parts[2].name +
                    ", batching_dims = [0, 1] x [0, 2], contracting_dims = "
                    "[3] x [1] : (" +
                    type(square) + ", " + type(heads) + ") -> " + type(mixed),
                mixed);
  Value t = add("stablehlo.transpose " + o.name + ", dims = [0, 2, 1, 3] : (" +
                    type(mixed) + ") -> " + type(heads),
                heads);
  Value flat = add("stablehlo.reshape " + t.name + " : (" + type(heads) +
                       ") -> " + type(x.shape),
                   x.shape);
  return dot(flat, parameter(name + ".wo", {width, width}), 0);
}

Value ModelWriter::embed() {
  Shape shape = batch;
  shape.push_back(width);
  if (!hasTokens)
    return {"%x", shape};
  embedding = parameter("emb", {classes, width});
  std::string offsets = std::to_string(batch.size());
  return add("\"stablehlo.gather\"(" + embedding.name +
                 ", %x) <{dimension_numbers = #stablehlo.gather<offset_dims = "
                 "[" +
                 offsets +
                 "], collapsed_slice_dims = [0], start_index_map = [0], "
                 "index_vector_dim = " +
                 offsets + ">, slice_sizes = array<i64: 1, " +
                 std::to_string(width) + ">}> : (" + type(embedding.shape) +
                 ", " + type(batch, "i32") + ") -> " + type(shape),
             shape);
}

/// One row of several hundred elements, for each of `shape`.
std::string ModelWriter::table(const Shape &shape, const char *element) {
  int64_t columns = shape.back(), rows = 256 / columns + 2, row = below(rows);
  bool isMask = element[0] == 'i';
  std::string list = isMask ? "\"0x" : "[";
  for (int64_t i = 0; i < rows * columns; ++i)
    list += isMask ? (coin() ? "01" : "00")
                   : (i ? ", " : "") + std::to_string(below(5) - 2) + ".0";
  list += isMask ? "\"" : "]";
  Shape flat{rows * columns};
  std::string all =
      line("stablehlo.constant dense<" + list + "> : " + type(flat, element));
  std::string part =
      line("stablehlo.slice " + all + " [" + std::to_string(row * columns) +
           ":" + std::to_string((row + 1) * columns) + "] : (" +
           type(flat, element) + ") -> " + type(Shape{columns}, element));
  return line("stablehlo.broadcast_in_dim " + part + ", dims = [" +
              std::to_string(shape.size() - 1) + "] : (" +
              type(Shape{columns}, element) + ") -> " + type(shape, element));
}

Value ModelWriter::addPositions(const Value &x) {
  return binary("add", x, {table(x.shape, "f64"), x.shape});
}

Value ModelWriter::mask(const Value &x) {
  std::string chosen = table(x.shape, "i1");
  Value other = splat("1.0", x.shape);
  return add("stablehlo.select " + chosen + ", " + x.name + ", " + other.name +
                 " : " + type(x.shape, "i1") + ", " + type(x.shape),
             x.shape);
}

/// Adds to each row a sum over it, by a body that uses a value from outside.
Value ModelWriter::addSummary(const Value &x) {
  int64_t last = static_cast<int64_t>(x.shape.size()) - 1;
  Shape outer(x.shape.begin(), x.shape.end() - 1), dims;
  for (int64_t d = 0; d < last; ++d)
    dims.push_back(d);
  Value start = splat("0.0", {}),
        bound = splat(options.exact ? "1.0" : "0.3", {});
  const char *inner = options.exact ? "maximum" : "multiply";
  std::string scalar = type({});
  Value sum =
      add("stablehlo.reduce(" + x.name + " init: " + start.name +
              ") across dimensions = [" + std::to_string(last) + "] : (" +
              type(x.shape) + ", " + scalar + ") -> " + type(outer) +
              "\n   reducer(%p: " + scalar + ", %e: " + scalar +
              ") {\n    %m = stablehlo." + inner + " %e, " + bound.name +
              " : " + scalar + "\n    %s = stablehlo.add %p, %m : " + scalar +
              "\n    stablehlo.return %s : " + scalar + "\n  }",
          outer);
  return binary("add", x, broadcast(sum, x.shape, dims));
}

/// Once or twice as much, by the number of the microbatch.
Value ModelWriter::scaleByCounter(const Value &x) {
  if (counter.empty()) {
    counter = names.symbolOf("counter");
    states += "dist.state @" + counter +
              " : tensor<i32> {role = carried, source = #dist.draw<zeros>}\n";
    arguments += ",\n    %counter: tensor<i32> {dist.port = "
                 "#dist.port<carried @" +
                 counter + ">}";
  }
  std::string two = line("stablehlo.constant dense<2> : tensor<i32>");
  std::string odd =
      line("stablehlo.remainder %counter, " + two + " : tensor<i32>");
  Value number =
      add("stablehlo.convert " + odd + " : (tensor<i32>) -> tensor<f64>", {});
  Value factor = binary("add", number, splat("1.0", {}));
  return binary("multiply", x, broadcast(factor, x.shape, {}));
}

/// A product with a weight that is rounded in some blocks: on their stages it
/// has no gradient.
Value ModelWriter::roundShared(const Value &x) {
  Value w = parameter("shared.w", {width, width});
  return dot(x, coin() ? unary("round_nearest_even", w) : w, 0);
}

Value ModelWriter::edge(const Value &x, const std::string &name) {
  switch (below(10)) {
  case 0:
    return addPositions(x);
  case 1:
    return mask(x);
  case 2:
    return addSummary(x);
  case 3: { // a product with weights of another type
    Value w = parameter(name + ".m", {width, width});
    const char *narrow = coin() ? "f32" : "bf16";
    std::string rounded = line("stablehlo.convert " + w.name + " : (" +
                               type(w.shape) + ") -> " + type(w.shape, narrow));
    std::string dims = std::to_string(x.shape.size() - 1);
    return add("stablehlo.dot_general " + x.name + ", " + rounded +
                   ", contracting_dims = [" + dims + "] x [0] : (" +
                   type(x.shape) + ", " + type(w.shape, narrow) + ") -> " +
                   type(x.shape),
               x.shape);
  }
  case 4: { // a prefix of length 0
    Shape none = x.shape;
    none[0] = 0;
    Value prefix = parameter(name + ".none", none);
    return add("stablehlo.concatenate " + prefix.name + ", " + x.name +
                   ", dim = 0 : (" + type(none) + ", " + type(x.shape) +
                   ") -> " + type(x.shape),
               x.shape);
  }
  case 5:
    return scaleByCounter(x);
  case 6:
    return roundShared(x);
  default:
    return x;
  }
}

std::string ModelWriter::optimizer() {
  int64_t kind = below(options.exact ? 2 : 3);
  const char *names[] = {"sgd", "momentum", "adam"};
  const char *texts[] = {kSgd, kMomentum, kAdam};
  std::string text =
      "dist.hyper @lr : tensor<f64> = <constant, base = 0.5>\n" +
      std::string(texts[kind]) + "dist.training @train forward(@loss) " +
      "optimizer(@optimizer." + names[kind] + ") microbatches(" +
      std::to_string(1 + below(options.exact ? 2 : 3)) + ") schedule(<1f1b>)";
  if (!options.exact && coin())
    text += " clip(0.5)";
  return text + "\n";
}

std::string ModelWriter::write() {
  batch = {pick(Shape{4, 6, 8})};
  if (options.exact)
    batch = {pick(Shape{4, 8})};
  if (coin())
    batch.push_back(options.exact ? 2 : 3);
  width = pick(options.exact ? Shape{4, 8} : Shape{4, 6, 8});
  classes = pick(Shape{7, 10, 12});
  hasTokens = coin();
  isTied = hasTokens && coin();
  Shape wide = batch;
  wide.push_back(width);
  input("x", hasTokens ? batch : wide, hasTokens ? "i32" : "f64");
  bool hasLabels = hasTokens && !options.exact;
  input("y", hasLabels ? batch : wide, hasLabels ? "i32" : "f64");
  Value x = embed();
  int64_t numBlocks = 1 + below(options.exact ? 2 : 3);
  int64_t kind = below(5);
  for (int64_t block = 0; block < numBlocks; ++block) {
    std::string name = "b" + std::to_string(block);
    // Equal blocks are found as such.
    if (coin())
      kind = below(5);
    Value y = kind == 0   ? perceptron(x, name)
              : kind == 1 ? gated(x, name)
              : kind == 2 ? norm(x, name)
              : kind == 3 ? cell(x)
                          : attention(x, name);
    x = edge(coin() ? binary("add", x, y) : y, name);
  }
  std::string result = loss(x), results = type({});
  std::string ports = results + " {dist.port = #dist.port<loss>}";
  if (!counter.empty()) {
    std::string one = line("stablehlo.constant dense<1> : tensor<i32>");
    result += ", " + line("stablehlo.add %counter, " + one + " : tensor<i32>");
    results += ", tensor<i32>";
    ports += ", tensor<i32> {dist.port = #dist.port<carried @" + counter + ">}";
  }
  return "dist.mesh @mesh = " + options.mesh + "\n" + states +
         "func.func @loss(" + arguments + ")\n    -> (" + ports + ") {\n" +
         body + "  return " + result + " : " + results + "\n}\n" + optimizer() +
         "dist.entry @forward function(@loss)\n";
}

std::string llmc::test::makeModel(const ModelOptions &options) {
  return ModelWriter(options).write();
}
