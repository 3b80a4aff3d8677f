//===- InitGroups.cpp - States that begin alike ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InitGroups.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Config/Config.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llmc;
using namespace llmc::driver;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

std::string driver::quote(const std::string &text) {
  std::string quoted = "\"";
  for (char c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      quoted +=
          llvm::formatv("\\u{0:X-4}", static_cast<unsigned char>(c)).str();
    else
      quoted +=
          c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return quoted + "\"";
}

void StateGroups::add(const std::string &name, ArrayRef<int64_t> shape) {
  std::string glob = rt::hideNumbers(name);
  for (StateGroup &group : groups)
    if (group.glob == glob && ArrayRef<int64_t>(group.shape) == shape) {
      group.names.push_back(name);
      return;
    }
  groups.push_back({glob, SmallVector<int64_t>(shape), {name}});
}

/// By the name alone: what scales begins with ones, other vectors with zeros,
/// matrices with a deviation that keeps the size of what they multiply.
static std::string drawOf(const StateGroup &group) {
  StringRef last = StringRef(group.glob).rsplit('.').second;
  last = last.empty() ? StringRef(group.glob) : last;
  if (group.shape.size() >= 2)
    return llvm::formatv("draw = \"normal\"\nstd = {0:f4}\n",
                         1 / std::sqrt(double(std::max<int64_t>(
                                 group.shape[group.shape.size() - 2], 1))))
        .str();
  bool scales =
      last.contains("scale") || last.contains("gamma") || last.contains("norm");
  return scales ? "draw = \"ones\"            # by its name, it scales\n"
                : "draw = \"zeros\"\n";
}

static bool matchesAnyOf(const StateGroup &group, const StateGroup &other) {
  return llvm::any_of(other.names, [&](const std::string &name) {
    return rt::matchesGlob(group.glob, name);
  });
}

/// The groups whose tables are written with their glob, in order: each name is
/// matched first by the glob of a group that is drawn as its own is, or its
/// group is not among them, and is written name by name before all globs. Of
/// groups that compete the one with more names keeps the glob.
std::vector<const StateGroup *> StateGroups::chooseGlobs() const {
  std::vector<const StateGroup *> chosen;
  for (const StateGroup &group : groups) {
    bool isTaken = llvm::any_of(groups, [&](const StateGroup &other) {
      bool isFirst = other.names.size() != group.names.size()
                         ? other.names.size() > group.names.size()
                         : &other < &group;
      return isFirst && drawOf(other) != drawOf(group) &&
             (matchesAnyOf(other, group) || matchesAnyOf(group, other));
    });
    if (!isTaken)
      chosen.push_back(&group);
  }
  return chosen;
}

static std::string writeDraw(const StateGroup &group, const std::string &match,
                             size_t count) {
  std::string shape;
  for (int64_t size : group.shape)
    shape += (shape.empty() ? "" : " x ") + std::to_string(size);
  return "[[init]]\nmatch = " + quote(match) + "  # " + std::to_string(count) +
         " of " + (shape.empty() ? "one element" : shape) + "\n" +
         drawOf(group);
}

std::string StateGroups::writeDraws() const {
  std::vector<const StateGroup *> chosen = chooseGlobs();
  std::string text =
      "# How parameters are drawn; the first table that matches counts.\n";
  for (const StateGroup &group : groups)
    if (!llvm::is_contained(chosen, &group))
      for (const std::string &name : group.names)
        text += writeDraw(group, name, 1);
  for (const StateGroup *group : chosen)
    text += writeDraw(*group, group->glob, group->names.size());
  return text + "\n";
}

/// Whether two matrices have one wider dimension, through which what the first
/// makes goes into the second: their shapes are each other's, turned.
static bool arePair(const StateGroup &one, const StateGroup &other) {
  SmallVector<int64_t> turned = other.shape;
  size_t rank = turned.size();
  if (rank < 2 || !StringRef(one.glob).contains('*') ||
      StringRef(one.glob).split('*').first !=
          StringRef(other.glob).split('*').first)
    return false;
  std::swap(turned[rank - 1], turned[rank - 2]);
  return turned == one.shape && turned[rank - 1] != turned[rank - 2];
}

/// Whether the group's glob matches no other's names.
bool StateGroups::isAlone(const StateGroup &group) const {
  return llvm::none_of(groups, [&](const StateGroup &other) {
    return &other != &group && matchesAnyOf(group, other);
  });
}

std::string StateGroups::writePairs() const {
  std::string text;
  for (const StateGroup &group : groups) {
    if (llvm::none_of(groups, [&](const StateGroup &other) {
          return arePair(group, other);
        }))
      continue;
    size_t last = group.shape.size() - 1;
    size_t wide = group.shape[last] > group.shape[last - 1] ? last : last - 1;
    std::string lists;
    for (size_t i = 0; i < wide; ++i)
      lists += "[], ";
    for (const std::string &match :
         isAlone(group) ? std::vector<std::string>{group.glob} : group.names)
      text += "[[layout]]              # its wider dimension over "
              "tensor\nmatch = " +
              quote(match) + "\nrest = [" + lists + "[\"tensor\"]]\n";
  }
  return text;
}
