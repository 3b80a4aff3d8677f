//===- Rules.cpp - Which products there are -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types are those of the tables of cublasLtMatmul in cuBLAS's
// documentation, for a GPU of compute capability 9.0, without complex numbers
// and without floats of four bits.
//
//===----------------------------------------------------------------------===//

#include "BlasLt/Descriptors.h"

using namespace llmc::standin;

cublasStatus_t llmc::standin::refuse(cublasStatus_t status, const char *why) {
  explain("cublasLt: %d: %s", static_cast<int>(status), why);
  return status;
}

bool llmc::standin::isEightBitFloat(int type) {
  return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2;
}

size_t llmc::standin::bytesOf(int type) {
  switch (type) {
  case CUDA_R_64F:
    return 8;
  case CUDA_R_32F:
  case CUDA_R_32I:
    return 4;
  case CUDA_R_16F:
  case CUDA_R_16BF:
    return 2;
  case CUDA_R_8I:
  case CUDA_R_8F_E4M3:
  case CUDA_R_8F_E5M2:
    return 1;
  default:
    return 0;
  }
}

static cublasStatus_t unsupported(const char *why) {
  return refuse(CUBLAS_STATUS_NOT_SUPPORTED, why);
}
static cublasStatus_t invalid(const char *why) {
  return refuse(CUBLAS_STATUS_INVALID_VALUE, why);
}

namespace {
struct TypeRow {
  int compute, scale, factor, result;
};
} // namespace

/// Factors are of one type, and C is of the type of D.
static const TypeRow typeRows[] = {
    {CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I},
    {CUBLAS_COMPUTE_32I, CUDA_R_32F, CUDA_R_8I, CUDA_R_8I},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8I, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F_FAST_16F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F_FAST_16BF, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
};

/// What a pedantic type computes in.
static int plain(int compute) {
  switch (compute) {
  case CUBLAS_COMPUTE_16F_PEDANTIC:
    return CUBLAS_COMPUTE_16F;
  case CUBLAS_COMPUTE_32F_PEDANTIC:
    return CUBLAS_COMPUTE_32F;
  case CUBLAS_COMPUTE_64F_PEDANTIC:
    return CUBLAS_COMPUTE_64F;
  case CUBLAS_COMPUTE_32I_PEDANTIC:
    return CUBLAS_COMPUTE_32I;
  default:
    return compute;
  }
}

/// Both factors are floats of eight bits.
static cublasStatus_t checkEightBitFloats(const Problem &p) {
  const ProductFields &x = p.product;
  if (x.compute != CUBLAS_COMPUTE_32F || x.scale != CUDA_R_32F)
    return unsupported("floats of 8 bits want to be computed in f32");
  if (p.a.type == CUDA_R_8F_E5M2 && p.b.type == CUDA_R_8F_E5M2)
    return unsupported("two factors of e5m2");
  if (x.transA == CUBLAS_OP_N || x.transB != CUBLAS_OP_N ||
      p.a.order != CUBLASLT_ORDER_COL || p.b.order != CUBLASLT_ORDER_COL)
    return unsupported("floats of 8 bits want A transposed, and B not");
  if (p.m % 16 || p.n % 16 || p.k % 16 || p.a.ld % 16 || p.b.ld % 16)
    return unsupported("floats of 8 bits want multiples of 16");
  bool e5m2 = p.a.type == CUDA_R_8F_E5M2 || p.b.type == CUDA_R_8F_E5M2;
  int c = p.c.type, d = p.d.type;
  bool wide =
      c == d && (d == CUDA_R_32F || d == CUDA_R_16BF || d == CUDA_R_16F);
  bool narrow = (c == CUDA_R_16BF || c == CUDA_R_16F) &&
                (d == CUDA_R_8F_E4M3 || (e5m2 && d == CUDA_R_8F_E5M2));
  return wide || narrow ? CUBLAS_STATUS_SUCCESS
                        : unsupported("types of C and D for floats of 8 bits");
}

/// Without a tile of 32 columns, integers have an order and multiples to keep.
static cublasStatus_t checkIntegers(const Problem &p) {
  const ProductFields &x = p.product;
  if (p.a.order != CUBLASLT_ORDER_COL || p.b.order != CUBLASLT_ORDER_COL ||
      x.transA == CUBLAS_OP_N || x.transB != CUBLAS_OP_N)
    return unsupported("integers want A transposed, and B not");
  if (p.m % 4 || p.k % 4 || p.a.ld % 4 || p.b.ld % 4 || p.d.ld % 4)
    return unsupported("integers want multiples of 4");
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t llmc::standin::checkTypes(const Problem &p) {
  const ProductFields &x = p.product;
  bool eight = isEightBitFloat(p.a.type) || isEightBitFloat(p.b.type);
  bool scaled = x.scaleA || x.scaleB || x.scaleC || x.scaleD || x.amaxD;
  if (scaled && !eight)
    return invalid("scale factors belong to floats of 8 bits");
  if (x.scaleAux || x.amaxAux || x.scaleOut || x.emulation)
    return unsupported("a pointer that the stand-in does not know");
  if (x.scaleModeA || x.scaleModeB || x.scaleModeC || x.scaleModeD ||
      x.scaleModeAux || x.scaleModeOut)
    return unsupported("scale factors for parts of a matrix");
  if ((x.scaleD || x.amaxD) && !isEightBitFloat(p.d.type))
    return invalid("D has a scale, and is wider than 8 bits");
  if (eight)
    return isEightBitFloat(p.a.type) && isEightBitFloat(p.b.type)
               ? checkEightBitFloats(p)
               : unsupported("one factor has 8 bits, and one has not");
  if (p.a.type != p.b.type || p.c.type != p.d.type)
    return unsupported("two types of factors, or C is not of the type of D");
  for (const TypeRow &row : typeRows)
    if (row.compute == plain(x.compute) && row.scale == x.scale &&
        row.factor == static_cast<int>(p.a.type) &&
        row.result == static_cast<int>(p.d.type))
      return plain(x.compute) == CUBLAS_COMPUTE_32I ? checkIntegers(p)
                                                    : CUBLAS_STATUS_SUCCESS;
  return unsupported("types that no table lists");
}

static int biasTypeOf(const Problem &p) {
  if (isEightBitFloat(p.a.type))
    return p.c.type == CUDA_R_16F ? CUDA_R_16F : CUDA_R_16BF;
  return p.d.type;
}

cublasStatus_t llmc::standin::checkEpilogue(const Problem &p) {
  const ProductFields &x = p.product;
  constexpr uint32_t aux = 128, bias = CUBLASLT_EPILOGUE_BIAS, gradient = 16;
  switch (x.epilogue) {
  case CUBLASLT_EPILOGUE_DEFAULT:
    return CUBLAS_STATUS_SUCCESS;
  case CUBLASLT_EPILOGUE_RELU:
  case CUBLASLT_EPILOGUE_BIAS:
  case CUBLASLT_EPILOGUE_RELU_BIAS:
  case CUBLASLT_EPILOGUE_GELU:
  case CUBLASLT_EPILOGUE_GELU_AUX:
  case CUBLASLT_EPILOGUE_GELU_BIAS:
  case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
  case CUBLASLT_EPILOGUE_DGELU:
  case CUBLASLT_EPILOGUE_DGELU_BGRAD:
  case CUBLASLT_EPILOGUE_BGRADA:
  case CUBLASLT_EPILOGUE_BGRADB:
    break;
  default:
    return unsupported("an epilogue that the stand-in does not know");
  }
  if (plain(x.compute) == CUBLAS_COMPUTE_64F ||
      plain(x.compute) == CUBLAS_COMPUTE_32I)
    return unsupported("an epilogue in f64, or of integers");
  bool wantsBias = (x.epilogue & (bias | gradient)) ||
                   x.epilogue == CUBLASLT_EPILOGUE_BGRADA ||
                   x.epilogue == CUBLASLT_EPILOGUE_BGRADB;
  if (wantsBias && x.biasType != -1 && x.biasType != biasTypeOf(p))
    return unsupported("the type of the bias");
  if (!(x.epilogue & aux))
    return CUBLAS_STATUS_SUCCESS;
  if (isEightBitFloat(p.a.type) || p.d.order != CUBLASLT_ORDER_COL)
    return unsupported("an auxiliary matrix, of floats of 8 bits or by rows");
  if (x.auxType != -1 && x.auxType != static_cast<int>(p.d.type))
    return unsupported("the type of the auxiliary matrix");
  if (x.auxLd % 8 || x.auxStride % 8 || x.auxLd < static_cast<int64_t>(p.m))
    return invalid("the leading dimension of the auxiliary matrix");
  return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t checkLayout(const LayoutFields &layout) {
  if (!bytesOf(layout.type) || layout.planeOffset)
    return unsupported("a type that the stand-in does not know");
  if (layout.order != CUBLASLT_ORDER_COL && layout.order != CUBLASLT_ORDER_ROW)
    return unsupported("an order of tiles");
  if (layout.batchMode != CUBLASLT_BATCH_MODE_STRIDED)
    return unsupported("a batch of pointers");
  bool byColumns = layout.order == CUBLASLT_ORDER_COL;
  if (layout.ld <
      static_cast<int64_t>(byColumns ? layout.rows : layout.columns))
    return invalid("the leading dimension is smaller than what it steps over");
  if (!layout.rows || !layout.columns || layout.batchCount < 1 ||
      layout.batchStride < 0)
    return invalid("an empty matrix, or a batch of none");
  if (layout.rows > INT32_MAX || layout.columns > INT32_MAX)
    return unsupported("more rows or columns than an int32 counts");
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t llmc::standin::makeProblem(cublasLtMatmulDesc_t product,
                                          cublasLtMatrixLayout_t a,
                                          cublasLtMatrixLayout_t b,
                                          cublasLtMatrixLayout_t c,
                                          cublasLtMatrixLayout_t d,
                                          Problem &p) {
  auto *fields = fieldsOf<ProductFields>(product);
  LayoutFields *const targets[] = {&p.a, &p.b, &p.c, &p.d};
  const cublasLtMatrixLayout_t sources[] = {a, b, c, d};
  if (!fields)
    return invalid("no descriptor of a product");
  p.product = *fields;
  for (int i = 0; i < 4; ++i) {
    auto *layout = fieldsOf<LayoutFields>(sources[i]);
    if (!layout)
      return invalid("no layout of a matrix");
    *targets[i] = *layout;
    if (cublasStatus_t status = checkLayout(*layout))
      return status;
    if (layout->batchCount != p.a.batchCount)
      return invalid("batches of different sizes");
  }
  const ProductFields &x = p.product;
  bool plainA = x.transA == CUBLAS_OP_N, plainB = x.transB == CUBLAS_OP_N;
  p.m = plainA ? p.a.rows : p.a.columns;
  p.k = plainA ? p.a.columns : p.a.rows;
  p.n = plainB ? p.b.columns : p.b.rows;
  if (p.k != (plainB ? p.b.rows : p.b.columns) || p.d.rows != p.m ||
      p.d.columns != p.n || p.c.rows != p.m || p.c.columns != p.n)
    return invalid("the sizes of the matrices do not fit each other");
  if (x.transA > CUBLAS_OP_C || x.transB > CUBLAS_OP_C ||
      x.transC != CUBLAS_OP_N || x.fill != CUBLAS_FILL_MODE_FULL)
    return unsupported("a transposed C, or a part of D");
  if (x.pointerMode > CUBLASLT_POINTER_MODE_DEVICE)
    return unsupported("vectors of alpha");
  if (p.c.order != p.d.order)
    return unsupported("C and D are of two orders");
  cublasStatus_t status = checkTypes(p);
  return status ? status : checkEpilogue(p);
}
