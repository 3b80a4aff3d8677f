//===- Tree.h - The TOML of a configuration ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of a file, laid over that of the one which it extends, and so on:
//
//   base.toml               train.toml                   together
//   [optimizer]             extends = "base.toml"        [optimizer]
//   lr = 1e-3               [optimizer]                  lr = 1e-2
//   beta1 = 0.8             lr = 1e-2                    beta1 = 0.8
//
// Tables are joined key by key; whatever else both have is that of the file
// which extends, an array of tables as a whole.
//
// Tested by test/Runtime/Config/ExtendsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_CONFIG_TREE_H
#define LLMC_LIB_RUNTIME_CONFIG_TREE_H

#include "Toml.h"
#include "llmc/Runtime/Base/Status.h"

#include <string>
#include <string_view>

namespace llmc::rt::config {

/// The key that names the file below.
constexpr const char *extendsKey = "extends";

/// The text of `file` and of all that it extends. Each node knows its file.
/// Errors: 2, with the place: no TOML, a file that cannot be read, or one that
/// extends itself.
Result<toml::table> readTree(std::string_view text, const std::string &file);

/// "train.toml:3:1"; `file` where the node does not know its own.
std::string placeOf(const toml::node &node, const std::string &file);

} // namespace llmc::rt::config

#endif // LLMC_LIB_RUNTIME_CONFIG_TREE_H
