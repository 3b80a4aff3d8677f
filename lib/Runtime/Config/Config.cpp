//===- Config.cpp - The strategy of a run ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads TOML (Tree.h) into Config by the table of keys.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Config/Config.h"
#include "Keys.h"
#include "Tree.h"
#include "llmc/Runtime/Base/File.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

using namespace llmc::rt;
using namespace llmc::rt::config;

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
    return placeOf(node, file);
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

/// The same of numbers.
static std::optional<Value> convertNumbers(const toml::node &node) {
  if (!node.is_array()) {
    return std::nullopt;
  }
  std::vector<double> numbers;
  for (const toml::node &element : *node.as_array()) {
    if (!element.is_number()) {
      return std::nullopt;
    }
    numbers.push_back(*element.value<double>());
  }
  return Value(std::move(numbers));
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
  case KeyType::numbers:
    return convertNumbers(node);
  case KeyType::files:
    if (node.is_string()) {
      const auto &text = node.ref<std::string>();
      return Value(text.empty() ? FileList() : FileList{{text}});
    }
    if (auto texts = convertTexts(node)) {
      return Value(FileList{std::move(*texts)});
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

/// The words that a text may be, in a line.
static std::string listChoices(const Key &key) {
  std::vector<std::string> words = key.choices;
  std::replace(words.begin(), words.end(), std::string(), std::string("\"\""));
  return fmt::format("{}", fmt::join(words, ", "));
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
                    name, listChoices(key), *text,
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

/// The words of a key, without the numbers of tables: init[2].std is init[],
/// std.
static std::vector<std::string> splitKey(const std::string &name) {
  std::vector<std::string> words;
  std::istringstream text(name);
  for (std::string word; std::getline(text, word, '.');) {
    if (size_t at = word.find('['); at != std::string::npos) {
      word.replace(at, word.size() - at, "[]");
    }
    words.push_back(word);
  }
  return words;
}

/// The keys and tables that there are in a table, without those of the user's
/// names.
static std::vector<std::string> keysOf(const std::vector<std::string> &table) {
  std::vector<std::string> names;
  for (const Key &key : keys()) {
    std::vector<std::string> words = splitKey(key.name);
    bool isIn = words.size() > table.size() &&
                std::equal(table.begin(), table.end(), words.begin(),
                           [](const std::string &own, const std::string &word) {
                             return word == "*" || word == own;
                           });
    if (!isIn || words[table.size()] == "*") {
      continue;
    }
    std::string name = words[table.size()];
    name = name.substr(0, name.find('['));
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return names;
}

/// The key or table of a name that no user chooses, by its spelling.
static std::string nearestOfAll(const std::string &name) {
  std::vector<std::string> names;
  for (const Key &key : keys()) {
    if (key.name.find('*') == std::string::npos) {
      names.push_back(key.name);
      names.push_back(key.name.substr(0, key.name.find_first_of(".[")));
    }
  }
  return nearest(name, names);
}

/// What the user may mean by a key, as the end of a message: what others call
/// so, what is spelled like it in its table or anywhere, or the table's keys.
static std::string suggest(const std::string &name) {
  std::vector<std::string> words = splitKey(name);
  std::string last = words.back();
  words.pop_back();
  std::vector<std::string> siblings = keysOf(words);
  std::string near(otherNameOf(last));
  if (near.empty() && siblings.empty()) {
    near = nearestOfAll(name);
  } else if (near.empty()) {
    if (std::string own = nearest(last, siblings); !own.empty()) {
      near = name.substr(0, name.size() - last.size()) + own;
    }
  }
  if (!near.empty()) {
    return ", did you mean '" + near + "'?";
  }
  std::string place;
  while (siblings.empty()) {
    words.pop_back();
    siblings = keysOf(words);
    place = fmt::format(" in '{}'", fmt::join(words, "."));
  }
  return fmt::format(", expected one of {}{}", fmt::join(siblings, ", "),
                     words.empty() ? "" : place);
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
  return makeError(ErrorKind::usage, fmt::format("{}: unknown key '{}'{}",
                                                 origin, name, suggest(name)));
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
  if (name == extendsKey) {
    return makeError(ErrorKind::usage,
                     fmt::format("{}: expected '{}' in a configuration alone",
                                 origin, name));
  }
  toml::table table;
  try {
    table = toml::parse("value = " + text);
  } catch (const toml::parse_error &) {
    table.insert("value", text);
  }
  // Text needs no quotes here, even where it could be a number: recompute=2.
  auto [key, slot] = matchKey(name);
  const toml::node &value = *table.get("value");
  bool isText = key && (key->type == KeyType::text ||
                        (key->type == KeyType::files && !value.is_array()));
  if (isText && !value.is_string()) {
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
  LLMC_TRY_ASSIGN(toml::table tree, readTree(text, file));
  Reader reader(config, file);
  LLMC_TRY(reader.readTable(tree, "", {}));
  for (const Override &entry : overrides) {
    LLMC_TRY(applyOverride(reader, entry));
  }
  takeCommonDataKeys(config);
  return config;
}

/// That of an origin "file:line:column"; `otherwise` of one that is no place.
static std::string fileOf(const std::string &origin,
                          const std::string &otherwise) {
  size_t column = origin.rfind(':');
  size_t line = column == 0 || column == std::string::npos
                    ? std::string::npos
                    : origin.rfind(':', column - 1);
  return line == std::string::npos || origin.rfind("--set ", 0) == 0
             ? otherwise
             : origin.substr(0, line);
}

Result<Config> llmc::rt::loadConfig(const std::string &path,
                                    const std::vector<Override> &overrides) {
  if (path.empty()) {
    return parseConfig("", "", overrides);
  }
  LLMC_TRY_ASSIGN(MappedFile text, MappedFile::open(path));
  LLMC_TRY_ASSIGN(Config config, parseConfig(text.text(), path, overrides));
  // Of the file that names it; of --set that of the whole.
  auto place = [&](const std::string &key, std::string &name) {
    if (!name.empty() && std::filesystem::path(name).is_relative()) {
      std::filesystem::path folder =
          std::filesystem::path(fileOf(config.originOf(key), path))
              .parent_path();
      name = (folder / name).lexically_normal().string();
    }
  };
  auto placeFiles = [&](const std::string &table, DataConfig &source) {
    for (std::string &pattern : source.file.patterns) {
      place(table + ".file", pattern);
    }
    for (std::string &pattern : source.evaluateFile.patterns) {
      place(table + ".evaluate_file", pattern);
    }
  };
  placeFiles("data", config.data);
  for (auto &[name, source] : config.sources) {
    placeFiles("data." + name, source);
  }
  place("optimizer.path", config.optimizer.path);
  for (size_t i = 0; i < config.group.size(); ++i) {
    place(fmt::format("group[{}].path", i), config.group[i].path);
  }
  if (std::filesystem::path(config.pipeline.schedule).extension() == ".csv") {
    place("pipeline.schedule", config.pipeline.schedule);
  }
  return config;
}

Status llmc::rt::loadMachine(const std::string &path, Config &config,
                             const std::vector<Override> &overrides) {
  LLMC_TRY_ASSIGN(MappedFile text, MappedFile::open(path));
  std::vector<Override> own;
  for (const Override &each : overrides) {
    if (each.first.rfind("machine.", 0) == 0) {
      own.push_back(each);
    }
  }
  LLMC_TRY_ASSIGN(Config machine, parseConfig(text.text(), path, own));
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
  // Of element `index` of an array of tables, by the names that were given.
  auto lineForNamed = [&](const Key &key, size_t index) {
    std::string prefix = spell(key.name, {index, ""});
    for (const auto &[name, origin] : origins) {
      if (name.size() > prefix.size() && name.rfind(prefix, 0) == 0) {
        line(key, {index, name.substr(prefix.size())});
      }
    }
  };
  for (const Key &key : keys()) {
    if (key.name.find("[]") != std::string::npos) {
      for (size_t i = 0; i < countOf(key, config); ++i) {
        if (key.name.back() == '*') {
          lineForNamed(key, i);
          continue;
        }
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
      type = listChoices(key);
    }
    text += fmt::format("| `{}` | {} | {} | {} |\n", key.name, type,
                        key.fallback ? print(*key.fallback) : "-", key.meaning);
  }
  return text;
}
