// The small parts of shardings on their own, as jaxlib reads them.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | diff -bB %t.expected -

module {
  func.func private @attributes() attributes {sdy.axis = #sdy<mesh_axis"a"=2>, sdy.dim = #sdy<dimension_sharding{"a", ?}p1>, sdy.part = #sdy<axis_ref"a":(1)2>, sdy.sub = #sdy<sub_axis_info(1)2>, sdy.whole = #sdy<axis_ref"a">}
}
