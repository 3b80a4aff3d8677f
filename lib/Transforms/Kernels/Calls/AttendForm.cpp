//===- AttendForm.cpp - Attention by own kernels --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The indices of an attention by kind, and how its launches are cut.
//
// Test: test/Codegen/AttendLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "AttendForm.h"
#include "llmc/Runtime/Base/TargetLibraries.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace llmc::kernels {

Attention makeAttention(const rt::AttentionShape &shape) {
  using Kind = rt::AttentionIndexKind;
  Attention attention;
  attention.shape = shape;
  attention.operands = rt::operandsOf(rt::LibraryDescriptor(shape));
  for (const rt::AttentionIndex &index : shape.indices) {
    if (index.kind == Kind::batch) {
      bool isGroup = shape.isGradient && index.size != 1 &&
                     index.strideDk == 0 && index.strideDv == 0;
      (isGroup ? attention.group : attention.batch).push_back(index);
      continue;
    }
    (index.kind == Kind::row      ? attention.row
     : index.kind == Kind::column ? attention.column
     : index.kind == Kind::depth  ? attention.depth
                                  : attention.value) = index;
  }
  return attention;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

static int64_t toPower(int64_t size) {
  return llvm::PowerOf2Ceil(std::max<int64_t>(size, 1));
}

static int64_t sizeOf(const rt::AttentionShape &shape,
                      rt::AttentionIndexKind kind) {
  auto index = llvm::find_if(
      shape.indices, [&](const auto &each) { return each.kind == kind; });
  return index == shape.indices.end() ? 1 : index->size;
}

bool hasMatrixTiles(const rt::AttentionShape &shape) {
  using Kind = rt::AttentionIndexKind;
  constexpr int64_t most = rt::attentionTensorDepth;
  return (shape.dtype == rt::DType::bf16 || shape.dtype == rt::DType::f16) &&
         shape.accumulate == rt::DType::f32 &&
         sizeOf(shape, Kind::depth) <= most &&
         sizeOf(shape, Kind::value) <= most;
}

/// Four warps, which load tiles together however many lines are theirs. Sums of
/// results take most of a thread's registers, and scores what is left.
static AttendTile chooseMatrixTile(const Attention &attention,
                                   AttendKind kind) {
  bool ownsRows = kind != AttendKind::Columns;
  int64_t other = ownsRows ? attention.column.size : attention.row.size;
  int64_t depth = kind == AttendKind::Forward ? 0 : attention.depth.size,
          value = kind == AttendKind::Rows ? 0 : attention.value.size;
  AttendTile tile;
  tile.isMatrix = true;
  tile.own = 2;
  tile.threadsN = 4;
  tile.threadsM = 32;
  // Else ptxas spills; where bits are drawn it spills less with more of them.
  bool isFew =
      kind == AttendKind::Columns || (kind == AttendKind::Rows && depth > 64);
  int64_t most = isFew && !attention.shape.hasDropout() ? 16 : 32;
  tile.other = std::clamp<int64_t>(toPower(other), 16, most) / 4;
  if (kind == AttendKind::Columns)
    tile.parts = llvm::divideCeil(std::max(depth, value), 64);
  auto cut = [&](int64_t size) {
    return llvm::alignTo(llvm::divideCeil(size, tile.parts), 8) / 4;
  };
  tile.depth = cut(depth);
  tile.value = cut(value);
  return tile;
}

/// Threads have a quarter of the numbers where they are twice as wide. The two
/// results of a launch share the registers that one of another has.
AttendTile chooseTile(const Attention &attention, AttendKind kind) {
  if (hasMatrixTiles(attention.shape))
    return chooseMatrixTile(attention, kind);
  bool isWide = attention.shape.accumulate == rt::DType::f64,
       ownsRows = kind != AttendKind::Columns;
  int64_t lines = isWide ? 2 : 4, most = (ownsRows ? 2 : 1) * lines;
  int64_t own = toPower(ownsRows ? attention.row.size : attention.column.size),
          other =
              toPower(ownsRows ? attention.column.size : attention.row.size);
  int64_t depth = kind == AttendKind::Forward ? 0 : attention.depth.size,
          value = kind == AttendKind::Rows ? 0 : attention.value.size;
  AttendTile tile;
  tile.own = std::min(lines, own);
  tile.other = std::min(lines, other);
  tile.threadsM = std::min<int64_t>(16, own / tile.own);
  tile.threadsN = std::min<int64_t>(
      16, std::max({other / tile.other, toPower(depth) / lines,
                    toPower(value) / lines, int64_t(1)}));
  while (tile.threads() < 32) // A warp.
    tile.threadsM *= 2;
  auto cut = [&](int64_t size, int64_t &columns) {
    if (size == 0)
      return;
    columns = std::min(most, toPower(llvm::divideCeil(size, tile.threadsN)));
    tile.parts = std::max<int64_t>(
        tile.parts, llvm::divideCeil(size, columns * tile.threadsN));
  };
  cut(depth, tile.depth);
  cut(value, tile.value);
  return tile;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static int64_t countOf(ArrayRef<rt::AttentionIndex> indices) {
  int64_t count = 1;
  for (const rt::AttentionIndex &index : indices)
    count *= index.size;
  return count;
}

/// Terms of the products of a launch for each score: q k and p v; of the
/// gradient q k and dout v again, then ds k of rows, or ds q and p dout.
static double countTerms(const Attention &attention, AttendKind kind) {
  auto depth = double(attention.depth.size),
       value = double(attention.value.size);
  return kind == AttendKind::Forward ? depth + value
         : kind == AttendKind::Rows  ? 2 * depth + value
                                     : 2 * depth + 2 * value;
}

/// A launch that writes the results named `results`.
static CallLaunch planLaunch(const Attention &attention, AttendKind kind,
                             ArrayRef<RankedTensorType> buffers,
                             ArrayRef<StringRef> results) {
  AttendTile tile = chooseTile(attention, kind);
  bool ownsRows = kind != AttendKind::Columns;
  CallLaunch launch;
  SmallVector<StringRef> arguments;
  for (auto [number, operand] : llvm::enumerate(attention.operands)) {
    if (operand.isWritten &&
        !llvm::is_contained(results, StringRef(operand.name)))
      continue;
    arguments.push_back(operand.name);
    launch.memory.push_back(
        {static_cast<unsigned>(number),
         operand.isWritten ? dist::Access::Write : dist::Access::Read});
  }
  int64_t lines = ownsRows ? attention.row.size : attention.column.size;
  launch.rows = countOf(attention.batch) *
                (ownsRows ? countOf(attention.group) : 1) *
                llvm::divideCeil(lines, tile.blockOwn()) * tile.parts;
  int64_t most = launch.rows;
  for (RankedTensorType buffer : buffers)
    most = std::max(most, buffer.getNumElements());
  for (int64_t size : {attention.row.size, attention.column.size,
                       attention.depth.size, attention.value.size})
    most = std::max(most, size + 512); // What lies beyond is counted, too.
  launch.isWide = needsWide(most);
  launch.share = countTerms(attention, kind);
  launch.shape.threads = tile.threads();
  launch.shape.alignment = 16;
  launch.write = [attention, tile, kind, arguments](GridCode &code) {
    auto *write = kind == AttendKind::Forward ? writeAttend
                  : kind == AttendKind::Rows  ? writeAttendRows
                                              : writeAttendColumns;
    write(code, attention, tile, arguments);
  };
  return launch;
}

CallPlan planAttention(const Attention &attention,
                       ArrayRef<RankedTensorType> buffers) {
  if (!attention.shape.isGradient)
    return {{},
            {planLaunch(attention, AttendKind::Forward, buffers,
                        {"out", "logsumexp"})}};
  return {{},
          {planLaunch(attention, AttendKind::Rows, buffers, {"dq"}),
           planLaunch(attention, AttendKind::Columns, buffers, {"dk", "dv"})}};
}

} // namespace llmc::kernels
