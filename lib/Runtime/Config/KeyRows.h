//===- KeyRows.h - Rows of the table of configuration keys ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes a row of a member of a section, of the elements of an array of
// tables, or of a map.
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

/// Where the elements of an array of tables stand in a configuration.
template <typename Element> struct Array;
template <> struct Array<InitConfig> {
  static constexpr const char *name = "init";
  template <typename C> static auto &in(C &config) { return config.init; }
};
template <> struct Array<LayoutConfig> {
  static constexpr const char *name = "layout";
  template <typename C> static auto &in(C &config) { return config.layout; }
};
template <> struct Array<GroupConfig> {
  static constexpr const char *name = "group";
  template <typename C> static auto &in(C &config) { return config.group; }
};
template <> struct Array<PrecisionConfig> {
  static constexpr const char *name = "precision";
  template <typename C> static auto &in(C &config) { return config.precision; }
};
template <> struct Array<WeightNameConfig> {
  static constexpr const char *name = "weights";
  template <typename C> static auto &in(C &config) { return config.weights; }
};
template <> struct Array<LinkConfig> {
  static constexpr const char *name = "machine.link";
  template <typename C> static auto &in(C &config) {
    return config.machine.links;
  }
};

/// The element `slot.index`, made if need be.
template <typename Element> Element &elementOf(Config &config, Slot slot) {
  auto &elements = Array<Element>::in(config);
  if (elements.size() <= slot.index) {
    elements.resize(slot.index + 1);
  }
  return elements[slot.index];
}

/// A row for `member` of the elements of an array of tables.
template <typename Element, typename T>
Key elementRow(const std::string &name, T Element::*member, T fallback,
               std::string meaning, std::vector<std::string> choices = {}) {
  Key key{std::string(Array<Element>::name) + "[]." + name,
          TypeOf<T>::value,
          Value(fallback),
          std::move(meaning),
          std::move(choices),
          {},
          nullptr,
          nullptr};
  key.store = [=](Config &config, const Slot &slot, const Value &value) {
    elementOf<Element>(config, slot).*member = std::get<T>(value);
  };
  key.load = [=](const Config &config, const Slot &slot) {
    return Value(Array<Element>::in(config)[slot.index].*member);
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

/// [optimizer], [[group]] and [schedule] (OptimizerKeys.cpp).
void addOptimizerKeys(std::vector<Key> &keys);

} // namespace llmc::rt::config

#endif // LLMC_LIB_RUNTIME_CONFIG_KEYROWS_H
