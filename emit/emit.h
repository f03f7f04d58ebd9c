// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The corridor of btf-emit: one file's DWARF in, object BTF out.
#pragma once

#include "emit/object/existing_btf.h"
#include "emit/open_reader.h"
#include "emit/unit/unit_filter.h"
#include "emit/unit/unit_object.h"

#include <functional>
#include <string>

namespace btflink::emit
{

struct EmitOptions {
    UnitOptions unit;
    UnitFilter filter;
    ReaderChoice reader = ReaderChoice::automatic;
    std::string debug_dir = "/usr/lib/debug"; // see debug_files.h
    bool image = false;   // a linked file is expected, or an object of many units
    unsigned threads = 1; // for units of an image
    bool strip_dwarf = false;
    /// The same for `output` that is only read for its BTF: also where some DWARF was not read.
    bool leave_out_dwarf = false;
    /// If a relocatable file has object BTF, its features count, and whether it has a pool, not
    /// those of `unit`.
    bool keep_settings = false;
    bool dry_run = false; // write nothing
    /// Keep the object BTF that a relocatable file has, and encode only units that it does not
    /// cover (objects of a link that came without object BTF).
    bool complete = false;
    /// Units whose source files are named here are left out, for others have their BTF. Where the
    /// file has more units of a name than are counted here, all of that name are encoded: it does
    /// not matter if one is encoded twice.
    SourceCounts covered;
    uint32_t section_type = 0x80425446;
    bool exclude_flag = true; // SHF_EXCLUDE on .BTF
    std::string output;       // "": in place
    std::string detached;     // "": write an ELF file; else the plain BTF goes here, or nothing
    /// Where it is set nothing is written, and each unit that has something for BTF comes here as
    /// soon as it is encoded, from the thread that did it. `number`: its place among them all.
    std::function<Result<void>(uint32_t number, OpenUnit unit)> take;
};

struct EmitReport {
    enum class Outcome {
        written,
        unchanged, // the file holds the same object BTF already
        no_dwarf,
        no_types, // there is DWARF, but nothing in it for BTF
    };
    Outcome outcome = Outcome::written;
    const char *reader = nullptr; // who read the DWARF, and why not the fast one; nullptr: nobody
    std::string reader_why;
    std::string debug_file; // that the DWARF is in, if not in the file itself
    Skips skips;
    std::vector<RejectedVariable> rejected; // with Feature::encode_force; counted in skips, too
    std::vector<Error> left_out; // of types that are there, what BTF cannot express; the same
    // No DWARF: is there code without BTF, or does link-time optimisation make it at the link?
    bool has_code = false, has_lto_code = false;
    // Sums over units.
    uint64_t units = 0, dies = 0, types_before = 0, types = 0, functions = 0, inline_only = 0,
             variables = 0;
    uint64_t blob_bytes = 0, btf_bytes = 0, input_bytes = 0;
    StepTimes times;
};

/// Encode the file at `path` as `options` say. On error nothing was written.
Result<EmitReport> emit_file(const std::string &path, const EmitOptions &options);

} // namespace btflink::emit
