//===- KeyRows.h - Rows of the table of keys --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row for a member of a section, and for a map of one.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_CONFIG_KEYROWS_H
#define LLMC_LIB_RUNTIME_CONFIG_KEYROWS_H

#include "Keys.h"

namespace llmc::rt::config {

template <typename T> struct TypeOf;
template <> struct TypeOf<std::string> {
  static constexpr KeyType value = KeyType::text;
};
template <> struct TypeOf<int64_t> {
  static constexpr KeyType value = KeyType::integer;
};
template <> struct TypeOf<double> {
  static constexpr KeyType value = KeyType::number;
};
template <> struct TypeOf<bool> {
  static constexpr KeyType value = KeyType::flag;
};
template <> struct TypeOf<std::vector<std::string>> {
  static constexpr KeyType value = KeyType::texts;
};
template <> struct TypeOf<std::vector<double>> {
  static constexpr KeyType value = KeyType::numbers;
};
template <> struct TypeOf<FileList> {
  static constexpr KeyType value = KeyType::files;
};
template <> struct TypeOf<AxisLists> {
  static constexpr KeyType value = KeyType::lists;
};

/// A row for `member` of the section `section`.
template <typename Section, typename T>
Key row(std::string name, Section Config::*section, T Section::*member,
        std::optional<T> fallback, std::string meaning,
        std::vector<std::string> choices = {},
        std::optional<double> least = {}) {
  Key key{std::move(name),
          TypeOf<T>::value,
          std::nullopt,
          std::move(meaning),
          std::move(choices),
          least,
          nullptr,
          nullptr};
  if (fallback) {
    key.fallback = Value(*fallback);
  }
  key.store = [=](Config &config, const Slot &, const Value &value) {
    config.*section.*member = std::get<T>(value);
  };
  key.load = [=](const Config &config, const Slot &) {
    return Value(config.*section.*member);
  };
  return key;
}

/// A row for the user-named entries of a map.
template <typename Section, typename T>
Key mapRow(std::string name, Section Config::*section,
           std::map<std::string, T> Section::*member, std::string meaning,
           std::optional<double> least = {}) {
  Key key{
      std::move(name), TypeOf<T>::value, std::nullopt, std::move(meaning), {},
      least,           nullptr,          nullptr};
  key.store = [=](Config &config, const Slot &slot, const Value &value) {
    (config.*section.*member)[slot.name] = std::get<T>(value);
  };
  key.load = [=](const Config &config, const Slot &slot) {
    return Value((config.*section.*member).at(slot.name));
  };
  return key;
}

} // namespace llmc::rt::config

#endif // LLMC_LIB_RUNTIME_CONFIG_KEYROWS_H
