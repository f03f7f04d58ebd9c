// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a caller asks of btf-emit, and what it is told.
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
    bool image = false;                       // the file is linked, or an object of many units
    unsigned threads = 1;                     // for units of an image
    bool strip_dwarf = false;
    /// Like strip_dwarf, but allowed even if some DWARF was not read: for an `output` that is used
    /// only for its BTF.
    bool leave_out_dwarf = false;
    /// Encode with the features and the pool of the object BTF that a relocatable file has, if it
    /// has any, instead of those of `unit`.
    bool keep_settings = false;
    bool dry_run = false; // write nothing
    /// Keep the object BTF that a relocatable file has, and encode only units that it does not
    /// cover: those of linked objects that had no object BTF.
    bool complete = false;
    /// Skip units of these source files: other inputs have their BTF. If the file has more units of
    /// a name than are counted here, all of that name are encoded. Encoding one twice is harmless.
    SourceCounts covered;
    uint32_t section_type = 0x80425446;
    bool exclude_flag = true; // SHF_EXCLUDE on .BTF
    std::string output;       // "": in place
    std::string detached;     // if not "", plain BTF is written here, and no ELF file
    /// If set, nothing is written. Each unit that has BTF is passed to it as soon as it is encoded,
    /// on the thread that encoded it. `number`: the position of the unit among all encoded units.
    std::function<Result<void>(uint32_t number, OpenUnit unit)> take;
};

struct EmitReport {
    enum class Outcome {
        written,
        unchanged, // the file holds the same object BTF already
        no_dwarf,
        no_types, // the DWARF has nothing that BTF describes
    };
    Outcome outcome = Outcome::written;
    const char *reader = nullptr; // of the DWARF; nullptr if there is none
    std::string reader_why;       // why it is not the fast one, or ""
    std::string debug_file;       // the separate file that has the DWARF, or ""
    Skips skips;
    // Counted in `skips`, too:
    std::vector<RejectedVariable> rejected; // with Feature::encode_force
    std::vector<Error> left_out;            // parts of types that BTF cannot express
    // Of a file without DWARF. LTO code is made at the link.
    bool has_code = false, has_lto_code = false;
    // Sums over units.
    uint64_t units = 0, dies = 0, types_before = 0, types = 0, functions = 0, inline_only = 0,
             variables = 0;
    uint64_t blob_bytes = 0, btf_bytes = 0, input_bytes = 0;
    StepTimes times;
};

} // namespace btflink::emit
