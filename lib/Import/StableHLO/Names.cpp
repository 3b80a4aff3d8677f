//===- Names.cpp - Names of values, as JAX prints them --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "params['blocks'][0].w" is the path of a leaf in a tree of dictionaries,
// sequences and named fields. The root argument's name is dropped: blocks.0.w.
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Runtime/Base/ComplexNames.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

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

/// "params['blocks'][0]['w']" has root "params" and path "blocks.0.w".
static std::optional<ValueName> parseName(StringRef text) {
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

/// The name in the first NameLoc of `location`.
static std::optional<ValueName> readName(Location location) {
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

/// "logits" of result[1]['logits'], of result['logits'], and of
/// result[0][1]['logits'], which is what `jax.value_and_grad` returns beside
/// a loss; "result1" of result[1].
static std::string nameOfResult(StringRef path, unsigned i) {
  auto [first, rest] = path.split('.');
  bool isNumber = !first.empty() && llvm::all_of(first, llvm::isDigit);
  if (path.empty() || (isNumber && rest.empty()))
    return "result" + std::to_string(i);
  if (first == "0" && rest.starts_with("1.") && rest.size() > 2)
    return rest.drop_front(2).str();
  return isNumber ? rest.str() : path.str();
}

static std::string readPartEnd(Attribute part) {
  return part ? cast<StringAttr>(part).str() : "";
}

static ResultName readResult(func::FuncOp main, unsigned i, unsigned number) {
  ResultName name;
  name.part = readPartEnd(main.getResultAttr(i, kPart));
  std::string path;
  auto mark = StringAttr::get(main.getContext(), "jax.result_info");
  if (auto info = main.getResultAttrOfType<StringAttr>(i, mark)) {
    name.shown = info.getValue().str() + name.part;
    if (std::optional<ValueName> parsed = parseName(info.getValue()))
      path = parsed->path;
    main.removeResultAttr(i, mark);
  }
  name.path = path;
  // result[1]['count']: the first step numbers the result itself.
  StringRef leaf = path;
  name.replaces = leaf.contains('.') ? leaf.split('.').second.str() : path;
  name.replaces += name.replaces.empty() ? "" : name.part;
  name.metric = nameOfResult(path, number) + name.part;
  name.output = path.empty() ? name.metric : path + name.part;
  return name;
}

/// `tf.aliasing_output` says on which result a donated argument may lie;
/// `jax.buffer_donor`, only that it may on some.
static Donation readDonation(func::FuncOp main, unsigned i) {
  Donation donation;
  donation.isGiven = static_cast<bool>(main.getArgAttr(i, "jax.buffer_donor"));
  auto result = main.getArgAttrOfType<IntegerAttr>(i, kAliasing);
  if (result && result.getValue().ult(main.getNumResults())) {
    donation.isGiven = true;
    donation.result = static_cast<unsigned>(result.getValue().getZExtValue());
  }
  return donation;
}

/// jax.export adds arguments for what the text leaves open.
static rt::Status checkGiven(func::FuncOp main, BlockArgument argument) {
  auto open = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                "jax.global_constant");
  if (!open)
    return rt::Status::success();
  return rt::makeError(ErrorKind::unsupported,
                       describePlace(main.getLoc()) +
                           "expected a text for one platform, with known "
                           "sizes, got one that leaves '" +
                           open.str() + "' open")
      .withHint("export it for one platform, as by platforms=['cpu'], with "
                "numbers as sizes");
}

rt::Result<Graph> import::readNames(func::FuncOp main) {
  Graph graph;
  graph.main = main;
  for (BlockArgument argument : main.getArguments()) {
    LLMC_TRY(checkGiven(main, argument));
    std::optional<ValueName> name = readName(argument.getLoc());
    if (!name)
      return rt::makeError(ErrorKind::diagnosed,
                           describePlace(argument.getLoc()) + "argument " +
                               std::to_string(argument.getArgNumber()) +
                               " expected to have a name in its location, got "
                               "none")
          .withHint("print the module with lowered.as_text(debug_info=True)");
    name->part = readPartEnd(main.getArgAttr(argument.getArgNumber(), kPart));
    graph.arguments.push_back(*name);
    graph.donations.push_back(readDonation(main, argument.getArgNumber()));
  }
  // The imaginary part has the number of the real one.
  unsigned number = 0;
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    ResultName name = readResult(main, i, number);
    number += name.part != rt::kPartEnds[0];
    graph.results.push_back(std::move(name));
  }
  return graph;
}
