//===- Tree.cpp - The TOML of a configuration -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tree.h"
#include "llmc/Runtime/Base/File.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

using namespace llmc::rt;
using namespace llmc::rt::config;

std::string llmc::rt::config::placeOf(const toml::node &node,
                                      const std::string &file) {
  const toml::source_region &source = node.source();
  return fmt::format("{}:{}:{}", source.path ? *source.path : file,
                     source.begin.line, source.begin.column);
}

static Result<toml::table> parse(std::string_view text,
                                 const std::string &file) {
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error &error) {
    auto at = error.source().begin;
    return makeError(ErrorKind::usage,
                     fmt::format("{}:{}:{}: {}", file, at.line, at.column,
                                 error.description()));
  }
}

/// Lays the keys of `own` over those of `base`. Nodes are moved, not copied: a
/// copy does not know its place.
static void layOver(toml::table &base, toml::table &own) {
  for (auto &&[key, node] : own) {
    toml::node *below = base.get(key);
    if (below && below->is_table() && node.is_table()) {
      layOver(*below->as_table(), *node.as_table());
    } else {
      base.insert_or_assign(key, std::move(node));
    }
  }
}

/// One name for each file, whatever the way to it.
static std::string identify(const std::filesystem::path &path) {
  std::error_code code;
  std::filesystem::path whole = std::filesystem::weakly_canonical(path, code);
  return code ? path.string() : whole.string();
}

/// `above` are the files that extend this one, `file` itself last.
static Result<toml::table> readTree(std::string_view text,
                                    const std::string &file,
                                    std::vector<std::string> above) {
  LLMC_TRY_ASSIGN(toml::table own, parse(text, file));
  const toml::node *extends = own.get(extendsKey);
  // What is no text the table of keys refuses.
  if (!extends || !extends->is_string()) {
    return own;
  }
  std::string place = placeOf(*extends, file);
  std::filesystem::path name = extends->ref<std::string>();
  std::string path =
      (std::filesystem::path(file).parent_path() / name).lexically_normal();
  above.push_back(identify(path));
  if (std::find(above.begin(), above.end() - 1, above.back()) !=
      above.end() - 1) {
    return makeError(
        ErrorKind::usage,
        fmt::format("{}: expected a file that does not extend this one, got "
                    "'{}': {}",
                    place, name.string(), fmt::join(above, " extends ")));
  }
  Result<MappedFile> below = MappedFile::open(path);
  if (!below.ok()) {
    return makeError(ErrorKind::usage,
                     fmt::format("{}: '{}' {}: {}", place, extendsKey,
                                 name.string(), below.message()));
  }
  LLMC_TRY_ASSIGN(toml::table tree, readTree(below->text(), path, above));
  layOver(tree, own);
  return tree;
}

Result<toml::table> llmc::rt::config::readTree(std::string_view text,
                                               const std::string &file) {
  return ::readTree(text, file, {identify(file)});
}
