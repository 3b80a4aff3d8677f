//===- DimStorage.cpp - Which extents split dims are stored with ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DimStorage.h.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/DimStorage.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace llmc;

int64_t DimStorage::productOf(ArrayRef<int8_t> list) const {
  int64_t product = 1;
  for (int8_t axis : list)
    product *= axisSizes[axis];
  return product;
}

static std::string padsTo(int64_t size, int64_t extent) {
  return "pads " + std::to_string(size) + " to " + std::to_string(extent);
}

/// Whether padding what is left of something to this extent is too much.
static bool isTooMuch(int64_t left, int64_t extent) {
  return extent >= 2 * left;
}

std::string DimStorage::pour(const ClassAtoms &atoms, ArrayRef<int8_t> list,
                             uint8_t phases,
                             SmallVectorImpl<Piece> &pieces) const {
  pieces.clear();
  auto open = [&](size_t i) {
    pieces.push_back({i, i, {}, 0, 0, atoms[i].size});
  };
  for (size_t k = 0; k < list.size(); ++k) {
    int64_t parts = axisSizes[list[k]];
    if (pieces.empty() || pieces.back().left == 1) {
      size_t next = pieces.empty() ? 0 : pieces.back().last + 1;
      if (next >= atoms.size())
        return padsTo(1, parts);
      open(next);
    }
    Piece *piece = &pieces.back();
    if (piece->left % parts)
      while (piece->last + 1 < atoms.size() &&
             !(atoms[piece->last].boundary & phases))
        piece->left *= atoms[++piece->last].size;
    piece->axes.push_back(list[k]);
    if (piece->left % parts == 0) {
      piece->left /= parts;
      ++piece->numEven;
      piece->numAlone += !piece->isMerged();
      continue;
    }
    piece->axes.append(list.begin() + k + 1, list.end());
    int64_t all = productOf(list.drop_front(k));
    int64_t extent = llvm::alignTo(piece->left, all);
    return isTooMuch(piece->left, extent) ? padsTo(piece->left, extent) : "";
  }
  return "";
}

std::string DimStorage::refuse(const ClassAtoms &atoms, ArrayRef<int8_t> list,
                               uint8_t phases) const {
  SmallVector<Piece, 2> pieces;
  return pour(atoms, list, phases, pieces);
}

bool DimStorage::pourIntoFactors(ArrayRef<int8_t> list, ArrayRef<int64_t> sizes,
                                 SmallVectorImpl<AxisList> &factors) const {
  factors.assign(sizes.size(), AxisList());
  size_t at = 0;
  int64_t left = sizes.empty() ? 1 : sizes[0];
  for (size_t k = 0; k < list.size(); ++k) {
    int64_t parts = axisSizes[list[k]];
    while (left == 1 && at + 1 < sizes.size())
      left = sizes[++at];
    if (sizes.empty())
      return false;
    factors[at].push_back(list[k]);
    if (left % parts == 0) {
      left /= parts;
      continue;
    }
    factors[at].append(list.begin() + k + 1, list.end());
    return !isTooMuch(left, llvm::alignTo(left, productOf(list.drop_front(k))));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// All lists together
//===----------------------------------------------------------------------===//

DimStorage::Key DimStorage::keyOf(const ClassAtoms &atoms,
                                  ArrayRef<int8_t> list) {
  Key key;
  for (const DimClasses::ClassAtom &atom : atoms) {
    key.first.push_back(atom.id);
    key.first.push_back(atom.boundary);
  }
  key.second.assign(list.begin(), list.end());
  return key;
}

void DimStorage::add(const ClassAtoms &atoms, ArrayRef<int8_t> list,
                     uint8_t phases) {
  Use &use = uses[keyOf(atoms, list)];
  use.atoms = atoms;
  use.list.assign(list.begin(), list.end());
  use.phases |= phases;
}

/// The atoms of a piece, as a key.
static std::vector<int> atomsOf(const ClassAtoms &atoms, size_t first,
                                size_t last) {
  std::vector<int> ids;
  for (size_t i = first; i <= last; ++i)
    ids.push_back(atoms[i].id);
  return ids;
}

/// What all pieces on the same atoms share.
std::string DimStorage::share(ArrayRef<const Piece *> pieces, int64_t size,
                              Shared &shared) const {
  shared.size = shared.extent = size;
  const Piece *padded = nullptr;
  for (const Piece *piece : pieces)
    if (piece->isPadded() && (!padded || piece->numEven < padded->numEven))
      padded = piece;
  if (!padded)
    return "";
  shared.isPadded = true;
  ArrayRef<int8_t> prefix =
      ArrayRef<int8_t>(padded->axes).take_front(padded->numEven);
  // The prefix only shrinks: down to what every other list begins with.
  for (const Piece *piece : pieces)
    while (!startsWith(piece->axes, prefix) && !startsWith(prefix, piece->axes))
      prefix = prefix.drop_back();
  shared.prefix.assign(prefix.begin(), prefix.end());
  int64_t left = size / productOf(prefix), multiple = 1;
  for (const Piece *piece : pieces)
    if (piece->axes.size() > prefix.size())
      multiple = std::lcm(
          multiple,
          productOf(ArrayRef<int8_t>(piece->axes).drop_front(prefix.size())));
  shared.extent = llvm::alignTo(left, multiple);
  return isTooMuch(left, shared.extent) ? padsTo(left, shared.extent) : "";
}

/// Whether atoms taken as one in `piece` and what `o` does to some of them can
/// stand together: no element is shifted by either, or `o` splits the first of
/// them alone, as all lists do that take them as one.
bool DimStorage::agrees(const Use &use, const Piece &piece, const Use &other,
                        const Piece &o, const SharedAtoms &shared) const {
  std::vector<int> mine = atomsOf(use.atoms, piece.first, piece.last);
  std::vector<int> others = atomsOf(other.atoms, o.first, o.last);
  if (mine == others || llvm::none_of(others, [&](int id) {
        return llvm::is_contained(mine, id);
      }))
    return true;
  const Shared &all = shared.at(mine);
  if (!all.isPadded && !shared.at(others).isPadded)
    return true;
  ArrayRef<int8_t> alone =
      ArrayRef<int8_t>(piece.axes).take_front(piece.numAlone);
  return others.size() == 1 && others[0] == mine[0] &&
         startsWith(alone, o.axes) &&
         (!all.isPadded || startsWith(all.prefix, o.axes));
}

/// A list that takes atoms as one where another one does not needs all its
/// boundaries. Returns whether there was one.
bool DimStorage::separateMerged(const SharedAtoms &shared) {
  bool changed = false;
  for (auto &[key, use] : uses)
    for (const Piece &piece : use.pieces)
      if (piece.isMerged() && use.phases != 0xff)
        for (auto &[otherKey, other] : uses)
          for (const Piece &o : other.pieces)
            if (!agrees(use, piece, other, o, shared)) {
              use.phases = 0xff;
              changed = true;
            }
  return changed;
}

std::string DimStorage::storeUse(Use &use, const SharedAtoms &shared) const {
  SmallVector<Atom> stored;
  size_t next = 0;
  for (size_t p = 0; p < use.pieces.size(); ++p) {
    const Piece &piece = use.pieces[p];
    const Shared &all = shared.at(atomsOf(use.atoms, piece.first, piece.last));
    next = piece.last + 1;
    if (!all.isPadded || piece.axes.size() <= all.prefix.size()) {
      stored.push_back({all.size, all.size});
      continue;
    }
    int64_t even = productOf(all.prefix);
    if (p + 1 < use.pieces.size())
      return "is split on to the right of an atom that is padded from " +
             std::to_string(all.size / even) + " to " +
             std::to_string(all.extent) + " elsewhere";
    stored.push_back({even, even});
    stored.push_back({all.size / even, all.extent});
  }
  for (; next < use.atoms.size(); ++next)
    stored.push_back({use.atoms[next].size, use.atoms[next].size});
  use.stored = canonicalAtoms(stored);
  return "";
}

std::string DimStorage::shareAll(SharedAtoms &shared) {
  std::map<std::vector<int>, SmallVector<const Piece *>> pieces;
  std::map<std::vector<int>, Key> first;
  std::map<std::vector<int>, int64_t> sizes;
  for (auto &[key, use] : uses)
    for (const Piece &piece : use.pieces) {
      std::vector<int> ids = atomsOf(use.atoms, piece.first, piece.last);
      int64_t size = 1;
      for (size_t i = piece.first; i <= piece.last; ++i)
        size *= use.atoms[i].size;
      pieces[ids].push_back(&piece);
      sizes[ids] = size;
      first.insert({ids, key});
    }
  shared.clear();
  std::string reason;
  for (auto &[ids, list] : pieces) {
    std::string own = share(list, sizes[ids], shared[ids]);
    if (!reason.empty() || own.empty())
      continue;
    reason = own;
    refused = first[ids];
  }
  return reason;
}

std::string DimStorage::solve() {
  SharedAtoms shared;
  std::string reason;
  do {
    for (auto &[key, use] : uses)
      if (reason = pour(use.atoms, use.list, use.phases, use.pieces);
          !reason.empty()) {
        refused = key;
        return reason;
      }
    reason = shareAll(shared);
  } while (separateMerged(shared));
  for (auto &[key, use] : uses)
    if (reason.empty()) {
      reason = storeUse(use, shared);
      refused = key;
    }
  return reason;
}

bool DimStorage::isPadded() const {
  for (const auto &[key, use] : uses)
    for (const Piece &piece : use.pieces)
      if (piece.isPadded())
        return true;
  return false;
}

Atoms DimStorage::getStored(const ClassAtoms &atoms,
                            ArrayRef<int8_t> list) const {
  auto use = uses.find(keyOf(atoms, list));
  return use == uses.end() ? Atoms() : use->second.stored;
}
