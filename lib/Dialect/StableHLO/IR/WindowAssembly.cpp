//===- WindowAssembly.cpp - Assembly of convolutions ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dimension numbers as lists of letters and numbers, `[b, 0, 1, f]`, or by the
// names of their fields; the window as keys in any order.
// Tests: test/Dialect/StableHLO/windows.mlir,
// test/Dialect/StableHLO/windows-read.mlir.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Dimension numbers
//===----------------------------------------------------------------------===//

namespace {
/// The dimensions of one tensor: two that letters name, and those of space.
struct TensorDims {
  StringRef first, second;
  int64_t firstDim = 0, secondDim = 0;
  SmallVector<int64_t> spatial;

  TensorDims(StringRef first, StringRef second)
      : first(first), second(second) {}

  /// Tells which entry stands at each place; nothing where two want one place
  /// or a place is outside.
  std::optional<SmallVector<std::string>> toList() const {
    SmallVector<std::string> list(spatial.size() + 2);
    auto put = [&](int64_t dim, std::string entry) {
      bool isFree = dim >= 0 && dim < static_cast<int64_t>(list.size()) &&
                    list[dim].empty();
      if (isFree)
        list[dim] = std::move(entry);
      return isFree;
    };
    if (!put(firstDim, first.str()) || !put(secondDim, second.str()))
      return std::nullopt;
    for (auto [number, dim] : llvm::enumerate(spatial))
      if (!put(dim, std::to_string(number)))
        return std::nullopt;
    return list;
  }
};

/// The three tensors of a convolution.
struct ConvDims {
  TensorDims input{"b", "f"}, kernel{"i", "o"}, output{"b", "f"};

  ConvDims() = default;
  explicit ConvDims(ConvDimensionNumbersAttr dims) {
    input.firstDim = dims.getInputBatchDimension();
    input.secondDim = dims.getInputFeatureDimension();
    input.spatial.assign(dims.getInputSpatialDimensions().begin(),
                         dims.getInputSpatialDimensions().end());
    kernel.firstDim = dims.getKernelInputFeatureDimension();
    kernel.secondDim = dims.getKernelOutputFeatureDimension();
    kernel.spatial.assign(dims.getKernelSpatialDimensions().begin(),
                          dims.getKernelSpatialDimensions().end());
    output.firstDim = dims.getOutputBatchDimension();
    output.secondDim = dims.getOutputFeatureDimension();
    output.spatial.assign(dims.getOutputSpatialDimensions().begin(),
                          dims.getOutputSpatialDimensions().end());
  }

  ConvDimensionNumbersAttr toAttribute(MLIRContext *context) const {
    return ConvDimensionNumbersAttr::get(
        context, input.firstDim, input.secondDim, input.spatial,
        kernel.firstDim, kernel.secondDim, kernel.spatial, output.firstDim,
        output.secondDim, output.spatial);
  }
};

/// Each field by its published name.
struct NamedDim {
  StringRef name;
  int64_t *dim;
};
struct NamedDims {
  StringRef name;
  SmallVectorImpl<int64_t> *dims;
};
} // namespace

static std::array<NamedDim, 6> getScalarFields(ConvDims &dims) {
  return {{{"input_batch_dimension", &dims.input.firstDim},
           {"input_feature_dimension", &dims.input.secondDim},
           {"kernel_input_feature_dimension", &dims.kernel.firstDim},
           {"kernel_output_feature_dimension", &dims.kernel.secondDim},
           {"output_batch_dimension", &dims.output.firstDim},
           {"output_feature_dimension", &dims.output.secondDim}}};
}

static std::array<NamedDims, 3> getListFields(ConvDims &dims) {
  return {{{"input_spatial_dimensions", &dims.input.spatial},
           {"kernel_spatial_dimensions", &dims.kernel.spatial},
           {"output_spatial_dimensions", &dims.output.spatial}}};
}

/// The place of each spatial number, which stand once each, from 0 on.
static ParseResult sortSpatial(AsmParser &parser, SMLoc loc,
                               ArrayRef<std::pair<int64_t, int64_t>> numbers,
                               TensorDims &dims) {
  int64_t count = numbers.size();
  dims.spatial.assign(count, -1);
  for (auto [number, place] : numbers) {
    if (number < 0 || number >= count || dims.spatial[number] >= 0)
      return parser.emitError(loc) << "expected each spatial dimension from 0 "
                                      "to "
                                   << count - 1 << " once, got " << number;
    dims.spatial[number] = place;
  }
  return success();
}

/// `[b, 0, 1, f]`
static ParseResult parseList(AsmParser &parser, TensorDims &dims) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<std::pair<int64_t, int64_t>> numbers;
  int64_t place = 0, firsts = 0, seconds = 0;
  auto parseEntry = [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    int64_t number;
    OptionalParseResult parsed = parser.parseOptionalInteger(number);
    if (parsed.has_value()) {
      numbers.emplace_back(number, place++);
      return *parsed;
    }
    StringRef letter;
    if (parser.parseKeyword(&letter))
      return failure();
    if (letter != dims.first && letter != dims.second)
      return parser.emitError(at)
             << "expected '" << dims.first << "', '" << dims.second
             << "' or a number, got '" << letter << "'";
    (letter == dims.first ? firsts : seconds) += 1;
    (letter == dims.first ? dims.firstDim : dims.secondDim) = place++;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseEntry))
    return failure();
  for (auto [letter, count] :
       {std::pair(dims.first, firsts), {dims.second, seconds}})
    if (count != 1)
      return parser.emitError(loc) << "expected dimension '" << letter
                                   << "' once, got it " << count << " times";
  return sortSpatial(parser, loc, numbers, dims);
}

/// `[b, 0, f]x[0, i, o]->[b, 0, f]`
static ParseResult parseLists(AsmParser &parser, ConvDims &dims) {
  return failure(parseList(parser, dims.input) || parser.parseKeyword("x") ||
                 parseList(parser, dims.kernel) || parser.parseArrow() ||
                 parseList(parser, dims.output));
}

/// `input_batch_dimension = 0, input_spatial_dimensions = [1, 2], ..`: lists
/// that are not named are empty.
static ParseResult parseNamed(AsmParser &parser, ConvDims &dims) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<StringRef> seen;
  auto parseField = [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (llvm::is_contained(seen, name))
      return parser.emitError(at)
             << "expected field '" << name << "' once, got it twice";
    seen.push_back(name);
    for (NamedDim field : getScalarFields(dims))
      if (field.name == name)
        return parser.parseInteger(*field.dim);
    for (NamedDims field : getListFields(dims))
      if (field.name == name)
        return parser.parseCommaSeparatedList(
            AsmParser::Delimiter::Square,
            [&] { return parser.parseInteger(field.dims->emplace_back()); });
    return parser.emitError(at)
           << "expected a field of this attribute, got '" << name << "'";
  };
  if (parser.parseCommaSeparatedList(parseField))
    return failure();
  for (NamedDim field : getScalarFields(dims))
    if (!llvm::is_contained(seen, field.name))
      return parser.emitError(loc)
             << "expected field '" << field.name << "', got none";
  return success();
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  ConvDims dims;
  if (parser.parseLess())
    return {};
  bool isRaw = succeeded(parser.parseOptionalKeyword("raw"));
  if ((isRaw ? parseNamed(parser, dims) : parseLists(parser, dims)) ||
      parser.parseGreater())
    return {};
  return dims.toAttribute(parser.getContext());
}

static void printNamed(AsmPrinter &printer, ConvDims &dims) {
  printer << "raw ";
  llvm::interleaveComma(getScalarFields(dims), printer, [&](NamedDim field) {
    printer << field.name << " = " << *field.dim;
  });
  for (NamedDims field : getListFields(dims)) {
    printer << ", " << field.name << " = [";
    llvm::interleaveComma(*field.dims, printer);
    printer << "]";
  }
}

static void printDims(AsmPrinter &printer, ConvDimensionNumbersAttr attribute) {
  ConvDims dims(attribute);
  auto input = dims.input.toList(), kernel = dims.kernel.toList(),
       output = dims.output.toList();
  if (!input || !kernel || !output)
    return printNamed(printer, dims);
  StringRef separator;
  for (const SmallVector<std::string> &list : {*input, *kernel, *output}) {
    printer << separator << "[";
    llvm::interleaveComma(list, printer);
    printer << "]";
    separator = separator.empty() ? "x" : "->";
  }
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printDims(printer, *this);
  printer << ">";
}

ParseResult llmc::stablehlo::parseConvolutionDimensions(
    OpAsmParser &parser, ConvDimensionNumbersAttr &dimensions) {
  ConvDims dims;
  if (parseLists(parser, dims))
    return failure();
  dimensions = dims.toAttribute(parser.getContext());
  return success();
}

void llmc::stablehlo::printConvolutionDimensions(
    OpAsmPrinter &printer, Operation *, ConvDimensionNumbersAttr dimensions) {
  printDims(printer, dimensions);
}

//===----------------------------------------------------------------------===//
// Window
//===----------------------------------------------------------------------===//

static ParseResult parseIntegers(AsmParser &parser, DenseI64ArrayAttr &list) {
  SmallVector<int64_t> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(values.emplace_back());
      }))
    return failure();
  list = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

/// `[[1, 1], [0, 1]]`
static ParseResult parsePadding(AsmParser &parser,
                                DenseIntElementsAttr &padding) {
  SmallVector<int64_t> values;
  auto parsePair = [&]() -> ParseResult {
    return failure(
        parser.parseLSquare() || parser.parseInteger(values.emplace_back()) ||
        parser.parseComma() || parser.parseInteger(values.emplace_back()) ||
        parser.parseRSquare());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair))
    return failure();
  int64_t pairs = values.size() / 2;
  auto type =
      RankedTensorType::get({pairs, 2}, parser.getBuilder().getI64Type());
  padding = DenseIntElementsAttr::get(type, values);
  return success();
}

/// `[false, true]` or `[0, 1]`
static ParseResult parseBooleans(AsmParser &parser, DenseBoolArrayAttr &list) {
  SmallVector<bool> values;
  auto parseOne = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    int64_t number;
    OptionalParseResult parsed = parser.parseOptionalInteger(number);
    if (parsed.has_value()) {
      values.push_back(number != 0);
      return *parsed;
    }
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    if (name != "true" && name != "false")
      return parser.emitError(loc)
             << "expected true or false, got '" << name << "'";
    values.push_back(name == "true");
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  list = parser.getBuilder().getDenseBoolArrayAttr(values);
  return success();
}

ParseResult llmc::stablehlo::parseWindowAttributes(
    OpAsmParser &parser, DenseI64ArrayAttr &strides,
    DenseIntElementsAttr &padding, DenseI64ArrayAttr &lhsDilation,
    DenseI64ArrayAttr &rhsDilation, DenseBoolArrayAttr &reversal) {
  SmallVector<StringRef> seen;
  do {
    SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    if (failed(parser.parseOptionalKeyword(&key)))
      return success();
    if (llvm::is_contained(seen, key))
      return parser.emitError(loc)
             << "expected '" << key << "' once, got it twice";
    seen.push_back(key);
    if (parser.parseEqual())
      return failure();
    ParseResult parsed =
        key == "stride"       ? parseIntegers(parser, strides)
        : key == "pad"        ? parsePadding(parser, padding)
        : key == "lhs_dilate" ? parseIntegers(parser, lhsDilation)
        : key == "rhs_dilate" ? parseIntegers(parser, rhsDilation)
        : key == "reverse"
            ? parseBooleans(parser, reversal)
            : parser.emitError(loc)
                  << "expected stride, pad, lhs_dilate, rhs_dilate or reverse, "
                     "got '"
                  << key << "'";
    if (parsed)
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

namespace {
/// Prints `key = `, after a comma where it is not the first.
class KeyPrinter {
public:
  explicit KeyPrinter(OpAsmPrinter &printer) : printer(printer) {}

  OpAsmPrinter &begin(StringRef key) {
    printer << separator << key << " = ";
    separator = ", ";
    return printer;
  }
  template <typename List> void list(StringRef key, List values) {
    if (!values)
      return;
    begin(key) << "[";
    llvm::interleaveComma(values.asArrayRef(), printer);
    printer << "]";
  }

private:
  OpAsmPrinter &printer;
  StringRef separator;
};
} // namespace

void llmc::stablehlo::printWindowAttributes(OpAsmPrinter &printer, Operation *,
                                            DenseI64ArrayAttr strides,
                                            DenseIntElementsAttr padding,
                                            DenseI64ArrayAttr lhsDilation,
                                            DenseI64ArrayAttr rhsDilation,
                                            DenseBoolArrayAttr reversal) {
  KeyPrinter keys(printer);
  keys.list("stride", strides);
  if (padding) {
    SmallVector<int64_t> values(padding.getValues<int64_t>());
    keys.begin("pad") << "[";
    llvm::interleaveComma(
        llvm::seq<size_t>(0, values.size() / 2), printer, [&](size_t i) {
          printer << "[" << values[2 * i] << ", " << values[2 * i + 1] << "]";
        });
    printer << "]";
  }
  keys.list("lhs_dilate", lhsDilation);
  keys.list("rhs_dilate", rhsDilation);
  if (!reversal)
    return;
  keys.begin("reverse") << "[";
  llvm::interleaveComma(reversal.asArrayRef(), printer, [&](bool isReversed) {
    printer << (isReversed ? "true" : "false");
  });
  printer << "]";
}
