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
    /// Drops the DWARF, even if some of it was not read; link trailers do not state that it is
    /// missing. For callers that use only the BTF of `output`.
    bool leave_out_dwarf = false;
    /// If a relocatable file already has object BTF, take features and the address pool setting
    /// from it, not from `unit`.
    bool keep_settings = false;
    bool dry_run = false; // write nothing
    /// Keep the object BTF of a relocatable file, and encode the units that this BTF does not
    /// cover. They come from objects without object BTF that `ld -r` has linked into the file.
    bool add_missing_units = false;
    /// For each source file, the number of units whose BTF the merge gets from other files. If this
    /// file has no more units of the source file than that, they are skipped. Otherwise all of them
    /// are encoded, because encoding a unit twice is harmless. Not used if add_missing_units
    /// applies.
    SourceCounts covered;
    uint32_t section_type = 0x80425446; // of .BTF; SHT_LOUSER + "BTF"
    bool exclude_flag = true;           // SHF_EXCLUDE on .BTF
    std::string output;                 // "": in place
    std::string detached;               // if not "", write the BTF here, without an ELF file
    /// If set, the encoded units are not written. Each unit that has BTF is passed to this function
    /// as soon as it is encoded, on the thread that encoded it. Units that are encoded together
    /// count as one (group_units() in passes.h). `number`: the position of the unit among all that
    /// are encoded, from 0 on.
    std::function<Result<void>(uint32_t number, OpenUnit unit)> take;
};

struct EmitReport {
    enum class Outcome {
        written,
        unchanged, // the file already has the same object BTF, or add_missing_units adds nothing
        no_dwarf,
        no_types, // the DWARF has nothing to encode
    };
    Outcome outcome = Outcome::written;
    const char *reader = nullptr; // of the DWARF; nullptr without DWARF
    std::string reader_why;       // why libdw was chosen; "" if it was requested, or not chosen
    std::string debug_file;       // the separate file that has the DWARF, or ""
    Skips skips;
    // Also counted in `skips`:
    std::vector<RejectedVariable> rejected; // left out; errors without Feature::encode_force
    std::vector<Error> left_out; // functions, variables and parts of types that BTF cannot express,
                                 // and changes to types that kernels would refuse
    // Only with Outcome::no_dwarf. has_code: the file has code but no BTF; has_lto_code: it has
    // code that is compiled at the link; has_lto_dwarf: the DWARF is made there, too.
    bool has_code = false, has_lto_code = false, has_lto_dwarf = false;
    // Sums over the encoded units (see UnitObject); input_bytes is the size of the file.
    uint64_t units = 0, dies = 0, types_before = 0, types = 0, functions = 0, inline_only = 0,
             variables = 0;
    uint64_t blob_bytes = 0, btf_bytes = 0, input_bytes = 0;
};

/// Encodes the file at `path`. On an error nothing is written.
Result<EmitReport> emit_file(const std::string &path, const EmitOptions &options);

/// Warnings for programs to print after emit_file(), one line each, without newline: about DWARF
/// that was not read, with a hint, and about the items of `report.left_out`. Without `all`, only
/// the first item is named, with the number of the others. An object without DWARF causes none of
/// these warnings.
std::vector<std::string> warnings(const std::string &path, const EmitReport &report,
                                  bool all = false);

} // namespace btflink::emit
