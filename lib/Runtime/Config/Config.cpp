//===- Config.cpp - The strategy of a run ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads TOML into Config by the table of keys. toml++ stays inside this file.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Config/Config.h"
#include "Keys.h"
#include "llmc/Runtime/Base/File.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>
// toml++ takes it for certain that a key follows '[': it aborts on "[!", or
// goes anywhere where NDEBUG is set. Without its assertions it reports an
// error.
#undef NDEBUG
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

using namespace llmc::rt;
using namespace llmc::rt::config;

bool llmc::rt::matchesGlob(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, mark = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++, mark = n;
    } else if (star != std::string_view::npos) {
      p = star + 1, n = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') {
    ++p;
  }
  return p == pattern.size();
}

/// Levenshtein distance.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1,
                         diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string llmc::rt::nearest(std::string_view word,
                              const std::vector<std::string> &candidates) {
  std::string best;
  size_t least = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string &candidate : candidates) {
    if (size_t distance = editDistance(word, candidate); distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

namespace {
/// One read of a configuration: where we are, and what has been set.
class Reader {
public:
  Reader(Config &config, std::string file)
      : config(config), file(std::move(file)) {}

  Status readTable(const toml::table &table, const std::string &pattern,
                   const Slot &slot);
  Status set(const std::string &pattern, const Slot &slot,
             const toml::node &node, const std::string &origin);
  std::string place(const toml::node &node) const {
    auto at = node.source().begin;
    return fmt::format("{}:{}:{}", file, at.line, at.column);
  }

private:
  Status readArray(const toml::array &array, const std::string &pattern);
  /// Makes the element of `slot`, with the defaults of the keys that begin
  /// with `prefix`.
  void storeFallbacks(const std::string &prefix, const Slot &slot);
  Status unknown(const std::string &name, const toml::node &node,
                 const std::string &origin);

  Config &config;
  std::string file;
};
} // namespace

/// The key as a user writes it: "init[].draw" with slot 2 is "init[2].draw".
static std::string spell(std::string pattern, const Slot &slot) {
  if (size_t at = pattern.find("[]"); at != std::string::npos) {
    pattern.replace(at, 2, fmt::format("[{}]", slot.index));
  }
  if (size_t at = pattern.find("*."); at != std::string::npos) {
    pattern.replace(at, 1, slot.table);
  }
  if (!pattern.empty() && pattern.back() == '*') {
    pattern.replace(pattern.size() - 1, 1, slot.name);
  }
  return pattern;
}

static std::string typeOf(const toml::node &node) {
  std::ostringstream text;
  text << node.type();
  return text.str();
}

/// The texts of an array, or nothing when it holds something else.
static std::optional<std::vector<std::string>>
convertTexts(const toml::node &node) {
  if (!node.is_array()) {
    return std::nullopt;
  }
  std::vector<std::string> texts;
  for (const toml::node &element : *node.as_array()) {
    if (!element.is_string()) {
      return std::nullopt;
    }
    texts.push_back(element.ref<std::string>());
  }
  return texts;
}

/// The value of `node` as `type`, or nothing when it has another type.
static std::optional<Value> convert(const toml::node &node, KeyType type) {
  switch (type) {
  case KeyType::text:
    return node.is_string() ? std::optional<Value>(node.ref<std::string>())
                            : std::nullopt;
  case KeyType::integer:
    return node.is_integer() ? std::optional<Value>(node.ref<int64_t>())
                             : std::nullopt;
  case KeyType::number:
    if (node.is_integer()) {
      return Value(static_cast<double>(node.ref<int64_t>()));
    }
    return node.is_floating_point() ? std::optional<Value>(node.ref<double>())
                                    : std::nullopt;
  case KeyType::flag:
    return node.is_boolean() ? std::optional<Value>(node.ref<bool>())
                             : std::nullopt;
  case KeyType::texts:
    if (auto texts = convertTexts(node)) {
      return Value(std::move(*texts));
    }
    return std::nullopt;
  case KeyType::lists:
    break;
  }
  if (!node.is_array()) {
    return std::nullopt;
  }
  AxisLists lists;
  for (const toml::node &element : *node.as_array()) {
    auto texts = convertTexts(element);
    if (!texts) {
      return std::nullopt;
    }
    lists.push_back(std::move(*texts));
  }
  return Value(std::move(lists));
}

/// Checks choices and the least value; numbers must be finite.
static Status check(const Key &key, const Value &value, const std::string &name,
                    const std::string &origin) {
  if (auto *text = std::get_if<std::string>(&value);
      text && !key.choices.empty() &&
      std::find(key.choices.begin(), key.choices.end(), *text) ==
          key.choices.end()) {
    std::string near = nearest(*text, key.choices);
    return makeError(
        ErrorKind::usage,
        fmt::format("{}: expected '{}' to be one of {}, got \"{}\"{}", origin,
                    name, fmt::join(key.choices, ", "), *text,
                    near.empty() ? "" : ", did you mean \"" + near + "\"?"));
  }
  double number = 0;
  if (auto *integer = std::get_if<int64_t>(&value)) {
    number = static_cast<double>(*integer);
  } else if (auto *real = std::get_if<double>(&value)) {
    number = *real;
  } else {
    return Status::success();
  }
  if (!std::isfinite(number)) {
    return makeError(ErrorKind::usage,
                     fmt::format("{}: expected '{}' to be finite, got {}",
                                 origin, name, number));
  }
  if (key.least && number < *key.least) {
    return makeError(ErrorKind::usage,
                     fmt::format("{}: expected '{}' to be at least {}, got {}",
                                 origin, name, *key.least, number));
  }
  return Status::success();
}

/// True when some key's name begins with `prefix`.
static bool isSection(const std::string &prefix) {
  return std::any_of(keys().begin(), keys().end(), [&](const Key &key) {
    return key.name.rfind(prefix, 0) == 0;
  });
}

/// The key that the user may mean: by what others call it, or by its spelling.
static std::string suggest(const std::string &name) {
  std::vector<std::string> names;
  size_t dot = name.rfind('.');
  std::string last = dot == std::string::npos ? name : name.substr(dot + 1);
  for (const Key &key : keys()) {
    if (otherNameOf(last) == key.name) {
      return key.name;
    }
    names.push_back(key.name);
    names.push_back(names.back().substr(0, names.back().find_first_of(".[")));
  }
  return nearest(name, names);
}

Status Reader::unknown(const std::string &name, const toml::node &node,
                       const std::string &origin) {
  bool isArray = isSection(name + "[].");
  if (isArray || isSection(name + ".")) {
    return makeError(
        ErrorKind::usage,
        fmt::format("{}: expected '{}' to be {}, got {}", origin, name,
                    isArray ? "an array of tables, [[" + name + "]]"
                            : "a table, [" + name + "]",
                    typeOf(node)));
  }
  std::string near = suggest(name);
  return makeError(
      ErrorKind::usage,
      fmt::format("{}: unknown key '{}'{}", origin, name,
                  near.empty() ? "" : ", did you mean '" + near + "'?"));
}

Status Reader::set(const std::string &pattern, const Slot &slot,
                   const toml::node &node, const std::string &origin) {
  const Key *key = findKey(pattern);
  std::string name = spell(pattern, slot);
  if (!key) {
    return unknown(name, node, origin);
  }
  std::optional<Value> value = convert(node, key->type);
  if (!value) {
    return makeError(ErrorKind::usage,
                     fmt::format("{}: expected '{}' to be {}, got {}", origin,
                                 name, nameOf(key->type), typeOf(node)));
  }
  LLMC_TRY(check(*key, *value, name, origin));
  key->store(config, slot, *value);
  config.origins.emplace_back(name, origin);
  return Status::success();
}

void Reader::storeFallbacks(const std::string &prefix, const Slot &slot) {
  for (const Key &key : keys()) {
    if (key.fallback && key.name.rfind(prefix, 0) == 0) {
      key.store(config, slot, *key.fallback);
    }
  }
}

Status Reader::readArray(const toml::array &array, const std::string &pattern) {
  Slot slot;
  for (const toml::node &element : array) {
    storeFallbacks(pattern + "[].", slot);
    config.origins.emplace_back(fmt::format("{}[{}]", pattern, slot.index),
                                place(element));
    LLMC_TRY(readTable(*element.as_table(), pattern + "[]", slot));
    ++slot.index;
  }
  return Status::success();
}

Status Reader::readTable(const toml::table &table, const std::string &pattern,
                         const Slot &slot) {
  std::string prefix = pattern.empty() ? "" : pattern + ".";
  bool namesValues = findKey(prefix + "*");
  for (auto &&[key, node] : table) {
    std::string name(key.str());
    std::string path = prefix + name;
    if (namesValues) {
      LLMC_TRY(set(prefix + "*", Slot{slot.index, name, slot.table}, node,
                   place(node)));
    } else if (node.is_table() && isSection(path + ".")) {
      LLMC_TRY(readTable(*node.as_table(), path, slot));
    } else if (node.is_table() && !findKey(path) && isSection(prefix + "*.")) {
      Slot named{slot.index, "", name};
      storeFallbacks(prefix + "*.", named);
      LLMC_TRY(readTable(*node.as_table(), prefix + "*", named));
    } else if (node.is_array_of_tables() && isSection(path + "[].")) {
      LLMC_TRY(readArray(*node.as_array(), path));
    } else {
      LLMC_TRY(set(path, slot, node, place(node)));
    }
  }
  return Status::success();
}

/// Applies `--set key=text`: the text is a TOML value, or a bare word.
static Status applyOverride(Reader &reader, const Override &entry) {
  auto [name, text] = entry;
  std::string origin = fmt::format("--set {}", name);
  toml::table table;
  try {
    table = toml::parse("value = " + text);
  } catch (const toml::parse_error &) {
    table.insert("value", text);
  }
  // Text needs no quotes here, even where it could be a number: recompute=2.
  auto [key, slot] = matchKey(name);
  if (key && key->type == KeyType::text && !table.get("value")->is_string()) {
    table.insert_or_assign("value", text);
  }
  return reader.set(key ? key->name : name, slot, *table.get("value"), origin);
}

Result<Config> llmc::rt::parseConfig(std::string_view text,
                                     const std::string &file,
                                     const std::vector<Override> &overrides) {
  Config config;
  config.file = file;
  for (const Key &key : keys()) {
    if (key.fallback && key.name.find_first_of("[*") == std::string::npos) {
      key.store(config, {}, *key.fallback);
      config.origins.emplace_back(key.name, "default");
    }
  }
  Reader reader(config, file);
  try {
    toml::table table = toml::parse(text, file);
    LLMC_TRY(reader.readTable(table, "", {}));
  } catch (const toml::parse_error &error) {
    auto at = error.source().begin;
    return makeError(ErrorKind::usage,
                     fmt::format("{}:{}:{}: {}", file, at.line, at.column,
                                 error.description()));
  }
  for (const Override &entry : overrides) {
    LLMC_TRY(applyOverride(reader, entry));
  }
  return config;
}

Result<Config> llmc::rt::loadConfig(const std::string &path,
                                    const std::vector<Override> &overrides) {
  if (path.empty()) {
    return parseConfig("", "", overrides);
  }
  LLMC_TRY_ASSIGN(MappedFile text, MappedFile::open(path));
  LLMC_TRY_ASSIGN(Config config, parseConfig(text.text(), path, overrides));
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::vector<std::string *> names = {&config.data.file,
                                      &config.optimizer.path};
  for (auto &[name, source] : config.sources) {
    names.push_back(&source.file);
  }
  for (std::string *name : names) {
    if (!name->empty() && std::filesystem::path(*name).is_relative()) {
      *name = (folder / *name).lexically_normal().string();
    }
  }
  std::filesystem::path table = config.pipeline.schedule;
  if (table.extension() == ".csv" && table.is_relative()) {
    config.pipeline.schedule = (folder / table).lexically_normal().string();
  }
  return config;
}

Status llmc::rt::loadMachine(const std::string &path, Config &config) {
  LLMC_TRY_ASSIGN(MappedFile text, MappedFile::open(path));
  LLMC_TRY_ASSIGN(Config machine, parseConfig(text.text(), path, {}));
  for (const auto &[key, origin] : machine.origins) {
    if (key.rfind("machine.", 0) == 0) {
      config.origins.emplace_back(key, origin);
    } else if (origin != "default") {
      return makeError(
          ErrorKind::usage,
          fmt::format("{}: expected keys of [machine] alone in a file "
                      "for --machine, got '{}'",
                      origin, key));
    }
  }
  config.machine = std::move(machine.machine);
  return Status::success();
}

std::string Config::originOf(std::string_view key) const {
  for (auto entry = origins.rbegin(); entry != origins.rend(); ++entry) {
    if (entry->first == key) {
      return entry->second;
    }
  }
  return "default";
}

std::string llmc::rt::printConfig(const Config &config) {
  // The last origin of a key counts.
  std::map<std::string, std::string> origins(config.origins.rbegin(),
                                             config.origins.rend());
  std::string text;
  auto line = [&](const Key &key, const Slot &slot) {
    std::string name = spell(key.name, slot);
    auto origin = origins.find(name);
    text += fmt::format("{:<28} = {:<24} # {}\n", name,
                        print(key.load(config, slot)),
                        origin == origins.end() ? "default" : origin->second);
  };
  // Those that the user named, by the names that were given.
  auto lineForEach = [&](const Key &key) {
    for (const auto &[name, origin] : origins) {
      if (auto [found, slot] = matchKey(name); found == &key) {
        line(key, slot);
      }
    }
  };
  for (const Key &key : keys()) {
    if (key.name.find("[]") != std::string::npos) {
      for (size_t i = 0; i < countOf(key, config); ++i) {
        if (key.fallback || origins.count(spell(key.name, {i, ""}))) {
          line(key, {i, ""});
        }
      }
    } else if (key.name.find('*') != std::string::npos) {
      lineForEach(key);
    } else if (key.fallback || origins.count(key.name)) {
      line(key, {});
    }
  }
  return text;
}

std::string llmc::rt::documentKeys() {
  std::string text = "| key | type | default | meaning |\n|---|---|---|---|\n";
  for (const Key &key : keys()) {
    std::string type(nameOf(key.type));
    if (!key.choices.empty()) {
      type = fmt::format("{}", fmt::join(key.choices, ", "));
    }
    text += fmt::format("| `{}` | {} | {} | {} |\n", key.name, type,
                        key.fallback ? print(*key.fallback) : "-", key.meaning);
  }
  return text;
}
