//===- DistAttrs.cpp - Attributes of programs and schedules ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generated attribute classes, and verification and text of those that are
// no layouts and no ports: draws, files, rules, tables. Tested by
// test/Dialect/Dist/invalid-attributes.mlir.
//
//===----------------------------------------------------------------------===//

#include "LayoutSets.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Runtime/Base/DataRule.h"
#include "llmc/Runtime/Base/LibraryCost.h"
#include "llmc/Support/StoredElements.h"
#include "llmc/Support/TableSyntax.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace llmc::dist;
using llmc::getRuntimeDType;

/// Reads `1f1b`, `gpipe` or `"zb-h1"`. The lexer takes `1f1b` for a number
/// followed by a word.
static ParseResult parseScheduleName(AsmParser &parser, StringAttr &name) {
  std::string text;
  if (succeeded(parser.parseOptionalString(&text))) {
    name = StringAttr::get(parser.getContext(), text);
    return success();
  }
  int64_t number;
  OptionalParseResult digits = parser.parseOptionalInteger(number);
  if (digits.has_value()) {
    if (failed(*digits))
      return failure();
    text = llvm::itostr(number);
  }
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  name = StringAttr::get(parser.getContext(), text + word.str());
  return success();
}

/// Whether the name reads back when it is not quoted.
static bool isPlainScheduleName(StringRef name) {
  StringRef word = name.starts_with("1f") ? name.drop_front() : name;
  return !word.empty() && llvm::isAlpha(word.front()) &&
         llvm::all_of(word,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

static void printScheduleName(AsmPrinter &printer, StringAttr name) {
  if (isPlainScheduleName(name.getValue()))
    printer << name.getValue();
  else
    printer << name;
}

#include "llmc/Dialect/Dist/IR/DistEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "llmc/Dialect/Dist/IR/DistAttrs.cpp.inc"

void DistDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "llmc/Dialect/Dist/IR/DistAttrs.cpp.inc"
      >();
}

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// States and hyper values
//===----------------------------------------------------------------------===//

Attribute DrawAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  SmallVector<double> values;
  if (parser.parseLess() || parser.parseKeyword(&word))
    return {};
  std::optional<DrawKind> kind = symbolizeDrawKind(word);
  if (!kind) {
    parser.emitError(loc) << "expected zeros, ones, constant, uniform, "
                             "normal or truncated_normal, got '"
                          << word << "'";
    return {};
  }
  while (succeeded(parser.parseOptionalComma()))
    if (parser.parseFloat(values.emplace_back()))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<DrawAttr>(loc, parser.getContext(), *kind,
                                     ArrayRef(values));
}

void DrawAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyDrawKind(getKind());
  for (double value : getValues().asArrayRef()) {
    printer << ", ";
    printer.printFloat(APFloat(value));
  }
  printer << '>';
}

static LogicalResult verifyFinite(EmitError emitError,
                                  ArrayRef<double> values) {
  for (double value : values)
    if (!std::isfinite(value))
      return emitError() << "expected finite numbers, got " << value;
  return success();
}

LogicalResult DrawAttr::verify(EmitError emitError, DrawKind kind,
                               DenseF64ArrayAttr values) {
  size_t least = 0, most = 0;
  if (kind == DrawKind::Constant)
    least = most = 1;
  else if (kind == DrawKind::Uniform)
    least = most = 2;
  else if (kind == DrawKind::Normal || kind == DrawKind::TruncatedNormal)
    least = 1, most = 2;
  size_t count = values.size();
  if (count < least || count > most)
    return emitError() << "expected " << least << " to " << most
                       << " numbers for '" << stringifyDrawKind(kind)
                       << "', got " << count;
  if (failed(verifyFinite(emitError, values.asArrayRef())))
    return failure();
  if (kind != DrawKind::Uniform && kind != DrawKind::Constant && count > 0 &&
      values[0] < 0)
    return emitError() << "expected a deviation of at least 0, got "
                       << values[0];
  if (kind == DrawKind::Uniform && values[0] > values[1])
    return emitError() << "expected bounds in ascending order, got "
                       << values[0] << " and " << values[1];
  return success();
}

LogicalResult FileAttr::verify(EmitError emitError, StringRef path,
                               int64_t offset, int64_t bytes, Type dtype) {
  if (path.empty())
    return emitError() << "expected the path of a file, got \"\"";
  if (offset < 0 || bytes < 0)
    return emitError() << "expected offset and bytes of at least 0, got "
                       << offset << " and " << bytes;
  if (dtype && !getRuntimeDType(dtype))
    return emitError() << "expected an element type that the runtime reads, "
                          "got "
                       << dtype;
  return success();
}

LogicalResult DataAttr::verify(EmitError emitError, StringRef name,
                               DataKind kind, Type dtype, StringAttr tensor,
                               bool, bool once, FloatAttr heldOut,
                               DenseI64ArrayAttr weights, bool, int64_t offset,
                               int64_t limit) {
  if (name.empty())
    return emitError() << "expected the name of a source, got \"\"";
  // Sums of an offset and the elements of a sample do not overflow.
  if (offset < 0 || offset > INT64_MAX / 2)
    return emitError() << "expected an offset in [0, 2^62), got " << offset;
  if (limit < 0)
    return emitError() << "expected a limit of at least 0, got " << limit;
  rt::DataRule rule;
  rule.kind = static_cast<rt::DataKind>(kind);
  rule.once = once;
  rule.heldOut = heldOut ? heldOut.getValueAsDouble() : 0;
  if (weights)
    rule.weights.assign(weights.asArrayRef().begin(),
                        weights.asArrayRef().end());
  if (std::string_view fault = rt::faultOf(rule); !fault.empty())
    return emitError() << StringRef(fault.data(), fault.size());
  bool isArray = kind == DataKind::Array;
  bool isTokens = kind == DataKind::Tokens;
  if (dtype && (!isTokens || !dtype.isInteger() || !getRuntimeDType(dtype)))
    return emitError() << "expected an integer type that is stored, of tokens "
                          "alone, got "
                       << dtype << " of " << stringifyDataKind(kind);
  if (tensor && (!isArray || tensor.empty()))
    return emitError() << "expected the name of a tensor, of an array alone, "
                          "got "
                       << tensor << " of " << stringifyDataKind(kind);
  return success();
}

DataAttr DataAttr::withLimit(int64_t limit) const {
  return get(getContext(), getName(), getKind(), getDtype(), getTensor(),
             getShuffle(), getOnce(), getHeldOut(), getWeights(), getAnyFloat(),
             getOffset(), limit);
}

Attribute RuleAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  double base = 0, last = 0;
  int64_t warmup = 0, total = 0;
  if (parser.parseLess() || parser.parseKeyword(&word))
    return {};
  std::optional<RuleKind> kind = symbolizeRuleKind(word);
  if (!kind) {
    parser.emitError(loc)
        << "expected step, seed, external, constant, warmup_constant, "
           "warmup_linear or warmup_cosine, got '"
        << word << "'";
    return {};
  }
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc wordLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word) || parser.parseEqual())
      return {};
    ParseResult result = failure();
    if (word == "base")
      result = parser.parseFloat(base);
    else if (word == "last")
      result = parser.parseFloat(last);
    else if (word == "warmup")
      result = parser.parseInteger(warmup);
    else if (word == "total")
      result = parser.parseInteger(total);
    else
      parser.emitError(wordLoc)
          << "expected base, last, warmup or total, got '" << word << "'";
    if (result)
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<RuleAttr>(loc, parser.getContext(), *kind, base,
                                     last, warmup, total);
}

void RuleAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyRuleKind(getKind());
  for (auto [name, value] :
       {std::pair("base", getBaseAttr()), std::pair("last", getLastAttr())}) {
    if (value.getValue().isPosZero())
      continue;
    printer << ", " << name << " = ";
    printer.printFloat(value.getValue());
  }
  if (getWarmup() != 0)
    printer << ", warmup = " << getWarmup();
  if (getTotal() != 0)
    printer << ", total = " << getTotal();
  printer << '>';
}

LogicalResult RuleAttr::verify(EmitError emitError, RuleKind kind,
                               FloatAttr base, FloatAttr last, int64_t warmup,
                               int64_t total) {
  if (failed(verifyFinite(emitError,
                          {base.getValueAsDouble(), last.getValueAsDouble()})))
    return failure();
  if (warmup < 0 || total < 0)
    return emitError() << "expected warmup and total of at least 0, got "
                       << warmup << " and " << total;
  return success();
}

//===----------------------------------------------------------------------===//
// Rows and machines
//===----------------------------------------------------------------------===//

RowAttr RowAttr::withOptimizer(LayoutAttr optimizer) const {
  auto row =
      get(getContext(), getRest(), getUse(), getGradient(), optimizer,
          getStored(), getComputed(), getSent(), getAccumulate(), getMemory());
  return row == get(getContext(), LayoutAttr()) ? RowAttr() : row;
}

RowAttr RowAttr::withAccumulate(Type accumulate) const {
  return get(getContext(), getRest(), getUse(), getGradient(), getOptimizer(),
             getStored(), getComputed(), getSent(), accumulate, getMemory());
}

/// A finite f64 of at least `least`.
static LogicalResult verifyQuantity(EmitError emitError, FloatAttr value,
                                    StringRef name, bool isPositive) {
  if (value.getType().isF64() && std::isfinite(value.getValueAsDouble()) &&
      (isPositive ? value.getValueAsDouble() > 0
                  : value.getValueAsDouble() >= 0))
    return success();
  return emitError() << "expected " << name << " to be a finite f64 "
                     << (isPositive ? "above 0" : "of at least 0") << ", got "
                     << value;
}

LogicalResult LinkAttr::verify(EmitError emitError, StringAttr name,
                               FloatAttr latency, FloatAttr bandwidth) {
  if (name.empty())
    return emitError() << "expected a link with a name, got \"\"";
  if (failed(verifyQuantity(emitError, latency, "latency", false)))
    return failure();
  return verifyQuantity(emitError, bandwidth, "bandwidth", true);
}

static bool hasLink(ArrayAttr links, Attribute name) {
  return links &&
         llvm::any_of(links.getAsRange<LinkAttr>(),
                      [&](LinkAttr link) { return link.getName() == name; });
}

static LogicalResult verifyRates(EmitError emitError, DictionaryAttr rates) {
  for (NamedAttribute rate : rates) {
    StringRef name = rate.getName();
    if (!llvm::is_contained(rt::rateNames, std::string_view(name)))
      return emitError() << "expected rates of f64, f32, f16, bf16 or fp8, got "
                         << rate.getName();
    auto value = dyn_cast<FloatAttr>(rate.getValue());
    if (!value)
      return emitError() << "expected a rate of " << rate.getName()
                         << " to be a finite f64 above 0, got "
                         << rate.getValue();
    if (failed(verifyQuantity(emitError, value, name, true)))
      return failure();
  }
  return success();
}

LogicalResult MachineAttr::verify(EmitError emitError, ArrayAttr links,
                                  DictionaryAttr axes, FloatAttr flops,
                                  FloatAttr memory, FloatAttr memoryBandwidth,
                                  FloatAttr bucket, DictionaryAttr rates) {
  llvm::SmallDenseSet<Attribute> names;
  if (links)
    for (Attribute attribute : links) {
      auto link = dyn_cast<LinkAttr>(attribute);
      if (!link)
        return emitError() << "expected links to be #dist.link, got "
                           << attribute;
      if (!names.insert(link.getName()).second)
        return emitError() << "expected links with names of their own, got "
                           << link.getName() << " twice";
    }
  if (axes)
    for (NamedAttribute axis : axes)
      if (!hasLink(links, axis.getValue()))
        return emitError() << "expected a link class of axis " << axis.getName()
                           << " among the links, got " << axis.getValue();
  for (auto [value, name] : {std::pair(flops, "flops"),
                             {memory, "memory"},
                             {memoryBandwidth, "memory_bandwidth"},
                             {bucket, "bucket"}})
    if (value && failed(verifyQuantity(emitError, value, name, false)))
      return failure();
  return rates ? verifyRates(emitError, rates) : success();
}

size_t MachineAttr::getLinkOfAxis(StringRef axis) const {
  Attribute name = getAxes() ? getAxes().get(axis) : Attribute();
  if (!name)
    return 0;
  auto links = getLinks().getAsRange<LinkAttr>();
  return std::distance(links.begin(), llvm::find_if(links, [&](LinkAttr link) {
                         return link.getName() == name;
                       }));
}

LogicalResult BoxAttr::verify(EmitError emitError, FlatSymbolRefAttr state,
                              LayoutAttr layout, DenseI64ArrayAttr offsets) {
  if (offsets.size() != layout.getRank())
    return emitError() << "expected " << layout.getRank()
                       << " offsets for state " << state << ", got "
                       << offsets.size();
  for (int64_t offset : offsets.asArrayRef())
    if (offset < 0)
      return emitError() << "expected offsets of at least 0, got " << offset;
  return success();
}

LogicalResult RecomputeAttr::verify(EmitError emitError, RecomputeKind kind,
                                    int64_t every, bool, bool) {
  bool valid = kind == RecomputeKind::Every ? every >= 1 : every == 0;
  if (!valid)
    return emitError() << "expected a number of blocks for 'every' alone, got "
                       << every << " for '" << stringifyRecomputeKind(kind)
                       << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

Attribute TableAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Cell> cells;
  int64_t numSlots = 0;
  auto addCell = [&](StringRef word) {
    std::optional<Cell> cell = Cell::parse(word);
    if (cell)
      cells.push_back(*cell);
    return cell.has_value();
  };
  if (llmc::parseTable(parser, numSlots, "cells", "'F0.1', 'U' or '.'",
                       addCell))
    return {};
  return parser.getChecked<TableAttr>(loc, parser.getContext(), numSlots,
                                      ArrayRef(cells));
}

void TableAttr::print(AsmPrinter &printer) const {
  llmc::printTable(printer, getNumRows(), getNumSlots(),
                   [&](int64_t cell) { printer << getCells()[cell].str(); });
}

LogicalResult TableAttr::verify(EmitError emitError, int64_t numSlots,
                                ArrayRef<Cell> cells) {
  if (numSlots < 1 || cells.empty() || cells.size() % numSlots != 0)
    return emitError() << "expected rows of at least one cell, got "
                       << cells.size() << " cells in " << numSlots << " slots";
  for (const Cell &cell : cells)
    if (cell.chunk < 0 || cell.microbatch < 0)
      return emitError() << "expected chunk and microbatch of at least 0, got "
                         << cell.chunk << " and " << cell.microbatch;
  return success();
}

int64_t TableAttr::getNumRows() const {
  return getCells().size() / getNumSlots();
}

ArrayRef<Cell> TableAttr::getRow(int64_t row) const {
  return getCells().slice(row * getNumSlots(), getNumSlots());
}

LogicalResult ScheduleAttr::verify(EmitError emitError, StringAttr name,
                                   DictionaryAttr options, TableAttr table) {
  if (name.empty())
    return emitError() << "expected the name of a schedule, got \"\"";
  for (NamedAttribute option :
       options ? options.getValue() : ArrayRef<NamedAttribute>()) {
    auto chunks = dyn_cast<IntegerAttr>(option.getValue());
    if (option.getName() != "chunks" || !chunks ||
        !chunks.getType().isSignlessInteger(64) || chunks.getInt() < 1 ||
        chunks.getInt() > 1024)
      return emitError() << "expected no option of a schedule but 'chunks' "
                            "from 1 to 1024, got "
                         << option.getName() << " = " << option.getValue();
  }
  return success();
}

LogicalResult ProgramAttr::verify(EmitError emitError,
                                  FlatSymbolRefAttr function, int64_t chunk,
                                  Phase phase, DenseI64ArrayAttr at,
                                  LoopAttr loop) {
  if (loop && (phase == Phase::Update || phase == Phase::Prepare))
    return emitError() << "expected no loop in phase '" << stringifyPhase(phase)
                       << "', got " << loop;
  if ((phase == Phase::Update) != (chunk == -1) || chunk < -1)
    return emitError() << "expected a chunk unless the phase is update, got "
                       << chunk << " for '" << stringifyPhase(phase) << "'";
  if (at.empty())
    return emitError() << "expected a pipeline coordinate of program "
                       << function;
  for (auto [i, coordinate] : llvm::enumerate(at.asArrayRef()))
    if (coordinate < 0 || (i > 0 && coordinate <= at[i - 1]))
      return emitError() << "expected ascending coordinates from 0 on, got "
                         << coordinate;
  return success();
}

std::vector<LoopAttr> LoopAttr::getPath() const {
  std::vector<LoopAttr> path;
  for (LoopAttr loop = *this; loop; loop = loop.getIn())
    path.push_back(loop);
  std::reverse(path.begin(), path.end());
  return path;
}

LogicalResult LoopAttr::verify(EmitError emitError, StringAttr name,
                               int64_t trips, bool reversed, bool conditional,
                               LoopAttr in) {
  if (name.empty())
    return emitError() << "expected the name of a loop, got \"\"";
  if (in && (conditional || in.getConditional()))
    return emitError() << "expected a conditional loop in no other one, and no "
                          "other one in it";
  if (conditional)
    return trips == 0 && !reversed
               ? success()
               : emitError() << "expected no number of trips of a conditional "
                                "loop, which is not reversed";
  if (trips < 1)
    return emitError() << "expected at least 1 trip of a loop, got " << trips;
  return success();
}
