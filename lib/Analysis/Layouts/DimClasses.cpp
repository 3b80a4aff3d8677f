//===- DimClasses.cpp - Dims that hang together, as atoms -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DimClasses.h.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/DimClasses.h"

using namespace llmc;

int DimClasses::addNode(int64_t size) {
  nodes.push_back({-1, size, -1, -1, 0});
  return static_cast<int>(nodes.size()) - 1;
}

int DimClasses::addDim(int64_t size) {
  roots.push_back(addNode(size));
  return static_cast<int>(roots.size()) - 1;
}

int DimClasses::find(int node) const {
  int root = node;
  while (nodes[root].parent >= 0)
    root = nodes[root].parent;
  while (nodes[node].parent >= 0) {
    int next = nodes[node].parent;
    nodes[node].parent = root;
    node = next;
  }
  return root;
}

bool DimClasses::canCut(int node, int64_t minorSize) const {
  node = find(node);
  const Node &n = nodes[node];
  if (n.size % minorSize)
    return false;
  if (n.minor < 0)
    return true;
  int64_t below = nodes[find(n.minor)].size;
  if (minorSize <= below)
    return canCut(n.minor, minorSize);
  return minorSize % below == 0 && canCut(n.major, minorSize / below);
}

bool DimClasses::cut(int node, int64_t minorSize, uint8_t phases) {
  node = find(node);
  int64_t size = nodes[node].size;
  if (minorSize == 1 || minorSize == size)
    return true;
  if (!canCut(node, minorSize))
    return false;
  if (nodes[node].minor < 0) {
    int major = addNode(size / minorSize), minor = addNode(minorSize);
    nodes[node].major = major;
    nodes[node].minor = minor;
    nodes[node].boundary = phases;
    return true;
  }
  int64_t below = nodes[find(nodes[node].minor)].size;
  if (minorSize == below)
    nodes[node].boundary |= phases;
  else if (minorSize < below)
    return cut(nodes[node].minor, minorSize, phases);
  else
    return cut(nodes[node].major, minorSize / below, phases);
  return true;
}

void DimClasses::flatten(int node, ClassAtoms &atoms) const {
  node = find(node);
  const Node &n = nodes[node];
  if (n.minor < 0) {
    if (n.size > 1)
      atoms.push_back({node, n.size, 0});
    return;
  }
  flatten(n.major, atoms);
  if (!atoms.empty())
    atoms.back().boundary |= n.boundary;
  flatten(n.minor, atoms);
}

DimClasses::ClassAtoms DimClasses::getAtoms(int dim) const {
  ClassAtoms atoms;
  flatten(roots[dim], atoms);
  return atoms;
}

DimClasses::ClassAtoms DimClasses::atomsOf(const Part &part) const {
  ClassAtoms atoms = getAtoms(part.dim), taken;
  int64_t minor = 1;
  for (const ClassAtom &atom : llvm::reverse(atoms)) {
    if (minor >= part.minor && minor < part.minor * part.size)
      taken.insert(taken.begin(), atom);
    minor *= atom.size;
  }
  return taken;
}

/// Cuts `part` where `other` is cut.
bool DimClasses::meet(const Part &part, const Part &other) {
  int64_t minor = 1;
  ClassAtoms atoms = atomsOf(other);
  for (const ClassAtom &atom : llvm::reverse(atoms)) {
    minor *= atom.size;
    if (!cut(roots[part.dim], minor * part.minor, /*phases=*/0))
      return false;
  }
  return true;
}

bool DimClasses::tie(ArrayRef<Part> parts, uint8_t phases) {
  for (const Part &part : parts)
    if (!cut(roots[part.dim], part.minor, phases) ||
        !cut(roots[part.dim], part.minor * part.size, phases))
      return false;
  for (const Part &part : parts.drop_front()) {
    if (!meet(part, parts.front()) || !meet(parts.front(), part))
      return false;
    ClassAtoms mine = atomsOf(part), first = atomsOf(parts.front());
    if (mine.size() != first.size())
      return false;
    for (auto [a, b] : llvm::zip(mine, first))
      if (a.size != b.size)
        return false;
    for (auto [a, b] : llvm::zip(mine, first))
      join(a.id, b.id);
    joinWhole(part, parts.front());
  }
  return true;
}

void DimClasses::join(int from, int to) {
  from = find(from);
  to = find(to);
  if (from != to)
    nodes[from].parent = to;
}

/// Whole dims share later cuts and the phases of boundaries too.
void DimClasses::joinWhole(const Part &part, const Part &other) {
  int from = find(roots[part.dim]), to = find(roots[other.dim]);
  if (from == to || nodes[from].size != part.size ||
      nodes[to].size != other.size)
    return;
  int64_t minor = part.size;
  for (const ClassAtom &atom : getAtoms(part.dim)) {
    minor /= atom.size;
    cut(to, minor, atom.boundary);
  }
  join(from, to);
}
