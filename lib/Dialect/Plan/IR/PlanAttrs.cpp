//===- PlanAttrs.cpp - Operands, tables and what entries list -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generated attribute classes with their verifiers, and the text of tables.
// Tested by test/Dialect/Plan/ops.mlir and invalid*.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Plan/IR/Plan.h"
#include "llmc/Support/StoredElements.h"
#include "llmc/Support/TableSyntax.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llmc::plan;

/// `[<m, 4, a = 8>, <k, 8, b = 6>]`: an error is that of the dim alone.
static ParseResult parseLoopDims(AsmParser &parser,
                                 SmallVector<LoopDimAttr> &dims) {
  auto parseDim = [&] {
    return parser.parseCustomAttributeWithFallback(dims.emplace_back());
  };
  return failure(parser.parseLSquare() ||
                 parser.parseCommaSeparatedList(parseDim) ||
                 parser.parseRSquare());
}

static void printLoopDims(AsmPrinter &printer, ArrayRef<LoopDimAttr> dims) {
  printer << '[';
  printer.printStrippedAttrOrType(dims);
  printer << ']';
}

/// The same of the dims of an attention.
static ParseResult parseAttentionDims(AsmParser &parser,
                                      SmallVector<AttentionDimAttr> &dims) {
  auto parseDim = [&] {
    return parser.parseCustomAttributeWithFallback(dims.emplace_back());
  };
  return failure(parser.parseLSquare() ||
                 parser.parseCommaSeparatedList(parseDim) ||
                 parser.parseRSquare());
}

static void printAttentionDims(AsmPrinter &printer,
                               ArrayRef<AttentionDimAttr> dims) {
  printer << '[';
  printer.printStrippedAttrOrType(dims);
  printer << ']';
}

/// The same of windows, of which there may be none.
static ParseResult parseWindows(AsmParser &parser,
                                SmallVector<WindowAttr> &windows) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseCustomAttributeWithFallback(windows.emplace_back());
  });
}

static void printWindows(AsmPrinter &printer, ArrayRef<WindowAttr> windows) {
  printer << '[';
  printer.printStrippedAttrOrType(windows);
  printer << ']';
}

#include "llmc/Dialect/Plan/IR/PlanEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "llmc/Dialect/Plan/IR/PlanAttrs.cpp.inc"

void PlanDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "llmc/Dialect/Plan/IR/PlanAttrs.cpp.inc"
      >();
}

using EmitError = function_ref<InFlightDiagnostic()>;

static LogicalResult verifyDType(EmitError emitError, Type type) {
  if (getRuntimeDType(type))
    return success();
  return emitError() << "expected an element type of the runtime, got " << type;
}

static LogicalResult verifyName(EmitError emitError, StringAttr name) {
  if (!name.empty())
    return success();
  return emitError() << "expected a name, got \"\"";
}

static LogicalResult verifyStages(EmitError emitError,
                                  DenseI64ArrayAttr stages) {
  if (!stages)
    return success();
  for (auto [i, stage] : llvm::enumerate(stages.asArrayRef()))
    if (stage < 0 || (i > 0 && stage <= stages[i - 1]))
      return emitError() << "expected ascending stages from 0 on, got "
                         << stage;
  return success();
}

static LogicalResult verifyTensor(EmitError emitError, RankedTensorType type) {
  if (!type.hasStaticShape() || type.getEncoding())
    return emitError() << "expected a static shape without encoding, got "
                       << type;
  return verifyDType(emitError, type.getElementType());
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Bytes of an element; an i1 takes a byte.
static int64_t getBytes(Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

LogicalResult OperandAttr::verify(EmitError emitError, FlatSymbolRefAttr buffer,
                                  DenseI64ArrayAttr shape, Type dtype,
                                  int64_t offset, DenseI64ArrayAttr strides,
                                  ExprAttr expr) {
  for (int64_t size : shape.asArrayRef())
    if (size < 0)
      return emitError() << "expected sizes of at least 0, got " << size;
  if (strides && strides.size() != shape.size())
    return emitError() << "expected " << shape.size() << " strides, got "
                       << strides.size();
  if (strides)
    for (int64_t stride : strides.asArrayRef())
      if (stride < 0)
        return emitError() << "expected strides of at least 0, got " << stride;
  if (offset < 0)
    return emitError() << "expected an offset of at least 0, got " << offset;
  return verifyDType(emitError, dtype);
}

std::optional<int64_t> OperandAttr::getSpan() const {
  ArrayRef<int64_t> shape = getShape().asArrayRef();
  // Index of the last element, then one past it, in bytes.
  int64_t last = 0, dense = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0)
      return 0;
    int64_t stride = getStrides() ? getStrides()[i] : dense;
    int64_t step;
    if (llvm::MulOverflow(shape[i] - 1, stride, step) ||
        llvm::AddOverflow(last, step, last) ||
        llvm::MulOverflow(dense, shape[i], dense))
      return std::nullopt;
  }
  int64_t bytes;
  if (llvm::AddOverflow(last, int64_t(1), last) ||
      llvm::MulOverflow(last, getBytes(getDtype()), bytes))
    return std::nullopt;
  return bytes;
}

LogicalResult MessageAttr::verify(EmitError emitError,
                                  FlatSymbolRefAttr transfer, ExprAttr peer,
                                  ArrayRef<OperandAttr> operands) {
  if (operands.empty())
    return emitError() << "expected at least one operand of transfer "
                       << transfer;
  return success();
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Reads `2.0` or `.`.
static std::optional<Cell> readCell(StringRef word) {
  Cell cell;
  if (word == ".")
    return cell;
  auto [program, microbatch] = word.split('.');
  if (!llvm::all_of(program, llvm::isDigit) ||
      !llvm::all_of(microbatch, llvm::isDigit) ||
      program.getAsInteger(10, cell.program) ||
      microbatch.getAsInteger(10, cell.microbatch))
    return std::nullopt;
  return cell;
}

Attribute TableAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Cell> cells;
  int64_t numStages = 0;
  auto addCell = [&](StringRef word) {
    std::optional<Cell> cell = readCell(word);
    if (cell)
      cells.push_back(*cell);
    return cell.has_value();
  };
  if (llmc::parseTable(parser, numStages, "stages", "'2.0' or '.'", addCell))
    return {};
  return parser.getChecked<TableAttr>(loc, parser.getContext(), numStages,
                                      ArrayRef(cells));
}

void TableAttr::print(AsmPrinter &printer) const {
  auto printCell = [&](int64_t number) {
    const Cell &cell = getCells()[number];
    if (cell.program < 0)
      printer << '.';
    else
      printer << cell.program << '.' << cell.microbatch;
  };
  llmc::printTable(printer, getNumRows(), getNumStages(), printCell);
}

LogicalResult TableAttr::verify(EmitError emitError, int64_t numStages,
                                ArrayRef<Cell> cells) {
  if (numStages < 1 || cells.empty() || cells.size() % numStages != 0)
    return emitError() << "expected rows of at least one stage, got "
                       << cells.size() << " cells for " << numStages
                       << " stages";
  for (const Cell &cell : cells)
    if (cell.program < -1 || cell.microbatch < 0)
      return emitError() << "expected program and microbatch of at least 0, "
                            "got "
                         << cell.program << " and " << cell.microbatch;
  return success();
}

int64_t TableAttr::getNumRows() const {
  return getCells().size() / getNumStages();
}

ArrayRef<Cell> TableAttr::getRow(int64_t row) const {
  return getCells().slice(row * getNumStages(), getNumStages());
}

//===----------------------------------------------------------------------===//
// What entries list
//===----------------------------------------------------------------------===//

LogicalResult InputAttr::verify(EmitError emitError, StringAttr name,
                                RankedTensorType type, Attribute layout,
                                DenseI64ArrayAttr stages, Attribute data) {
  if (failed(verifyName(emitError, name)) ||
      failed(verifyTensor(emitError, type)))
    return failure();
  return verifyStages(emitError, stages);
}

LogicalResult FetchAttr::verify(EmitError emitError, StringAttr name,
                                RankedTensorType type, Attribute layout,
                                DenseI64ArrayAttr stages, bool,
                                StringAttr partOf, DenseI64ArrayAttr origin,
                                DenseI64ArrayAttr whole) {
  if (failed(verifyName(emitError, name)) ||
      failed(verifyTensor(emitError, type)) ||
      failed(verifyStages(emitError, stages)))
    return failure();
  if (!partOf && !origin && !whole)
    return success();
  if (!partOf || !origin || !whole || origin.size() != type.getRank() ||
      whole.size() != type.getRank())
    return emitError() << "expected the name of a tensor, and an origin and a "
                          "shape of its rank, of a box";
  for (auto [first, size, all] : llvm::zip_equal(
           origin.asArrayRef(), type.getShape(), whole.asArrayRef()))
    if (first < 0 || size > all || first > all - size)
      return emitError() << "expected a box inside " << whole << ", got "
                         << type << " at " << origin;
  return success();
}

LogicalResult MetricAttr::verify(EmitError emitError, StringAttr name,
                                 Type dtype) {
  if (failed(verifyName(emitError, name)))
    return failure();
  return verifyDType(emitError, dtype);
}
