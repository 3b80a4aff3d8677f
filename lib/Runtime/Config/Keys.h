//===- Keys.h - The table of configuration keys -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row for each key: name, type, default, meaning, and where its value is
// stored. In names, "[]" stands for the elements of an array of tables and "*"
// for a name of the user's choice, of a table or, at the end, of a value.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_CONFIG_KEYS_H
#define LLMC_LIB_RUNTIME_CONFIG_KEYS_H

#include "llmc/Runtime/Config/Config.h"

#include <functional>
#include <optional>
#include <variant>

namespace llmc::rt::config {

enum class KeyType {
  text,
  integer,
  number,
  flag,
  texts,
  lists,
  numbers,
  files
};

using Value =
    std::variant<std::string, int64_t, double, bool, std::vector<std::string>,
                 AxisLists, std::vector<double>, FileList>;

/// Which element of an array of tables, and which user-chosen names.
struct Slot {
  size_t index = 0;
  /// Of the value, and of the table that it stands in.
  std::string name = {}, table = {};
};

struct Key {
  std::string name;
  KeyType type;
  /// Absent: the key has no value unless it is given.
  std::optional<Value> fallback;
  std::string meaning;
  /// The words that a text may be; empty: any.
  std::vector<std::string> choices;
  /// Smallest legal number.
  std::optional<double> least;
  std::function<void(Config &, const Slot &, const Value &)> store;
  std::function<Value(const Config &, const Slot &)> load;
};

/// How many elements the array of tables to which the key belongs has ("[]" in
/// its name).
size_t countOf(const Key &key, const Config &config);

const std::vector<Key> &keys();
/// The row of `name` (with "[]" and "*" as in the table), or null.
const Key *findKey(std::string_view name);

/// The row that `name`, spelled as the user does, belongs to, with the names
/// that stand for "*"; null when there is none. Arrays of tables are no part.
std::pair<const Key *, Slot> matchKey(const std::string &name);

/// The key for which other programs have the last word `word`, or "".
std::string_view otherNameOf(std::string_view word);

/// The rows of [data] and [data.<name>], in the order of the reference.
void addDataKeys(std::vector<Key> &keys);

/// Gives named sources the keys of [data] that are set and that count for all.
void takeCommonDataKeys(Config &config);

std::string_view nameOf(KeyType type);
std::string print(const Value &value);

} // namespace llmc::rt::config

#endif // LLMC_LIB_RUNTIME_CONFIG_KEYS_H
