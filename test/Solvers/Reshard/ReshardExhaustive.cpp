//===- ReshardExhaustive.cpp - The price of one move ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReshardExhaustive.h"

#include <cmath>

namespace llmc {

/// Only the dims' lists differ.
int64_t AllLayouts::priceOfDims(const ReshardLayout &a, const ReshardLayout &b,
                                const std::vector<size_t> &changed) const {
  Set rest, gained, crossed;
  if (changed.size() == 1) {
    auto &x = a.dims[changed[0]], &y = b.dims[changed[0]];
    if (extends(x, y, rest))
      return 0;
    if (extends(y, x, rest))
      return weigh(double(local(a)) * (parts(rest) - 1), rest);
  }
  if (changed.size() == 2)
    for (int turn = 0; turn < 2; ++turn) {
      size_t d = changed[turn], e = changed[1 - turn];
      if (extends(b.dims[d], a.dims[d], rest) &&
          extends(a.dims[e], b.dims[e], gained) && rest == gained)
        return weigh(double(local(a)) * (parts(rest) - 1) / parts(rest), rest);
    }
  Set mine, theirs;
  for (size_t dim : changed) {
    if (parts(a.dims[dim]) != parts(b.dims[dim]))
      return never;
    mine.insert(mine.end(), a.dims[dim].begin(), a.dims[dim].end());
    theirs.insert(theirs.end(), b.dims[dim].begin(), b.dims[dim].end());
    for (int32_t axis : a.dims[dim]) {
      auto inA = std::find(a.dims[dim].begin(), a.dims[dim].end(), axis);
      auto inB = std::find(b.dims[dim].begin(), b.dims[dim].end(), axis);
      if (inB == b.dims[dim].end() || parts(Set(inA, a.dims[dim].end())) !=
                                          parts(Set(inB, b.dims[dim].end())))
        crossed.push_back(axis);
    }
  }
  std::sort(mine.begin(), mine.end());
  std::sort(theirs.begin(), theirs.end());
  return mine == theirs ? weigh(double(local(a)), crossed) : never;
}

int64_t AllLayouts::price(const ReshardLayout &a, const ReshardLayout &b,
                          const ReshardLayout &target) const {
  std::vector<size_t> changed;
  for (size_t dim = 0; dim < a.dims.size(); ++dim)
    if (a.dims[dim] != b.dims[dim])
      changed.push_back(dim);
  Set lost = minus(a.partial, b.partial), made = minus(b.partial, a.partial);
  int32_t pipe = mesh.pipelineAxis;
  if (!lost.empty() && !made.empty())
    return never;
  Set rest;
  if (a.stages != b.stages) {
    bool grows = (a.stages & ~b.stages) == 0,
         shrinks = (b.stages & ~a.stages) == 0;
    bool single = (b.stages & (b.stages - 1)) == 0;
    if (!changed.empty())
      return never;
    if (lost == Set{pipe} && shrinks && single)
      return terms(a, lost) > 1 ? weigh(double(local(a)), lost) : 0;
    bool lifts = uses(b, pipe) && grows && b.stages == target.stages &&
                 std::count(target.partial.begin(), target.partial.end(), pipe);
    if (made == Set{pipe} || (made.empty() && lost.empty() && uses(a, pipe)))
      return lifts && (made.empty() || !uses(a, pipe)) &&
                     std::count(b.partial.begin(), b.partial.end(), pipe)
                 ? 0
                 : never;
    if (!lost.empty() || !made.empty())
      return never;
    return shrinks ? 0 : weigh(double(local(a)), {pipe});
  }
  if (!made.empty()) {
    if (made.size() > 1 ||
        !std::count(target.partial.begin(), target.partial.end(), made[0]))
      return never;
    if (changed.empty())
      return made[0] == pipe && b.stages != target.stages ? never : 0;
    return changed.size() == 1 &&
                   extends(b.dims[changed[0]], a.dims[changed[0]], rest) &&
                   rest == made
               ? 0
               : never;
  }
  if (lost.empty())
    return priceOfDims(a, b, changed);
  double n = double(terms(a, lost)), bytes = double(local(a)) * (n - 1) / n;
  if (n == 1 && changed.empty())
    return 0;
  if (changed.empty())
    return weigh(std::ceil(2 * bytes), lost);
  if (changed.size() > 1 ||
      !extends(a.dims[changed[0]], b.dims[changed[0]], rest))
    return never;
  std::sort(rest.begin(), rest.end());
  return rest == lost ? weigh(bytes, lost) : never;
}

} // namespace llmc
