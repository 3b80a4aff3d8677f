// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @letter(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected 'b', 'f' or a number, got 'i'}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, i]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @letter_twice(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected dimension 'o' once, got it 2 times}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @letter_missing(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected dimension 'b' once, got it 0 times}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @number_twice(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected each spatial dimension from 0 to 1 once, got 0}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 0, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @number_far(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected each spatial dimension from 0 to 1 once, got 2}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 2, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @number_negative(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected each spatial dimension from 0 to 1 once, got -1}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, -1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @key(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected stride, pad, lhs_dilate, rhs_dilate or reverse, got 'strides'}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {strides = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @key_twice(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected 'stride' once, got it twice}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @boolean(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected true or false, got 'yes'}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [yes, 0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @field(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected a field of this attribute, got 'batch'}}
  %0 = "stablehlo.convolution"(%x, %w) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2], batch = 1>, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @field_twice(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected field 'input_batch_dimension' once, got it twice}}
  %0 = "stablehlo.convolution"(%x, %w) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2], input_batch_dimension = 0>, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @field_missing(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected field 'output_feature_dimension', got none}}
  %0 = "stablehlo.convolution"(%x, %w) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @dims_twice(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected distinct 'input dimensions', got 1 twice}}
  %0 = "stablehlo.convolution"(%x, %w) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 1], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @dims_range(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected 'kernel dimensions' in [0, 4), got 5}}
  %0 = "stablehlo.convolution"(%x, %w) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 5, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @dims_negative(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected 'output dimensions' in [0, 4), got -1}}
  %0 = "stablehlo.convolution"(%x, %w) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = -1, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @dims_rank(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected dimensions of rank 4 for the output, got 3}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @kernel_rank(%x: tensor<2x8x9x6xf32>, %w: tensor<3x6x4xf32>) {
  // expected-error@+1 {{expected a kernel and a result of rank 4, as the input, got 'tensor<3x6x4xf32>'}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @result_rank(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected a kernel and a result of rank 4, as the input, got 'tensor<2x6x4xf32>'}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @input_rank(%x: tensor<2xf32>, %w: tensor<2xf32>) {
  // expected-error@+1 {{expected an input of rank 2 or more, got 'tensor<2xf32>'}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f]x[i, o]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @elements(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf64>) {
  // expected-error@+1 {{expected operands of one element type, or of floats of 8 bits, and a result of floats where they are floats, got 'tensor<2x8x9x6xf32>', 'tensor<3x2x6x4xf64>' and 'tensor<2x6x8x4xf32>'}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf64>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @result_elements(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected operands of one element type, or of floats of 8 bits, and a result of floats where they are floats, got 'tensor<2x8x9x6xf32>', 'tensor<3x2x6x4xf32>' and 'tensor<2x6x8x4xi32>'}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xi32>
  return
}

// -----

func.func @strides(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected 2 entries in 'window_strides', got 1}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @strides_zero(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected 'window_strides' of at least 1, got 0}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @padding(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected a 'padding' of shape [2, 2], got [1, 2]}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @padding_none(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected a 'padding' of shape [2, 2], got [0, 2]}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = []} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @lhs_dilation(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected 2 entries in 'lhs_dilation', got 3}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [1, 1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @lhs_dilation_zero(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected 'lhs_dilation' of at least 1, got 0}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @rhs_dilation(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected 2 entries in 'rhs_dilation', got 0}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = []} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @rhs_dilation_negative(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected 'rhs_dilation' of at least 1, got -2}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [-2, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @reversal(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected 2 entries in 'window_reversal', got 1}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @precisions(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected 2 entries in 'precision_config', got 1}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>]} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @groups_zero(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected group counts of at least 1, one of them 1, got 0 of features and 1 of the batch}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 0 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @groups_negative(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected group counts of at least 1, one of them 1, got 1 of features and -1 of the batch}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = -1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @groups_both(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected group counts of at least 1, one of them 1, got 2 of features and 2 of the batch}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 2 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @groups_batch(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected a batch that 4 groups divide, got 2}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @groups_input(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected input features that 4 groups divide, got 6}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @groups_output(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x2x4xf32>) {
  // expected-error@+1 {{expected output features that 3 groups divide, got 4}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x2x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @groups_output_batch(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x3xf32>) {
  // expected-error@+1 {{expected output features that 2 groups divide, got 3}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x3xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @kernel_features(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected a kernel of 3 input features, got 6}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @shape(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected a result of shape [2, 6, 8, 4], got [2, 6, 7, 4]}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x7x4xf32>
  return
}

// -----

func.func @shape_dilated(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected a result of shape [2, 3, 10, 4], got [2, 6, 8, 4]}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], rhs_dilate = [2, 1], lhs_dilate = [1, 1], pad = [[1, 0], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @shape_empty(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected a result of shape [2, 0, 8, 4], got [2, 1, 8, 4]}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [4, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x1x8x4xf32>
  return
}

// -----

func.func @shape_groups(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected a result of shape [1, 6, 8, 4], got [2, 6, 8, 4]}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @overflow_dilation(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected sizes below 2^63 in dim 1 of the window, got 9 dilated by 4611686018427387904 and padded by 0 and 0 under 2 dilated by 1}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [1, 4611686018427387904]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @overflow_window(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected sizes below 2^63 in dim 0 of the window, got 8 dilated by 1 and padded by 0 and 0 under 3 dilated by 4611686018427387904}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [4611686018427387904, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @overflow_padding(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expected sizes below 2^63 in dim 0 of the window, got 8 dilated by 1 and padded by 9223372036854775800 and 0 under 3 dilated by 1}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[9223372036854775800, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @overflow_count(%x: tensor<2x1x9x6xf32>, %w: tensor<0x2x6x4xf32>) {
  // expected-error@+1 {{expected sizes below 2^63 in dim 0 of the window, got 1 dilated by 1 and padded by 9223372036854775806 and 0 under 0 dilated by 1}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[9223372036854775806, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x1x9x6xf32>, tensor<0x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  return
}

// -----

func.func @far(%x: tensor<2x8x6xf32>, %w: tensor<3x6x4xf32>) {
  // expected-error@+1 {{expected less than 2^48 positions in spatial dim 0, got 8 dilated by 1 and padded by 281474976710656 and -281474976710656, 6 places with stride 1 of 3 dilated by 1}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[281474976710656, -281474976710656]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x6xf32>, tensor<3x6x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @long_stride(%x: tensor<2x8x6xf32>, %w: tensor<3x6x4xf32>) {
  // expected-error@+1 {{expected less than 2^48 positions in spatial dim 0, got 8 dilated by 1 and padded by 0 and 0, 1 places with stride 281474976710656 of 3 dilated by 1}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [281474976710656]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x6xf32>, tensor<3x6x4xf32>) -> tensor<2x1x4xf32>
  return
}
