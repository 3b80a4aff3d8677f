// RUN: llmc-opt %s --verify-diagnostics --llmc-place-reductions
// RUN: llmc-opt %s --verify-diagnostics --llmc-materialize
// RUN: llmc-opt %s --verify-diagnostics --llmc-expand-reshards
// RUN: llmc-opt %s --verify-diagnostics --llmc-verify-materialized

// Moves are priced by links of a bandwidth that can be divided by.
// expected-error-re@+1 {{attribute 'machine': expected a positive bandwidth of link class 'b', got {{[0-9]+}}.000000}}
dist.mesh @mesh = <"data"=2> machine <links = [#dist.link<"a", latency = 0.0, bandwidth = 1.0>, #dist.link<"b", latency = 0.0, bandwidth = 1.0e301>]>
