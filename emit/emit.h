// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The driver of btf-emit: one file's DWARF in, object BTF out.
#pragma once

#include "emit/dwarf/dwarf_reader.h"
#include "emit/dwarf/languages.h"
#include "emit/object/object_btf.h"
#include "emit/tree/die_tree.h"
#include "emit/unit/unit_object.h"

#include <functional>
#include <string>

namespace btflink::emit
{

struct EmitOptions {
    UnitOptions unit;
    UnitFilter filter;
    ReaderChoice reader = ReaderChoice::automatic;
    std::string debug_dir = "/usr/lib/debug"; // see find_separate()
    bool image = false;                       // the file is linked, or an object of many units
    unsigned threads = 1;                     // for units of an image
    bool strip_dwarf = false;
    /// Like strip_dwarf, but allowed even if some DWARF was not read: for an `output` of which only
    /// the BTF is used.
    bool leave_out_dwarf = false;
    /// If a relocatable file already has object BTF, use its features and pool setting instead of
    /// those of `unit`.
    bool keep_settings = false;
    bool dry_run = false; // write nothing
    /// Keep the object BTF of a relocatable file, and encode the units that it does not cover:
    /// those of linked objects that had no object BTF.
    bool add_missing_units = false;
    /// Skip units of these source files, because other inputs have their BTF. If the file has more
    /// units of a name than are counted here, all units of that name are encoded. Encoding a unit
    /// twice is harmless.
    SourceCounts covered;
    uint32_t section_type = 0x80425446; // of .BTF; SHT_LOUSER + "BTF"
    bool exclude_flag = true;           // SHF_EXCLUDE on .BTF
    std::string output;                 // "": in place
    std::string detached;               // if not "", write plain BTF here, and no ELF file
    /// If set, nothing is written. Each unit that has BTF is passed to this function as soon as it
    /// is encoded, on the thread that encoded it. `number`: the position of the unit among all
    /// encoded units.
    std::function<Result<void>(uint32_t number, OpenUnit unit)> take;
};

struct EmitReport {
    enum class Outcome {
        written,
        unchanged, // the file already has the same object BTF
        no_dwarf,
        no_types, // the DWARF has nothing to encode
    };
    Outcome outcome = Outcome::written;
    const char *reader = nullptr; // of the DWARF; nullptr without DWARF
    std::string reader_why;       // why it is not the fast reader, or ""
    std::string debug_file;       // the separate file that has the DWARF, or ""
    Skips skips;
    // Also counted in `skips`:
    std::vector<RejectedVariable> rejected; // with Feature::encode_force
    std::vector<Error> left_out;            // parts of types that BTF cannot express
    // For a file without DWARF. LTO code is compiled at the link.
    bool has_code = false, has_lto_code = false;
    // Sums over units.
    uint64_t units = 0, dies = 0, types_before = 0, types = 0, functions = 0, inline_only = 0,
             variables = 0;
    uint64_t blob_bytes = 0, btf_bytes = 0, input_bytes = 0;
};

/// Encodes the file at `path`. On an error nothing is written.
Result<EmitReport> emit_file(const std::string &path, const EmitOptions &options);

/// Warnings about DWARF that got no BTF, with a remedy: one line each, without newline. For every
/// program that runs the encoder. An object without DWARF causes no warning. Without `all`, only
/// the first part of a type that BTF cannot express is named, with the number of others.
std::vector<std::string> warnings(const std::string &path, const EmitReport &report,
                                  bool all = false);

} // namespace btflink::emit
