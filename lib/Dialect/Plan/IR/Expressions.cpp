//===- Expressions.cpp - Expressions over coordinates and microbatch ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes `add(mul(5, coordinate("tensor")), mod(microbatch, 2))`, and
// builds expressions with the folds that keep plans small. Tested by
// test/Dialect/Plan/ops.mlir and invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Plan/IR/Plan.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llmc::plan;

/// Text that nests deeper is refused, before the parser's stack is at risk.
static constexpr int kMaxDepth = 64;

static FailureOr<ExprAttr> parseExpr(AsmParser &parser, int depth);

/// Reads what stands in the parentheses of an op.
static FailureOr<ExprAttr> parseOperands(AsmParser &parser, ExprOp op,
                                         SMLoc loc, int depth) {
  MLIRContext *context = parser.getContext();
  std::string axis;
  int64_t number = 0;
  switch (op) {
  case ExprOp::Coordinate:
    if (parser.parseLParen() || parser.parseString(&axis) ||
        parser.parseRParen())
      return failure();
    break;
  case ExprOp::Parameter:
    if (parser.parseLParen() || parser.parseInteger(number) ||
        parser.parseRParen())
      return failure();
    break;
  case ExprOp::Microbatch:
    break;
  case ExprOp::Constant:
    return parser.emitError(loc) << "expected a number instead of 'constant'";
  default: {
    if (parser.parseLParen())
      return failure();
    FailureOr<ExprAttr> lhs = parseExpr(parser, depth + 1);
    if (failed(lhs) || parser.parseComma())
      return failure();
    FailureOr<ExprAttr> rhs = parseExpr(parser, depth + 1);
    if (failed(rhs) || parser.parseRParen())
      return failure();
    return ExprAttr::get(context, op, 0, StringAttr(), *lhs, *rhs);
  }
  }
  auto expr = parser.getChecked<ExprAttr>(
      loc, context, op, number,
      axis.empty() ? StringAttr() : StringAttr::get(context, axis), ExprAttr(),
      ExprAttr());
  if (!expr)
    return failure();
  return expr;
}

static FailureOr<ExprAttr> parseExpr(AsmParser &parser, int depth) {
  SMLoc loc = parser.getCurrentLocation();
  if (depth > kMaxDepth)
    return parser.emitError(loc)
           << "expected an expression at most " << kMaxDepth << " deep";
  int64_t number;
  OptionalParseResult constant = parser.parseOptionalInteger(number);
  if (constant.has_value()) {
    if (failed(*constant))
      return failure();
    return ExprAttr::getConstant(parser.getContext(), number);
  }
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<ExprOp> op = symbolizeExprOp(word);
  if (!op)
    return parser.emitError(loc)
           << "expected a number, coordinate, microbatch, parameter or an "
              "operation such as add, got '"
           << word << "'";
  return parseOperands(parser, *op, loc, depth);
}

Attribute ExprAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<ExprAttr> expr = parseExpr(parser, 0);
  if (failed(expr) || parser.parseGreater())
    return {};
  return *expr;
}

static void printExpr(AsmPrinter &printer, ExprAttr expr) {
  switch (expr.getOp()) {
  case ExprOp::Constant:
    printer << expr.getValue();
    return;
  case ExprOp::Coordinate:
    printer << "coordinate(" << expr.getAxis() << ')';
    return;
  case ExprOp::Microbatch:
    printer << "microbatch";
    return;
  case ExprOp::Parameter:
    printer << "parameter(" << expr.getValue() << ')';
    return;
  default:
    printer << stringifyExprOp(expr.getOp()) << '(';
    printExpr(printer, expr.getLhs());
    printer << ", ";
    printExpr(printer, expr.getRhs());
    printer << ')';
  }
}

void ExprAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printExpr(printer, *this);
  printer << '>';
}

LogicalResult ExprAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ExprOp op, int64_t value, StringAttr axis,
                               ExprAttr lhs, ExprAttr rhs) {
  bool leaf = op <= ExprOp::Parameter;
  if (leaf == static_cast<bool>(lhs) || leaf == static_cast<bool>(rhs))
    return emitError() << "expected " << (leaf ? "no" : "two")
                       << " operands of '" << stringifyExprOp(op) << "'";
  if ((op == ExprOp::Coordinate) != (axis && !axis.empty()))
    return emitError() << "expected the name of an axis for 'coordinate' alone";
  if (op == ExprOp::Parameter && value < 0)
    return emitError() << "expected a parameter of at least 0, got " << value;
  return success();
}

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

ExprAttr ExprAttr::getConstant(MLIRContext *context, int64_t value) {
  return get(context, ExprOp::Constant, value, StringAttr(), ExprAttr(),
             ExprAttr());
}

ExprAttr ExprAttr::getCoordinate(MLIRContext *context, StringRef axis) {
  return get(context, ExprOp::Coordinate, 0, StringAttr::get(context, axis),
             ExprAttr(), ExprAttr());
}

ExprAttr ExprAttr::getMicrobatch(MLIRContext *context) {
  return get(context, ExprOp::Microbatch, 0, StringAttr(), ExprAttr(),
             ExprAttr());
}

ExprAttr ExprAttr::getParameter(MLIRContext *context, int64_t number) {
  return get(context, ExprOp::Parameter, number, StringAttr(), ExprAttr(),
             ExprAttr());
}

/// The value of an op on two numbers; nothing on overflow or division by zero.
static std::optional<int64_t> foldConstants(ExprOp op, int64_t a, int64_t b) {
  int64_t result;
  switch (op) {
  case ExprOp::Add:
    return llvm::AddOverflow(a, b, result) ? std::nullopt
                                           : std::optional(result);
  case ExprOp::Sub:
    return llvm::SubOverflow(a, b, result) ? std::nullopt
                                           : std::optional(result);
  case ExprOp::Mul:
    return llvm::MulOverflow(a, b, result) ? std::nullopt
                                           : std::optional(result);
  case ExprOp::Min:
    return std::min(a, b);
  case ExprOp::Max:
    return std::max(a, b);
  case ExprOp::Equal:
    return a == b;
  case ExprOp::Less:
    return a < b;
  case ExprOp::LessEqual:
    return a <= b;
  case ExprOp::FloorDiv:
  case ExprOp::Mod: {
    // Division rounds towards minus infinity; the rest has b's sign.
    if (b == 0 || (a == INT64_MIN && b == -1))
      return std::nullopt;
    int64_t quotient = a / b;
    if (a % b != 0 && (a < 0) != (b < 0))
      --quotient;
    return op == ExprOp::FloorDiv ? quotient : a - quotient * b;
  }
  default:
    return std::nullopt;
  }
}

ExprAttr ExprAttr::getBinary(ExprOp op, ExprAttr lhs, ExprAttr rhs) {
  MLIRContext *context = lhs.getContext();
  if (lhs.isConstant() && rhs.isConstant())
    if (std::optional<int64_t> value =
            foldConstants(op, lhs.getValue(), rhs.getValue()))
      return getConstant(context, *value);
  auto is = [](ExprAttr expr, int64_t value) {
    return expr.isConstant() && expr.getValue() == value;
  };
  if ((op == ExprOp::Add || op == ExprOp::Sub) && is(rhs, 0))
    return lhs;
  if (op == ExprOp::Add && is(lhs, 0))
    return rhs;
  if (op == ExprOp::Mul && (is(lhs, 0) || is(rhs, 1)))
    return lhs;
  if (op == ExprOp::Mul && (is(rhs, 0) || is(lhs, 1)))
    return rhs;
  return get(context, op, 0, StringAttr(), lhs, rhs);
}
