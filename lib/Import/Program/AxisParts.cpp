//===- AxisParts.cpp - Annotations by parts of mesh axes ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Import/Program/AxisParts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

std::string import::showPart(const AxisPart &part) {
  return part.size == 0 ? part.name
                        : part.name + ":(" + std::to_string(part.preSize) +
                              ")" + std::to_string(part.size);
}

AxisPart import::readPart(StringRef text) {
  AxisPart part;
  auto [name, rest] = text.rsplit(":(");
  auto [pre, size] = rest.split(')');
  int64_t end = 0;
  bool isPart = !name.empty() && !pre.getAsInteger(10, part.preSize) &&
                !size.getAsInteger(10, part.size) && part.preSize > 0 &&
                part.size > 1 &&
                !llvm::MulOverflow(part.preSize, part.size, end);
  return isPart ? AxisPart{name.str(), part.preSize, part.size}
                : AxisPart{text.str()};
}

bool import::overlap(const AxisPart &a, const AxisPart &b) {
  return a.name == b.name &&
         (a.size == 0 || b.size == 0 ||
          (a.preSize < b.preSize * b.size && b.preSize < a.preSize * a.size));
}

/// The ends of the axis and of its parts, from major to minor.
static rt::Result<std::set<int64_t>>
findEnds(const std::string &axis, int64_t size, ArrayRef<NamedPart> parts) {
  std::set<int64_t> ends = {1, size};
  for (const auto &[part, place] : parts) {
    if (part.name != axis || part.size == 0)
      continue;
    int64_t end = part.preSize * part.size;
    if (size % end != 0)
      return rt::makeError(ErrorKind::usage,
                           place + "expected a part that divides the axis \"" +
                               axis + "\" of size " + std::to_string(size) +
                               ", got \"" + showPart(part) + "\"");
    ends.insert({part.preSize, end});
    for (auto it = ends.begin(); std::next(it) != ends.end(); ++it)
      if (*std::next(it) % *it != 0)
        return rt::makeError(
            ErrorKind::unsupported,
            place + "expected parts of the axis \"" + axis +
                "\" whose ends are a chain of divisors, got \"" +
                showPart(part) + "\", by which there are ends at " +
                std::to_string(*it) + " and " + std::to_string(*std::next(it)));
  }
  return ends;
}

rt::Status import::cutAxes(MeshAxes &axes, ArrayRef<NamedPart> parts) {
  MeshAxes cut;
  for (const auto &[axis, size] : axes) {
    std::set<int64_t> ends = {1, size};
    if (size > 1) {
      LLMC_TRY_ASSIGN(ends, findEnds(axis, size, parts));
    }
    if (ends.size() < 3)
      cut.emplace_back(axis, size);
    else
      for (auto it = ends.begin(); std::next(it) != ends.end(); ++it) {
        int64_t atom = *std::next(it) / *it;
        cut.emplace_back(showPart({axis, *it, atom}), atom);
      }
  }
  axes = std::move(cut);
  return rt::Status::success();
}

std::vector<std::string> import::getWholeAxes(dist::MeshAxesAttr mesh) {
  std::vector<std::string> names;
  for (StringAttr name : mesh.getNames()) {
    std::string whole = readPart(name).name;
    if (!llvm::is_contained(names, whole))
      names.push_back(whole);
  }
  return names;
}

SmallVector<dist::AxisAttr> import::findAxes(dist::MeshAxesAttr mesh,
                                             const AxisPart &part) {
  SmallVector<dist::AxisAttr> axes;
  for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes())) {
    AxisPart atom = readPart(name);
    bool isIn = part.size == 0 || atom.size == 0 ||
                (atom.preSize >= part.preSize &&
                 atom.preSize < part.preSize * part.size);
    if (atom.name == part.name && isIn && size > 1)
      axes.push_back(dist::AxisAttr::get(mesh.getContext(), name.getValue()));
  }
  return axes;
}
