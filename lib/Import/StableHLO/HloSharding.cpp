//===- HloSharding.cpp - Shardings as XLA writes them ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grammar is that of the strings which XLA reads and prints; see
// HloSharding.h.
//
//===----------------------------------------------------------------------===//

#include "HloSharding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;
using Subgroup = HloSharding::Subgroup;

/// Devices have numbers below this.
static constexpr int64_t kMostNumbers = int64_t(1) << 20;

namespace {
class HloParser {
public:
  explicit HloParser(StringRef text) : text(text), rest(text) {}

  rt::Result<std::vector<HloSharding>> run();

private:
  rt::Status parseOne(HloSharding &sharding);
  rt::Status parseTiles(HloSharding &sharding);
  rt::Status parseDevices(int64_t count, SmallVectorImpl<int64_t> &devices);
  rt::Status parseTransposed(SmallVectorImpl<int64_t> &devices);
  rt::Status parseSubgroups(HloSharding &sharding);
  rt::Status parseNamed(HloSharding &sharding);
  rt::Status parseMesh(HloSharding &sharding);
  rt::Status parseDim(HloDim &dim);
  rt::Status parseAxes(std::vector<AxisPart> &axes);
  rt::Status parseAxis(AxisPart &axis);
  rt::Status parseName(std::string &name);
  rt::Status parseNumber(int64_t &number);
  rt::Status parseNumbers(StringRef open, StringRef close,
                          SmallVectorImpl<int64_t> &numbers);

  /// Whether `token` comes next; it is read then.
  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  rt::Status expect(StringRef token) {
    return take(token) ? rt::Status::success()
                       : refuse("'" + token.str() + "'");
  }
  /// One or more, separated by commas, up to `close`; none if that is next.
  template <typename Parse> rt::Status parseList(StringRef close, Parse parse) {
    if (take(close))
      return rt::Status::success();
    do
      LLMC_TRY(parse());
    while (take(","));
    return expect(close);
  }
  rt::Status refuse(const std::string &expected) {
    size_t place = text.size() - rest.size();
    return rt::makeError(
        ErrorKind::malformed,
        "expected " + expected + " at character " + std::to_string(place + 1) +
            " of the sharding '" + text.str() + "', got " +
            (rest.empty() ? std::string("its end")
                          : "'" + rest.take_front(16).str() + "'"));
  }

  StringRef text, rest;
};
} // namespace

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

rt::Status HloParser::parseNumber(int64_t &number) {
  rest = rest.ltrim();
  StringRef digits = rest.take_while(llvm::isDigit);
  if (digits.getAsInteger(10, number))
    return refuse("a number");
  rest = rest.drop_front(digits.size());
  return rt::Status::success();
}

rt::Status HloParser::parseNumbers(StringRef open, StringRef close,
                                   SmallVectorImpl<int64_t> &numbers) {
  LLMC_TRY(expect(open));
  return parseList(close, [&] { return parseNumber(numbers.emplace_back()); });
}

rt::Status HloParser::parseName(std::string &name) {
  LLMC_TRY(expect("'"));
  auto [before, after] = rest.split('\'');
  if (before.empty() || before.size() == rest.size())
    return refuse("the name of an axis in '...'");
  name = before.str();
  rest = after;
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The product, if each is at least 1 and there are not too many devices.
static std::optional<int64_t> multiply(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (size < 1 || size > kMostNumbers / product)
      return std::nullopt;
    product *= size;
  }
  return product;
}

/// 0, 1, 2, ... in the shape `sizes`, transposed by `order`.
static SmallVector<int64_t> transposeNumbers(ArrayRef<int64_t> sizes,
                                             ArrayRef<int64_t> order) {
  SmallVector<int64_t> strides(sizes.size(), 1), numbers = {0};
  for (size_t dim = sizes.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * sizes[dim];
  for (int64_t dim : order) {
    SmallVector<int64_t> longer;
    for (int64_t number : numbers)
      for (int64_t i = 0; i < sizes[dim]; ++i)
        longer.push_back(number + i * strides[dim]);
    numbers = std::move(longer);
  }
  return numbers;
}

static bool isPermutation(ArrayRef<int64_t> numbers) {
  SmallVector<bool> seen(numbers.size(), false);
  for (int64_t number : numbers) {
    if (number < 0 || number >= static_cast<int64_t>(seen.size()) ||
        seen[number])
      return false;
    seen[number] = true;
  }
  return true;
}

/// `[2,4]T(1,0)` or `[8]`
rt::Status HloParser::parseTransposed(SmallVectorImpl<int64_t> &devices) {
  SmallVector<int64_t> sizes, order;
  LLMC_TRY(parseNumbers("[", "]", sizes));
  order.resize(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  if (take("T")) {
    order.clear();
    LLMC_TRY(parseNumbers("(", ")", order));
  }
  if (order.size() != sizes.size() || !isPermutation(order))
    return refuse("an order of " + std::to_string(sizes.size()) +
                  " dimensions before this");
  if (!multiply(sizes))
    return refuse("1 to 2^20 devices before this");
  devices = transposeNumbers(sizes, order);
  return rt::Status::success();
}

/// `<=[2,4]T(1,0)` or `0,1,2,3`
rt::Status HloParser::parseDevices(int64_t count,
                                   SmallVectorImpl<int64_t> &devices) {
  if (take("<=")) {
    LLMC_TRY(parseTransposed(devices));
  } else {
    do
      LLMC_TRY(parseNumber(devices.emplace_back()));
    while (take(","));
  }
  if (static_cast<int64_t>(devices.size()) != count || !isPermutation(devices))
    return refuse("each of the devices 0 ... " + std::to_string(count - 1) +
                  " once before this");
  return rt::Status::success();
}

/// `last_tile_dim_replicate` or `last_tile_dims={manual, replicated}`
rt::Status HloParser::parseSubgroups(HloSharding &sharding) {
  if (take("last_tile_dim_replicate")) {
    sharding.subgroups.push_back(Subgroup::Replicated);
  } else if (take("last_tile_dims=")) {
    LLMC_TRY(expect("{"));
    LLMC_TRY(parseList("}", [&]() -> rt::Status {
      if (take("replicated"))
        sharding.subgroups.push_back(Subgroup::Replicated);
      else if (take("manual"))
        sharding.subgroups.push_back(Subgroup::Manual);
      else if (take("unreduced"))
        sharding.subgroups.push_back(Subgroup::Unreduced);
      else
        return refuse("'replicated', 'manual' or 'unreduced'");
      return rt::Status::success();
    }));
  }
  if (sharding.subgroups.size() > sharding.tiles.size())
    return refuse("a number of tiles for each subgroup before this");
  return rt::Status::success();
}

rt::Status HloParser::parseTiles(HloSharding &sharding) {
  sharding.kind = HloSharding::Kind::Tiled;
  LLMC_TRY(parseNumbers("[", "]", sharding.tiles));
  std::optional<int64_t> count = multiply(sharding.tiles);
  if (!count)
    return refuse("1 to 2^20 tiles before this");
  LLMC_TRY(parseDevices(*count, sharding.devices));
  return parseSubgroups(sharding);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// `'x'` or `'x':(1)2`
rt::Status HloParser::parseAxis(AxisPart &axis) {
  LLMC_TRY(parseName(axis.name));
  if (!take(":"))
    return rt::Status::success();
  LLMC_TRY(expect("("));
  LLMC_TRY(parseNumber(axis.preSize));
  LLMC_TRY(expect(")"));
  LLMC_TRY(parseNumber(axis.size));
  return axis.preSize > 0 && axis.size > 1
             ? rt::Status::success()
             : refuse("a part of an axis, of at least 2, before this");
}

rt::Status HloParser::parseAxes(std::vector<AxisPart> &axes) {
  LLMC_TRY(expect("{"));
  return parseList("}", [&] { return parseAxis(axes.emplace_back()); });
}

/// `{'x', ?}`
rt::Status HloParser::parseDim(HloDim &dim) {
  LLMC_TRY(expect("{"));
  return parseList("}", [&]() -> rt::Status {
    if (dim.isOpen)
      return refuse("'?' as the last of a dimension before this");
    dim.isOpen = take("?");
    return dim.isOpen ? rt::Status::success()
                      : parseAxis(dim.axes.emplace_back());
  });
}

/// `['x'=2,'y'=4], device_ids=(0,2,1,3)`
rt::Status HloParser::parseMesh(HloSharding &sharding) {
  LLMC_TRY(expect("["));
  SmallVector<int64_t> sizes;
  LLMC_TRY(parseList("]", [&]() -> rt::Status {
    LLMC_TRY(parseName(sharding.mesh.emplace_back().first));
    LLMC_TRY(expect("="));
    LLMC_TRY(parseNumber(sharding.mesh.back().second));
    sizes.push_back(sharding.mesh.back().second);
    return rt::Status::success();
  }));
  std::optional<int64_t> count = multiply(sizes);
  if (!count)
    return refuse("a mesh of 1 to 2^20 devices before this");
  LLMC_TRY(expect(","));
  if (!take("device_ids="))
    return rt::Status::success();
  LLMC_TRY(expect("("));
  if (rest.ltrim().starts_with("[")) {
    LLMC_TRY(parseTransposed(sharding.deviceIds));
  } else {
    do
      LLMC_TRY(parseNumber(sharding.deviceIds.emplace_back()));
    while (take(","));
  }
  LLMC_TRY(expect(")"));
  return expect(",");
}

rt::Status HloParser::parseNamed(HloSharding &sharding) {
  sharding.kind = HloSharding::Kind::Named;
  LLMC_TRY(parseMesh(sharding));
  LLMC_TRY(expect("["));
  LLMC_TRY(
      parseList("]", [&] { return parseDim(sharding.dims.emplace_back()); }));
  while (take(",")) {
    if (take("replicated="))
      LLMC_TRY(parseAxes(sharding.replicated));
    else if (take("unreduced="))
      LLMC_TRY(parseAxes(sharding.unreduced));
    else if (take("manual="))
      LLMC_TRY(parseAxes(sharding.manual));
    else
      return refuse("'replicated=', 'unreduced=' or 'manual='");
  }
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

rt::Status HloParser::parseOne(HloSharding &sharding) {
  int64_t number = 0;
  if (take("devices=")) {
    LLMC_TRY(parseTiles(sharding));
  } else if (take("maximal_mesh[device_id=")) {
    sharding.kind = HloSharding::Kind::Maximal;
    LLMC_TRY(parseNumber(number));
    LLMC_TRY(expect("]"));
  } else if (take("mesh")) {
    LLMC_TRY(parseNamed(sharding));
  } else if (take("maximal device=")) {
    sharding.kind = HloSharding::Kind::Maximal;
    LLMC_TRY(parseNumber(number));
  } else if (take("manual")) {
    sharding.kind = HloSharding::Kind::Manual;
  } else if (take("unknown")) {
    sharding.kind = HloSharding::Kind::Unknown;
  } else if (!take("replicated")) {
    return refuse("'devices=', 'mesh[', 'replicated', 'manual', 'maximal' or "
                  "'unknown'");
  }
  if (take("shard_as") || take("shard_like"))
    LLMC_TRY(parseNumber(sharding.group.emplace()));
  return expect("}");
}

rt::Result<std::vector<HloSharding>> HloParser::run() {
  std::vector<HloSharding> shardings;
  LLMC_TRY(expect("{"));
  rest = rest.ltrim();
  if (rest.starts_with("{") || rest.starts_with("}"))
    LLMC_TRY(parseList("}", [&]() -> rt::Status {
      LLMC_TRY(expect("{"));
      return parseOne(shardings.emplace_back());
    }));
  else
    LLMC_TRY(parseOne(shardings.emplace_back()));
  rest = rest.ltrim();
  if (!rest.empty())
    return refuse("the end");
  return shardings;
}

rt::Result<std::vector<HloSharding>> import::parseHloShardings(StringRef text) {
  return HloParser(text).run();
}
