// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Encodes one unit: entries in, one contribution of object BTF out. After link-time optimisation,
// units refer to each other; such units are read into one tree and count as one unit here.
#pragma once

#include "common/btf/btf_builder.h"
#include "common/object_btf/features.h"
#include "common/object_btf/link_trailer.h"
#include "emit/object/object_btf.h"
#include "emit/tree/die_tree.h"

#include <vector>

namespace btflink::emit
{

struct UnitOptions {
    FeatureSet features;
    bool address_pool = false;
    bool by_compiler = false; // the entries come from the gcc plugin, not from DWARF
    bool no_dwarf = false;    // the object will not have DWARF
    /// If set, encode_tree() makes an OpenUnit. C units in which no name or type had to be changed
    /// add their strings to this table, which stores a string once for all units; other units have
    /// a table of their own. Used by one thread at a time.
    std::shared_ptr<StringTable> strings;
};

/// A contribution's blob and trailer before serialization. The trailer has stub hashes of plain
/// types only, and no object id.
struct OpenUnit {
    BtfBuilder btf;
    LinkTrailer trailer;
    ByteOrder order;                      // of the file
    std::shared_ptr<StringTable> strings; // UnitOptions::strings; `btf` may have its own table
};

struct UnitObject {
    std::vector<std::byte> contribution; // blob, padding, link trailer; a multiple of 8 bytes;
                                         // empty if the unit has nothing for BTF
    std::unique_ptr<OpenUnit> open;      // replaces `contribution` if UnitOptions::strings is set
    uint64_t blob_size = 0;              // bytes; if open, those of the types alone
    uint64_t size = 0;                   // bytes of the contribution; if open, an estimate for
                                         // types and trailer
    std::vector<Reloc> btf_relocs;       // offsets from the contribution's start
    uint64_t object_id = 0;
    bool has_pool = false; // an empty pool also shows that the object was linked
    uint32_t pool_entries = 0;
    std::vector<Reloc> pool_relocs; // offsets from the pool contribution's start
    Skips skips;
    std::vector<RejectedVariable> rejected;
    std::vector<Error> left_out; // functions, variables and parts of types that BTF cannot express,
                                 // and changes to types that kernels would refuse
    // For --stats. `types_before`: plain types with duplicates; `types`: all types of the blob;
    // `inline_only`: functions that have a prototype in the trailer instead of a FUNC.
    uint32_t dies = 0, types_before = 0, types = 0, functions = 0, inline_only = 0, variables = 0;
};

/// Encodes the entries of a unit. `skips`: what the reader has left out, by reason; the result's
/// skips include it. `tree` is freed as soon as it has been read, so that its memory can be reused.
/// Errors: the names take more than StringTable::most_bytes in all; those of check_long_names();
/// BTF cannot express the name or type of a C variable, unless Feature::encode_force is set.
Result<UnitObject> encode_tree(const UnitFile &file, DieTree tree, const UnitOptions &options,
                               Skips skips);

} // namespace btflink::emit
