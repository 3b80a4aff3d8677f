//===- Attributes.cpp - Descriptors are made, changed and read ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlasLt/Descriptors.h"

#include <cstddef>
#include <cstring>

using namespace llmc::standin;

namespace {
struct Attribute {
  int name;
  size_t offset, bytes;
};
} // namespace

#define FIELD(name, fields, member)                                            \
  {name, offsetof(fields, member), sizeof(fields::member)}

static const Attribute layoutAttributes[] = {
    FIELD(CUBLASLT_MATRIX_LAYOUT_TYPE, LayoutFields, type),
    FIELD(CUBLASLT_MATRIX_LAYOUT_ORDER, LayoutFields, order),
    FIELD(CUBLASLT_MATRIX_LAYOUT_ROWS, LayoutFields, rows),
    FIELD(CUBLASLT_MATRIX_LAYOUT_COLS, LayoutFields, columns),
    FIELD(CUBLASLT_MATRIX_LAYOUT_LD, LayoutFields, ld),
    FIELD(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, LayoutFields, batchCount),
    FIELD(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, LayoutFields,
          batchStride),
    FIELD(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, LayoutFields, planeOffset),
    FIELD(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, LayoutFields, batchMode),
};

#define DESC(name, member)                                                     \
  FIELD(CUBLASLT_MATMUL_DESC_##name, ProductFields, member)
static const Attribute productAttributes[] = {
    DESC(COMPUTE_TYPE, compute),
    DESC(SCALE_TYPE, scale),
    DESC(POINTER_MODE, pointerMode),
    DESC(TRANSA, transA),
    DESC(TRANSB, transB),
    DESC(TRANSC, transC),
    DESC(FILL_MODE, fill),
    DESC(EPILOGUE, epilogue),
    DESC(BIAS_POINTER, bias),
    DESC(BIAS_BATCH_STRIDE, biasStride),
    DESC(EPILOGUE_AUX_POINTER, aux),
    DESC(EPILOGUE_AUX_LD, auxLd),
    DESC(EPILOGUE_AUX_BATCH_STRIDE, auxStride),
    DESC(ALPHA_VECTOR_BATCH_STRIDE, alphaStride),
    DESC(SM_COUNT_TARGET, smCount),
    DESC(A_SCALE_POINTER, scaleA),
    DESC(B_SCALE_POINTER, scaleB),
    DESC(C_SCALE_POINTER, scaleC),
    DESC(D_SCALE_POINTER, scaleD),
    DESC(AMAX_D_POINTER, amaxD),
    DESC(EPILOGUE_AUX_DATA_TYPE, auxType),
    DESC(EPILOGUE_AUX_SCALE_POINTER, scaleAux),
    DESC(EPILOGUE_AUX_AMAX_POINTER, amaxAux),
    DESC(FAST_ACCUM, fastAccumulation),
    DESC(BIAS_DATA_TYPE, biasType),
    DESC(A_SCALE_MODE, scaleModeA),
    DESC(B_SCALE_MODE, scaleModeB),
    DESC(C_SCALE_MODE, scaleModeC),
    DESC(D_SCALE_MODE, scaleModeD),
    DESC(EPILOGUE_AUX_SCALE_MODE, scaleModeAux),
    DESC(D_OUT_SCALE_POINTER, scaleOut),
    DESC(D_OUT_SCALE_MODE, scaleModeOut),
    DESC(EMULATION_DESCRIPTOR, emulation),
};

#define PREF(name, member)                                                     \
  FIELD(CUBLASLT_MATMUL_PREF_##name, PreferenceFields, member)
static const Attribute preferenceAttributes[] = {
    PREF(SEARCH_MODE, searchMode),
    PREF(MAX_WORKSPACE_BYTES, workspaceBytes),
    PREF(REDUCTION_SCHEME_MASK, reductionMask),
    PREF(MIN_ALIGNMENT_A_BYTES, alignA),
    PREF(MIN_ALIGNMENT_B_BYTES, alignB),
    PREF(MIN_ALIGNMENT_C_BYTES, alignC),
    PREF(MIN_ALIGNMENT_D_BYTES, alignD),
    PREF(MAX_WAVES_COUNT, maxWaves),
    PREF(IMPL_MASK, implementations),
};

template <size_t count>
static const Attribute *find(const Attribute (&attributes)[count], int name) {
  for (const Attribute &attribute : attributes)
    if (attribute.name == name)
      return &attribute;
  return nullptr;
}

template <size_t count>
static cublasStatus_t set(const Attribute (&attributes)[count], void *fields,
                          int name, const void *value, size_t bytes) {
  const Attribute *attribute = find(attributes, name);
  if (!fields || !value || !attribute || attribute->bytes != bytes)
    return refuse(CUBLAS_STATUS_INVALID_VALUE,
                  "an attribute that is not there, or of another size");
  std::memcpy(static_cast<char *>(fields) + attribute->offset, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <size_t count>
static cublasStatus_t get(const Attribute (&attributes)[count],
                          const void *fields, int name, void *value,
                          size_t bytes, size_t *written) {
  const Attribute *attribute = find(attributes, name);
  if (!fields || !attribute || (bytes ? !value : !written) ||
      (bytes && attribute->bytes != bytes))
    return refuse(CUBLAS_STATUS_INVALID_VALUE,
                  "an attribute that is not there, or of another size");
  if (bytes)
    std::memcpy(value, static_cast<const char *>(fields) + attribute->offset,
                bytes);
  if (written)
    *written = attribute->bytes;
  return CUBLAS_STATUS_SUCCESS;
}

/// Lays fields into an opaque struct that has room for them.
template <typename Fields>
static cublasStatus_t lay(void *opaque, size_t bytes, const Fields &fields) {
  if (!opaque)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (bytes < sizeof(Fields))
    return CUBLAS_STATUS_ALLOC_FAILED;
  std::memset(opaque, 0, bytes);
  std::memcpy(opaque, &fields, sizeof fields);
  return CUBLAS_STATUS_SUCCESS;
}

template <typename Fields, typename Opaque>
static cublasStatus_t destroy(Opaque *opaque) {
  if (!fieldsOf<Fields>(opaque))
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "no descriptor");
  std::memset(opaque, 0, sizeof *opaque);
  delete opaque;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtMatrixLayoutInit_internal(
    cublasLtMatrixLayout_t layout, size_t bytes, cudaDataType type,
    uint64_t rows, uint64_t columns, int64_t ld) {
  LayoutFields fields = {LayoutFields::kMagic,
                         static_cast<uint32_t>(type),
                         CUBLASLT_ORDER_COL,
                         1,
                         rows,
                         columns,
                         ld,
                         0,
                         0,
                         CUBLASLT_BATCH_MODE_STRIDED};
  return lay(layout, bytes, fields);
}

cublasStatus_t CUBLASWINAPI
cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
                           uint64_t rows, uint64_t columns, int64_t ld) {
  if (!layout)
    return CUBLAS_STATUS_INVALID_VALUE;
  *layout = new cublasLtMatrixLayoutOpaque_t;
  return cublasLtMatrixLayoutInit_internal(*layout, sizeof **layout, type, rows,
                                           columns, ld);
}

cublasStatus_t CUBLASWINAPI
cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy<LayoutFields>(layout);
}

cublasStatus_t CUBLASWINAPI cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t name,
    const void *value, size_t bytes) {
  if (!fieldsOf<LayoutFields>(layout))
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "no layout");
  return set(layoutAttributes, layout, name, value, bytes);
}

cublasStatus_t CUBLASWINAPI cublasLtMatrixLayoutGetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t name,
    void *value, size_t bytes, size_t *written) {
  return get(layoutAttributes, fieldsOf<LayoutFields>(layout), name, value,
             bytes, written);
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulDescInit_internal(
    cublasLtMatmulDesc_t product, size_t bytes, cublasComputeType_t compute,
    cudaDataType_t scale) {
  ProductFields fields = {};
  fields.magic = ProductFields::kMagic;
  fields.compute = compute;
  fields.scale = scale;
  fields.fill = CUBLAS_FILL_MODE_FULL;
  fields.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  fields.auxType = fields.biasType = -1;
  return lay(product, bytes, fields);
}

cublasStatus_t CUBLASWINAPI
cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *product,
                         cublasComputeType_t compute, cudaDataType_t scale) {
  if (!product)
    return CUBLAS_STATUS_INVALID_VALUE;
  *product = new cublasLtMatmulDescOpaque_t;
  return cublasLtMatmulDescInit_internal(*product, sizeof **product, compute,
                                         scale);
}

cublasStatus_t CUBLASWINAPI
cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  return destroy<ProductFields>(product);
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulDescSetAttribute(
    cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t name,
    const void *value, size_t bytes) {
  if (!fieldsOf<ProductFields>(product))
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "no descriptor of a product");
  return set(productAttributes, product, name, value, bytes);
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulDescGetAttribute(
    cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t name,
    void *value, size_t bytes, size_t *written) {
  return get(productAttributes, fieldsOf<ProductFields>(product), name, value,
             bytes, written);
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulPreferenceInit_internal(
    cublasLtMatmulPreference_t preference, size_t bytes) {
  PreferenceFields fields = {PreferenceFields::kMagic,
                             CUBLASLT_SEARCH_BEST_FIT,
                             CUBLASLT_REDUCTION_SCHEME_MASK,
                             256,
                             256,
                             256,
                             256,
                             0,
                             0,
                             ~0ull};
  return lay(preference, bytes, fields);
}

cublasStatus_t CUBLASWINAPI
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  if (!preference)
    return CUBLAS_STATUS_INVALID_VALUE;
  *preference = new cublasLtMatmulPreferenceOpaque_t;
  return cublasLtMatmulPreferenceInit_internal(*preference,
                                               sizeof **preference);
}

cublasStatus_t CUBLASWINAPI
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy<PreferenceFields>(preference);
}

cublasStatus_t CUBLASWINAPI
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                     cublasLtMatmulPreferenceAttributes_t name,
                                     const void *value, size_t bytes) {
  if (!fieldsOf<PreferenceFields>(preference))
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "no preference");
  return set(preferenceAttributes, preference, name, value, bytes);
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulPreferenceGetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t name, void *value, size_t bytes,
    size_t *written) {
  return get(preferenceAttributes, fieldsOf<PreferenceFields>(preference), name,
             value, bytes, written);
}
