// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The corridor of one unit: DIEs in, one contribution of object BTF out.
#pragma once

#include "common/btf/btf_builder.h"
#include "common/object_btf/features.h"
#include "common/object_btf/link_trailer.h"
#include "emit/object/object_writer.h"
#include "emit/steps.h"
#include "emit/tree/die_tree.h"
#include "emit/tree/unit_file.h"

#include <vector>

namespace btflink::emit
{

struct UnitOptions {
    FeatureSet features;
    bool address_pool = false;
    bool by_compiler = false; // the entries are not DWARF's
    /// Make OpenUnits, whose strings are here as a rule, and remembered from unit to unit. For one
    /// thread at a time.
    StringTable *strings = nullptr;
};

/// What would be a contribution's blob and trailer, before they are bytes. Hashes are those of
/// plain types, and there is no object id.
struct OpenUnit {
    BtfBuilder btf;
    LinkTrailer trailer;
    ByteOrder order; // of the file
};

struct UnitObject {
    std::vector<std::byte> contribution; // blob, padding, link trailer; a multiple of 8 bytes.
                                         // Empty: the unit has nothing for BTF
    std::unique_ptr<OpenUnit> open;      // in its place, if that is asked for
    uint64_t blob_size = 0, size = 0;    // bytes of the blob alone and of the contribution;
                                         // of an open one those of types and trailer
    std::vector<NewReloc> btf_relocs;    // offsets from the contribution's start
    uint64_t object_id = 0;
    bool has_pool = false; // also without entries: it shows that the object was linked
    uint32_t pool_entries = 0;
    std::vector<NewReloc> pool_relocs; // offsets from the pool contribution's start
    Skips skips;
    std::vector<RejectedVariable> rejected;
    std::vector<Error> left_out; // of types that are there, what BTF cannot express
    // For --stats.
    StepTimes times;
    uint32_t dies = 0, types_before = 0, types = 0, functions = 0, inline_only = 0, variables = 0;
};

/// A unit's object BTF from its entries, whoever read them. `skips`: what the reader left out,
/// `times`: what reading took. `tree` is freed when the passes that read it are done; the result is
/// made in its memory.
Result<UnitObject> encode_tree(const UnitFile &file, DieTree tree, const UnitOptions &options,
                               Skips skips, StepTimes times);

} // namespace btflink::emit
