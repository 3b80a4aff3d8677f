//===- Names.cpp - Names of values, as JAX prints them --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "params['blocks'][0].w" is the path of a leaf in a tree of dictionaries,
// sequences and named fields. The root argument's name is dropped: blocks.0.w.
//
//===----------------------------------------------------------------------===//

#include "Parts.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;

/// Takes one step ("['key']", "[0]" or ".field") off the front.
static std::optional<std::string> takeStep(StringRef &text) {
  if (text.consume_front("[")) {
    for (char quote : {'\'', '"'})
      if (text.consume_front(StringRef(&quote, 1))) {
        size_t end = text.find(quote);
        if (end == StringRef::npos || !text.substr(end + 1).starts_with("]"))
          return std::nullopt;
        std::string key = text.take_front(end).str();
        text = text.drop_front(end + 2);
        return key;
      }
    size_t end = text.find(']');
    if (end == StringRef::npos || end == 0)
      return std::nullopt;
    std::string key = text.take_front(end).str();
    text = text.drop_front(end + 1);
    return key;
  }
  if (!text.consume_front("."))
    return std::nullopt;
  StringRef field =
      text.take_until([](char c) { return c == '.' || c == '['; });
  text = text.drop_front(field.size());
  return field.empty() ? std::nullopt : std::optional(field.str());
}

std::optional<ValueName> import::parseName(StringRef text) {
  ValueName name;
  StringRef root = text.take_until([](char c) { return c == '.' || c == '['; });
  if (root.empty())
    return std::nullopt;
  name.root = root.str();
  text = text.drop_front(root.size());
  while (!text.empty()) {
    std::optional<std::string> step = takeStep(text);
    if (!step)
      return std::nullopt;
    name.path += (name.path.empty() ? "" : ".") + *step;
  }
  return name;
}

std::optional<ValueName> import::nameOf(Location location) {
  std::optional<ValueName> name;
  location->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named)
      return WalkResult::advance();
    name = parseName(named.getName().getValue());
    return WalkResult::interrupt();
  });
  return name;
}
