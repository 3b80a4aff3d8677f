//===- DimStorageTest.cpp - Which extents split dims are stored with ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The examples of docs/layout-algebra.md, section 2; then, over random lists,
// that each part is equal, and that no move between two lists shifts elements.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/DimStorage.h"
#include "StoredElements.h"
#include "gtest/gtest.h"
#include <random>

using namespace llmc;

namespace {

ClassAtoms atomsOf(ArrayRef<int64_t> sizes, uint8_t boundary = 1,
                   int firstId = 0) {
  ClassAtoms atoms;
  for (int64_t size : sizes)
    atoms.push_back({firstId++, size, boundary});
  return atoms;
}

std::string show(const Atoms &atoms) {
  std::string text;
  for (const Atom &atom : atoms) {
    text += (text.empty() ? "" : ", ") + std::to_string(atom.size);
    if (atom.extent != atom.size)
      text += ":" + std::to_string(atom.extent);
  }
  return text;
}

enum : int8_t { t2, t4, d2, d3, d5 };
const int64_t axes[] = {2, 4, 2, 3, 5};

TEST(DimStorage, HeadsArePaddedWhereTheBoundaryIsNeeded) {
  DimStorage storage(axes);
  ClassAtoms heads = atomsOf({6, 64});
  storage.add(heads, {t4}, 1);
  ASSERT_EQ(storage.solve(), "");
  // [6:8, 64] in its one form.
  EXPECT_EQ(show(storage.getStored(heads, {t4})), "384:512");
}

TEST(DimStorage, AtomsArePaddedAsOneWhereItIsNot) {
  DimStorage storage(axes);
  ClassAtoms heads = atomsOf({6, 64}, /*boundary=*/1);
  storage.add(heads, {t2}, 1);
  storage.add(heads, {t2, d5}, 2);
  ASSERT_EQ(storage.solve(), "");
  EXPECT_EQ(show(storage.getStored(heads, {t2})), "");
  EXPECT_EQ(show(storage.getStored(heads, {t2, d5})), "2, 192:195");
}

TEST(DimStorage, AListThatPadsOtherwiseNeedsTheBoundary) {
  DimStorage storage(axes);
  ClassAtoms heads = atomsOf({6, 64});
  storage.add(heads, {t4}, 1);
  storage.add(heads, {t4, d2}, 2);
  ASSERT_EQ(storage.solve(), "");
  EXPECT_EQ(show(storage.getStored(heads, {t4})), "384:512");
  EXPECT_EQ(show(storage.getStored(heads, {t4, d2})), "384:512");
}

TEST(DimStorage, AtomsTakenAsOneEvenlyMayShareTheFirst) {
  // Heads of two weights whose minor atoms are others: nothing is padded.
  DimStorage storage(axes);
  ClassAtoms keys = {{0, 2, 1}, {1, 8, 0}}, values = {{0, 2, 1}, {2, 8, 0}};
  storage.add(keys, {t4}, 2);
  storage.add(values, {t4}, 2);
  ASSERT_EQ(storage.solve(), "");
  EXPECT_EQ(show(storage.getStored(keys, {t4})), "");
  EXPECT_EQ(show(storage.getStored(values, {t4})), "");
}

TEST(DimStorage, TheRefusedListIsKnown) {
  DimStorage storage(axes);
  ClassAtoms heads = atomsOf({2, 3}), other = atomsOf({50257});
  storage.add(other, {t2}, 1);
  storage.add(heads, {t4}, 1);
  ASSERT_EQ(storage.solve(), "pads 2 to 4");
  EXPECT_TRUE(storage.isRefused(heads, {t4}));
  EXPECT_FALSE(storage.isRefused(other, {t2}));
}

TEST(DimStorage, ListsOfOneAtomShareItsExtent) {
  DimStorage alone(axes), shared(axes);
  ClassAtoms vocabulary = atomsOf({50257});
  alone.add(vocabulary, {t4}, 1);
  ASSERT_EQ(alone.solve(), "");
  EXPECT_EQ(show(alone.getStored(vocabulary, {t4})), "50257:50260");
  shared.add(vocabulary, {t4}, 1);
  shared.add(vocabulary, {t4, d2}, 2);
  ASSERT_EQ(shared.solve(), "");
  EXPECT_EQ(show(shared.getStored(vocabulary, {t4})), "50257:50264");
  EXPECT_EQ(show(shared.getStored(vocabulary, {t4, d2})), "50257:50264");
}

TEST(DimStorage, ABatchAndItsFlattenedTokensShareAnExtent) {
  DimStorage storage(axes);
  ClassAtoms batch = atomsOf({8}), tokens = atomsOf({8, 256});
  storage.add(batch, {d3}, 1);
  storage.add(tokens, {d3}, 1);
  ASSERT_EQ(storage.solve(), "");
  EXPECT_EQ(show(storage.getStored(batch, {d3})), "8:9");
  EXPECT_EQ(show(storage.getStored(tokens, {d3})), "2048:2304");
}

TEST(DimStorage, TooMuchPaddingIsRefused) {
  DimStorage storage(axes);
  EXPECT_EQ(storage.refuse(atomsOf({2}), {t4}, 1), "pads 2 to 4");
  EXPECT_EQ(storage.refuse(atomsOf({2, 192}), {t4}, 1), "pads 2 to 4");
  EXPECT_EQ(storage.refuse(atomsOf({2, 192}), {t4}, 2), "");
  EXPECT_EQ(storage.refuse(atomsOf({2}), {t2, d2}, 1), "pads 1 to 2");
  EXPECT_EQ(storage.refuse({}, {t2}, 1), "pads 1 to 2");
}

TEST(DimStorage, FactorsTakeAxesInTurn) {
  DimStorage storage(axes);
  SmallVector<AxisList> lists;
  EXPECT_TRUE(storage.pourIntoFactors({t2, d3, d5}, {6, 64}, lists));
  EXPECT_EQ(lists, (SmallVector<AxisList>{{t2, d3}, {d5}}));
  EXPECT_TRUE(storage.pourIntoFactors({t4}, {6, 64}, lists));
  EXPECT_EQ(lists, (SmallVector<AxisList>{{t4}, {}}));
  EXPECT_FALSE(storage.pourIntoFactors({t4}, {2, 64}, lists));
  // The last factor takes what is left; no factor takes nothing.
  EXPECT_TRUE(storage.pourIntoFactors({t2, d2}, {2, 3}, lists));
  EXPECT_EQ(lists, (SmallVector<AxisList>{{t2}, {d2}}));
  EXPECT_FALSE(storage.pourIntoFactors({t2, d2}, {2}, lists));
  EXPECT_TRUE(storage.pourIntoFactors({t2}, {2}, lists));
  EXPECT_EQ(lists, (SmallVector<AxisList>{{t2}}));
  EXPECT_TRUE(storage.pourIntoFactors({}, {}, lists));
  EXPECT_TRUE(lists.empty());
  EXPECT_FALSE(storage.pourIntoFactors({t2}, {}, lists));
}

TEST(DimStorage, AListThatWasNotGivenIsStoredAsItIs) {
  DimStorage storage(axes);
  ClassAtoms vocabulary = atomsOf({50257});
  storage.add(vocabulary, {t4}, 1);
  ASSERT_EQ(storage.solve(), "");
  EXPECT_EQ(show(storage.getStored(vocabulary, {t4})), "50257:50260");
  EXPECT_EQ(show(storage.getStored(vocabulary, {d2})), "");
  EXPECT_EQ(show(storage.getStored(atomsOf({50257}, 1, 5), {t4})), "");
}

/// Without atoms the dim is stored as it is.
std::vector<int64_t> storedElementsOf(const Atoms &stored, int64_t size) {
  return test::elementsOf(stored.empty() ? Atoms{{size, size}} : stored);
}

TEST(DimStorage, RandomListsShareStorage) {
  std::mt19937 random(11);
  int solved = 0, padded = 0;
  for (int round = 0; round < 3000; ++round) {
    DimStorage storage(axes);
    ClassAtoms atoms =
        atomsOf({int64_t(2 + random() % 20), int64_t(1 + random() % 12) * 4});
    int64_t size = atoms[0].size * atoms[1].size;
    std::vector<AxisList> lists;
    for (int i = 0; i < 3; ++i) {
      AxisList list;
      for (int8_t axis = 0; axis < 5; ++axis)
        if (random() % 3 == 0)
          list.push_back(axis);
      std::shuffle(list.begin(), list.end(), random);
      uint8_t phases = 1 + random() % 2;
      if (list.empty() || !storage.refuse(atoms, list, phases).empty())
        continue;
      lists.push_back(list);
      storage.add(atoms, list, phases);
    }
    if (!storage.solve().empty())
      continue;
    ++solved;
    for (const AxisList &list : lists) {
      Atoms stored = storage.getStored(atoms, list);
      int64_t parts = 1, extent = storedElementsOf(stored, size).size();
      for (int8_t axis : list)
        parts *= axes[axis];
      ASSERT_EQ(extent % parts, 0);
      ASSERT_LT(extent, 2 * size);
      padded += !stored.empty();
      // After a common first axis, a device of one holds what it holds of the
      // other: only the rest of the lists moves.
      for (const AxisList &other : lists) {
        if (list.front() != other.front() || list == other)
          continue;
        auto mine = storedElementsOf(stored, size);
        auto theirs = storedElementsOf(storage.getStored(atoms, other), size);
        int64_t first = axes[list.front()];
        auto part = [&](const std::vector<int64_t> &all, int64_t device) {
          std::vector<int64_t> held;
          int64_t local = all.size() / first;
          for (int64_t i = 0; i < local; ++i)
            if (all[device * local + i] >= 0)
              held.push_back(all[device * local + i]);
          return held;
        };
        for (int64_t device = 0; device < first; ++device)
          ASSERT_EQ(part(mine, device), part(theirs, device));
      }
    }
  }
  EXPECT_GT(solved, 1000);
  EXPECT_GT(padded, 500);
}

} // namespace
