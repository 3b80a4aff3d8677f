//===- DistAttrs.td - Attributes of the dist dialect -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of programs (sources, rules, rows, ports) and of schedules
// (tables). Meshes and layouts stand in DistLayout.td.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_DISTATTRS
#define LLMC_DIALECT_DIST_IR_DISTATTRS

include "llmc/Dialect/Dist/IR/DistLayout.td"

def Dist_ReductionAttr : Llmc_NamedKindAttr<Dist_Dialect, "ReductionKind", "reduction", "kind of a reduction">;
def Dist_DropoutAttr : Llmc_DropoutAttr<Dist_Dialect>;
def Dist_RoleAttr : EnumAttr<Dist_Dialect, Dist_Role, "role">;
def Dist_EnterKindAttr : EnumAttr<Dist_Dialect, Dist_EnterKind, "enter_kind">;
def Dist_LeaveKindAttr : EnumAttr<Dist_Dialect, Dist_LeaveKind, "leave_kind">;
def Dist_PhaseAttr : EnumAttr<Dist_Dialect, Dist_Phase, "phase"> {
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// States and hyper values
//===----------------------------------------------------------------------===//

def Dist_DrawAttr : Dist_Attr<"Draw", "draw"> {
  let summary = "initial values drawn by the runtime";
  let description = [{
    `#dist.draw<zeros>`, `<ones>`, `<constant, v>`, `<uniform, low, high>`,
    `<normal, deviation>` or `<normal, deviation, mean>`; `truncated_normal`
    likewise, cut at two deviations. The element at a global index depends on the seed,
    the name of the state and that index alone.

    Constraints: as many numbers as the kind takes, all finite; a deviation is
    not negative; `low` is at most `high`.
  }];
  let parameters = (ins "DrawKind":$kind, "::mlir::DenseF64ArrayAttr":$values);
  let builders = [AttrBuilder<(ins "DrawKind":$kind, CArg<"::llvm::ArrayRef<double>", "{}">:$values), [{
    return $_get($_ctxt, kind, ::mlir::DenseF64ArrayAttr::get($_ctxt, values));
  }]>];
  let extraClassDeclaration = [{
    bool isNormal() const { return getKind() == DrawKind::Normal || getKind() == DrawKind::TruncatedNormal; }
    /// Of the normal kinds.
    double getDeviation() const { return getValues()[0]; }
    double getMean() const { return getValues().size() > 1 ? getValues()[1] : 0.0; }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dist_FileAttr : Dist_Attr<"File", "file"> {
  let summary = "a region of a file";
  let description = [{
    `#dist.file<"path", offset, bytes>`; mapped when the plan runs. `dtype` is
    given when the file holds another element type than the state.

    Constraints: a path; offset at least 0; bytes at least 0; `dtype` is one
    that the runtime stores.
  }];
  let parameters = (ins StringRefParameter<"path">:$path, "int64_t":$offset,
                        "int64_t":$bytes, OptionalParameter<"::mlir::Type">:$dtype);
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$path, "int64_t":$offset, "int64_t":$bytes), [{
    return $_get($_ctxt, path, offset, bytes, ::mlir::Type());
  }]>];
  let assemblyFormat = "`<` $path `,` $offset `,` $bytes (`,` $dtype^)? `>`";
  let genVerifyDecl = 1;
}

def Dist_DataAttr : Dist_Attr<"Data", "data"> {
  let summary = "the source that feeds an input";
  let description = [{
    `#dist.data<"corpus", dtype = ui8, offset = 1>`: the input is a window of
    the tokens of source `corpus`, one after the sample's first; a raw file has
    elements of `dtype`, by default ui16.
    `#dist.data<"x", kind = array, tensor = "images", shuffle = false>`: a row
    of an array, the tensor of that name where the file has several. `offset`
    counts tokens or rows. Samples come in an order that the seed decides, or
    with `shuffle = false` as they lie in the file. `once`: an epoch has each
    window of tokens once. `held_out` is the share that training leaves out,
    `weights` has the samples of each part of the files, `any_float` lets floats
    be NaN. Integers are below `limit`, or with 0 any. The files are given when
    the plan runs; equal names are one source, so all else but `offset` and
    `limit` is equal.

    Constraints: a name; an offset and a limit of at least 0; `dtype` an integer
    type, of tokens alone; `tensor` of arrays alone; `once` of tokens alone; a
    share in [0, 1); weights of at least 1.
  }];
  let parameters = (ins StringRefParameter<"name">:$name,
                        DefaultValuedParameter<"DataKind", "DataKind::Tokens">:$kind,
                        OptionalParameter<"::mlir::Type">:$dtype,
                        OptionalParameter<"::mlir::StringAttr">:$tensor,
                        DefaultValuedParameter<"bool", "true">:$shuffle,
                        DefaultValuedParameter<"bool", "false">:$once,
                        OptionalParameter<"::mlir::FloatAttr">:$held_out,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$weights,
                        DefaultValuedParameter<"bool", "false">:$any_float,
                        DefaultValuedParameter<"int64_t", "0">:$offset,
                        DefaultValuedParameter<"int64_t", "0">:$limit);
  let assemblyFormat = [{
    `<` $name (`,` struct($kind, $dtype, $tensor, $shuffle, $once, $held_out, $weights, $any_float, $offset, $limit)^)? `>`
  }];
  let extraClassDeclaration = [{
    /// The same with another limit.
    DataAttr withLimit(int64_t limit) const;
  }];
  let genVerifyDecl = 1;
}

def Dist_RowAttr : Dist_Attr<"Row", "row"> {
  let summary = "how a state is laid out, stored and sent";
  let description = [{
    A state row: `#dist.row<rest = #l0, use = #l1, gradient = #l2, optimizer = #l3,
    stored = f32, computed = bf16, sent = bf16, accumulate = f32, memory = host>`.
    Each entry may be absent: layouts are then propagated, element types are the
    state's own (`accumulate`: f32 or wider) and the memory is the device's.
    `optimizer` is the layout at rest of the states that phase 1 makes for a
    parameter, which takes it away; absent, they lie as the parameter.
  }];
  let parameters = (ins
      OptionalParameter<"::llmc::dist::LayoutAttr">:$rest,
      OptionalParameter<"::llmc::dist::LayoutAttr">:$use,
      OptionalParameter<"::llmc::dist::LayoutAttr">:$gradient,
      OptionalParameter<"::llmc::dist::LayoutAttr">:$optimizer,
      OptionalParameter<"::mlir::Type">:$stored,
      OptionalParameter<"::mlir::Type">:$computed,
      OptionalParameter<"::mlir::Type">:$sent,
      OptionalParameter<"::mlir::Type">:$accumulate,
      DefaultValuedParameter<"Memory", "Memory::Device">:$memory);
  let builders = [
    AttrBuilder<(ins "LayoutAttr":$rest, CArg<"LayoutAttr", "{}">:$use, CArg<"LayoutAttr", "{}">:$gradient,
                     CArg<"LayoutAttr", "{}">:$optimizer), [{
      return $_get($_ctxt, rest, use, gradient, optimizer, ::mlir::Type(), ::mlir::Type(), ::mlir::Type(),
                   ::mlir::Type(), Memory::Device);
    }]>
  ];
  let extraClassDeclaration = [{
    /// The same row with another layout of optimizer states; null when nothing
    /// is left to say.
    RowAttr withOptimizer(LayoutAttr optimizer) const;
    RowAttr withAccumulate(::mlir::Type accumulate) const;
  }];
  let assemblyFormat = "`<` struct(params) `>`";
}

def Dist_RuleAttr : Dist_Attr<"Rule", "rule"> {
  let summary = "what gives a hyper value in each step";
  let description = [{
    `#dist.rule<step, base = 1.0>` (the step's number from 0, plus `base`),
    `<seed>`, `<external>`, `<constant, base = 0.001>`,
    `<warmup_constant, base = 0.001, warmup = 100>`, `<warmup_linear, ...>` or
    `<warmup_cosine, base = 0.001, last = 0.0001, warmup = 100, total = 1000>`:
    linear to `base` within `warmup` steps, then down to `last` at `total`. The
    runtime evaluates it on the host in double. Absent numbers are 0.

    Constraints: base and last finite; warmup and total at least 0.
  }];
  let parameters = (ins "RuleKind":$kind, "::mlir::FloatAttr":$baseAttr, "::mlir::FloatAttr":$lastAttr,
                        "int64_t":$warmup, "int64_t":$total);
  let skipDefaultBuilders = 1;
  let builders = [
    AttrBuilder<(ins "RuleKind":$kind, CArg<"double", "0.0">:$base, CArg<"double", "0.0">:$last,
                     CArg<"int64_t", "0">:$warmup, CArg<"int64_t", "0">:$total), [{
      auto f64 = ::mlir::Float64Type::get($_ctxt);
      return $_get($_ctxt, kind, ::mlir::FloatAttr::get(f64, base), ::mlir::FloatAttr::get(f64, last), warmup,
                   total);
    }]>
  ];
  let extraClassDeclaration = [{
    double getBase() const { return getBaseAttr().getValueAsDouble(); }
    double getLast() const { return getLastAttr().getValueAsDouble(); }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dist_BoxAttr : Dist_Attr<"Box", "box"> {
  let summary = "a state's place in a local buffer";
  let description = [{
    `#dist.box<@W1.0, #layout, [0, 4]>`: the local shape of the state under the
    layout lies at these offsets of the buffer.

    Constraints: one offset, at least 0, for each dimension.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$state, "::llmc::dist::LayoutAttr":$layout,
                        "::mlir::DenseI64ArrayAttr":$offsets);
  let assemblyFormat = "`<` $state `,` $layout `,` $offsets `>`";
  let genVerifyDecl = 1;
}

def Dist_RecomputeAttr : Dist_Attr<"Recompute", "recompute"> {
  let summary = "which blocks keep nothing but their inputs";
  let description = [{
    `#dist.recompute<none>`, `<all>`, `<every, 2>` (each second block). With
    `<none with gathers = true>` blocks keep all but what is made of states
    alone by collectives, such as a weight that was gathered. With `<none and
    conversions = true>` a state that is read in a narrower type is converted in
    each microbatch, rather than once in a step and kept.

    Constraints: `every` has a number of at least 1, the others none.
  }];
  let parameters = (ins "RecomputeKind":$kind, DefaultValuedParameter<"int64_t", "0">:$every,
                        DefaultValuedParameter<"bool", "false">:$gathers,
                        DefaultValuedParameter<"bool", "false">:$conversions);
  let assemblyFormat = "`<` $kind (`,` $every^)? (`with` `gathers` `=` $gathers^)? (`and` `conversions` `=` $conversions^)? `>`";
  let genVerifyDecl = 1;
}

def Dist_LoopAttr : Dist_Attr<"Loop", "loop"> {
  let summary = "a loop";
  let description = [{
    `#dist.loop<"layers", trips = 12>`; with `reversed = true` its trips run from
    the last to the first. Equal names within a function are one loop, whose
    trips are numbered from 0.

    `#dist.loop<"solve", conditional = true>` has as many trips as its condition
    says: the carried value with number 0, a `tensor<i1>`, holds before each.

    `#dist.loop<"times", trips = 64, in = <"layers", trips = 12>>` runs all its
    trips in each trip of another loop. In a reversed loop both may run: one that
    is computed again for the derivative, and the one that reads its states.

    Constraints: a name; at least one trip, or none and not reversed where it is
    conditional; a loop in another one, and that one, are not conditional.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, DefaultValuedParameter<"int64_t", "0">:$trips,
                        DefaultValuedParameter<"bool", "false">:$reversed,
                        DefaultValuedParameter<"bool", "false">:$conditional,
                        OptionalParameter<"LoopAttr">:$in);
  let builders = [AttrBuilder<(ins "::mlir::StringAttr":$name, "int64_t":$trips, CArg<"LoopAttr", "{}">:$in), [{
    return $_get($_ctxt, name, trips, false, false, in);
  }]>];
  let assemblyFormat = "`<` $name `,` struct($trips, $reversed, $conditional, $in) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The other direction of the loop and of those around it.
    LoopAttr getReverse() const {
      return get(getContext(), getName(), getTrips(), !getReversed(), getConditional(),
                 getIn() ? getIn().getReverse() : LoopAttr());
    }
    /// All directions of a loop and of those around it, in the forward form.
    LoopAttr getForward() const {
      return get(getContext(), getName(), getTrips(), false, getConditional(),
                 getIn() ? getIn().getForward() : LoopAttr());
    }
    /// The loop, in the given one instead of that around it.
    LoopAttr withIn(LoopAttr in) const {
      return get(getContext(), getName(), getTrips(), getReversed(), getConditional(), in);
    }
    /// The loop alone from its last trip to its first, those around it as they are.
    LoopAttr getOwnReversed() const {
      return get(getContext(), getName(), getTrips(), true, false, getIn());
    }
    /// The loop and those around it, the outermost first.
    std::vector<LoopAttr> getPath() const;
    int64_t getDepth() const { return getIn() ? getIn().getDepth() + 1 : 1; }
    /// Trips by which costs are weighed: of a conditional loop a guess.
    int64_t getWeight() const {
      int64_t own = getConditional() ? 16 : getTrips();
      return getIn() ? own * getIn().getWeight() : own;
    }
    /// Of a conditional loop: the number of the carried value that it asks.
    static constexpr int64_t kCondition = 0;
    /// The number of the trip that runs as the `n`-th; a conditional loop has no
    /// more than that and the one before, which are 0 and 1 in turn.
    int64_t getTrip(int64_t n) const {
      return getConditional() ? n % 2 : getReversed() ? getTrips() - 1 - n : n;
    }
    /// How many numbers of trips there are.
    int64_t getNumbers() const { return getConditional() ? 2 : getTrips(); }
  }];
}

//===----------------------------------------------------------------------===//
// Ports
//===----------------------------------------------------------------------===//

def Dist_PortAttr : Dist_Attr<"Port", "port"> {
  let summary = "what an argument or result of a program's function is";
  let description = [{
    ```mlir
    %tokens: tensor<4x8xi32> {dist.port = #dist.port<input "tokens", data = <"corpus">>}
    %w: tensor<4xf32> {dist.port = #dist.port<parameter @w, layout = #w>}
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>})
    ```
    A kind, the symbol or the name of what it is, and where the data lie:

    | kind | on | names | and perhaps | what it is |
    |---|---|---|---|---|
    | `input` | argument | name | `data`, `layout`, `shape` | data of the user; the source that feeds it |
    | `hyper` | argument | symbol | `layout` | a `dist.hyper` |
    | `parameter` | both | symbol | `layout`, `shape` | a state that is read (argument) or replaced (result); of an optimizer function, without a symbol |
    | `optimizer`, `carried` | both | symbol | `layout`, `shape` | the same, by the role of the state |
    | `constant` | argument | symbol | `layout` | a state that no program writes |
    | `step`, `microbatch` | argument | | `layout` | their numbers |
    | `loss` | result | | `layout`, `shape` | the loss of one microbatch, as the model returns it |
    | `loss_sum`, `count` | both | | `layout`, `shape`, `reduced` | sum of the loss over microbatches, and what it is divided by |
    | `metric_sum` | both | name | `layout`, `shape`, `reduced` | sum of a metric of the model's own |
    | `gradient` | both | symbol | `layout`, `shape`, `boxes`, `reduced`, `trips` | sum of the gradient of a state, or of what a step of the text takes from the batch for it; of an optimizer function, without a symbol |
    | `metric` | result | name | `layout`, `shape` | what a step or an evaluation reports |
    | `output` | result | name | `metric`, `layout`, `shape` | what an entry returns; the metric that it is in training |
    | `moment` | both | name | | state of an optimizer function |
    | `setting` | argument | name | `default` | a number of the configuration, of an optimizer function |
    | `buffer` | both | symbol | `trips` | the `dist.buffer` of a state |
    | `act` | both | name | `chunk`, `trips` | kept from the forward of a chunk to its backward, or from one program of a chunk to the next |
    | `carry` | both | name | `chunk`, `trips` | what a loop hands from trip to trip, or a part of a trip to another one |
    | `kept` | both | name | `chunk`, `trips` | made once in a step, before its first microbatch, and read by all of them |
    | `send`, `recv` | result; argument | symbol | | a transfer |

    `layout` says where the value lives: given by the user or decided, until it
    becomes the encoding of the type, and again where the host sees a local
    value. `shape` are then the sizes without padding, where the layout pads.
    `boxes` take the place of a layout for a gradient that lies as the merged
    buffer of a state in parts. `trips` says that a program of a loop takes or
    returns the row of its trip, of so many rows of the slot; of a loop in another
    one `trips = [12, 64]`, the outermost first, and 0 for a loop of which the slot
    has no rows. `reduced` marks a sum after the collectives of
    the update. `output` may have the name of the metric that training makes of
    it: `<output "acc", metric = "acc">`.

    Constraints: the symbol or name that the kind has, and no other field than
    the kind may have; names are not empty; a chunk and trips are at least 0, and trips not all 0; a shape has a
    layout beside it; boxes, at least one, have none. Whether symbols exist is checked by
    the op that uses the function.
  }];
  let parameters = (ins "PortKind":$kind,
                        OptionalParameter<"::mlir::FlatSymbolRefAttr">:$symbol,
                        OptionalParameter<"::mlir::StringAttr">:$name,
                        DefaultValuedParameter<"int64_t", "-1">:$chunk,
                        DefaultValuedParameter<"bool", "false">:$isReduced,
                        OptionalParameter<"::mlir::StringAttr">:$metric,
                        OptionalParameter<"::llmc::dist::DataAttr">:$data,
                        OptionalParameter<"::mlir::FloatAttr">:$defaultValue,
                        OptionalParameter<"::llmc::dist::LayoutAttr">:$layout,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$shape,
                        OptionalParameter<"::mlir::ArrayAttr">:$boxes,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$trips);
  let builders = [
    AttrBuilder<(ins "PortKind":$kind, CArg<"::mlir::FlatSymbolRefAttr", "{}">:$symbol), [{
      return $_get($_ctxt, kind, symbol, ::mlir::StringAttr(), int64_t(-1), false, ::mlir::StringAttr(), DataAttr(),
                   ::mlir::FloatAttr(), LayoutAttr(), ::mlir::DenseI64ArrayAttr(), ::mlir::ArrayAttr(),
                   ::mlir::DenseI64ArrayAttr());
    }]>,
    AttrBuilder<(ins "PortKind":$kind, "::llvm::StringRef":$name, CArg<"int64_t", "-1">:$chunk), [{
      return $_get($_ctxt, kind, ::mlir::FlatSymbolRefAttr(), ::mlir::StringAttr::get($_ctxt, name), chunk, false,
                   ::mlir::StringAttr(), DataAttr(), ::mlir::FloatAttr(), LayoutAttr(), ::mlir::DenseI64ArrayAttr(),
                   ::mlir::ArrayAttr(), ::mlir::DenseI64ArrayAttr());
    }]>
  ];
  let extraClassDeclaration = [{
    /// Holds or replaces a state.
    bool isState() const;
    /// A scalar that a step adds up over microbatches.
    bool isScalarSum() const;
    /// What a step adds up over microbatches.
    bool isSum() const { return isScalarSum() || getKind() == PortKind::Gradient; }
    /// What may stand on arguments, and on results.
    bool isOfArguments() const;
    bool isOfResults() const;
    /// What it is, without where its data lie and come from: equal for all
    /// ports that are views of one value.
    PortAttr getSlot() const;
    bool isInSlot(PortAttr slot) const;
    PortAttr withSymbol(mlir::FlatSymbolRefAttr symbol) const;
    PortAttr withMetric(mlir::StringAttr metric) const;
    PortAttr withData(DataAttr data) const;
    PortAttr withLayout(LayoutAttr layout) const;
    PortAttr withShape(mlir::DenseI64ArrayAttr shape) const;
    PortAttr withBoxes(mlir::ArrayAttr boxes) const;
    PortAttr asReduced() const;
    /// The row of the trips that run, of what has so many of each loop; zeros
    /// take the mark away.
    PortAttr withTrips(::llvm::ArrayRef<int64_t> trips) const;
    /// The rows of each loop around the program, the outermost first; 0 where
    /// the slot has none of it. Empty where it has none at all.
    ::llvm::ArrayRef<int64_t> getRows() const {
      return getTrips() ? getTrips().asArrayRef() : ::llvm::ArrayRef<int64_t>();
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

def Dist_TableAttr : Dist_Attr<"Table", "table"> {
  let summary = "a schedule: (pipeline coordinate, slot) -> cell";
  let description = [{
    One string for each pipeline coordinate, one word for each slot of time:
    `F0.1` = forward of chunk 0 for microbatch 1; `B` backward (of inputs alone
    where the table has `W` cells), `W` backward-weight, `U` the update, `.`
    nothing.

    ```mlir
    #dist.table<["F0.0 F0.1 . B0.0 . B0.1 U", ". F1.0 B1.0 F1.1 B1.1 . U"]>
    ```

    Constraints: at least one row, all of the same length. Dependencies,
    memory and deadlock are checked by the analysis of schedules.
  }];
  let parameters = (ins "int64_t":$numSlots, ArrayRefParameter<"::llmc::dist::Cell">:$cells);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Number of pipeline coordinates.
    int64_t getNumRows() const;
    llvm::ArrayRef<Cell> getRow(int64_t row) const;
  }];
}

def Dist_ScheduleAttr : Dist_Attr<"Schedule", "schedule"> {
  let summary = "which schedule a step has";
  let description = [{
    The name of a generator with its options, or a table that was read:
    `#dist.schedule<1f1b>`, `#dist.schedule<interleaved with {chunks = 2}>`,
    `#dist.schedule<file table <["F0.0 B0.0 U"]>>`. Names that are no plain
    word are quoted. Which generators there are is known by the analysis of
    schedules. The option `chunks` says how many chunks of the model a stage
    holds; chunk c lives on stage c modulo the number of stages.

    Constraints: a name; no option but `chunks`, from 1 to 1024.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, OptionalParameter<"::mlir::DictionaryAttr">:$options,
                        OptionalParameter<"::llmc::dist::TableAttr">:$table);
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name), [{
    return $_get($_ctxt, ::mlir::StringAttr::get($_ctxt, name), ::mlir::DictionaryAttr(), TableAttr());
  }]>];
  let assemblyFormat = "`<` custom<ScheduleName>($name) (`with` $options^)? (`table` $table^)? `>`";
  let genVerifyDecl = 1;
}

def Dist_ProgramAttr : Dist_Attr<"Program", "program"> {
  let summary = "a program of a timeline";
  let description = [{
    `#dist.program<@train.c0.F, chunk = 0, phase = forward, at = [0]>`; `at` =
    the pipeline coordinates that run it. With `loop = <"l", trips = 12>` it runs
    once for each trip.

    Constraints: a chunk unless the phase is `update`, which has no loop;
    coordinates ascending.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$function,
                        DefaultValuedParameter<"int64_t", "-1">:$chunk, "Phase":$phase,
                        "::mlir::DenseI64ArrayAttr":$at, OptionalParameter<"LoopAttr">:$loop);
  let assemblyFormat = "`<` $function `,` struct($chunk, $phase, $at, $loop) `>`";
  let genVerifyDecl = 1;
}

def Dist_RouteAttr : Dist_Attr<"Route", "route"> {
  let summary = "a transfer between two programs of a timeline";
  let description = "`#dist.route<@t0: @train.c0.F -> @train.c1.F>`.";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$transfer, "::mlir::FlatSymbolRefAttr":$from,
                        "::mlir::FlatSymbolRefAttr":$to);
  let assemblyFormat = "`<` $transfer `:` $from `->` $to `>`";
}

#endif // LLMC_DIALECT_DIST_IR_DISTATTRS
