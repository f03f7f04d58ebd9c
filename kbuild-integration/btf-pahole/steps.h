// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The steps of btf-pahole.
#pragma once

#include "common/io/file_io.h"
#include "common/result.h"
#include "emit/tree/die_tree.h"
#include "kbuild-integration/pahole_options.h"
#include "merge/gather/gatherer.h"
#include "merge/input/final_btf.h"
#include "merge/link/select.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::kbuild
{

// link_inputs.cc: finds the files from which a linked file was made, in the places where Kbuild
// leaves them.

struct LinkedFile {
    bool relocatable = false; // a module, or an object
    bool has_symbols = false;
};
/// Reads ELF headers. Errors: the file is not valid ELF, or cannot be read.
Result<LinkedFile> look_at_link(const std::string &path);

/// Is the file bitcode, which a compiler left for link-time optimisation? The linker reads bitcode
/// like an object, but bitcode has neither code nor DWARF. False if the file cannot be read.
bool is_bitcode_file(const std::string &path);

/// Does the file have a `.BTF` section with a link trailer? Final BTF has none. False for bitcode,
/// and if the file does not exist or is not readable. Errors: the file is not valid ELF, or its
/// `.BTF` is malformed.
Result<bool> has_object_btf(const std::string &path);

/// The objects from which `image`, a vmlinux, was linked, if they have object BTF: vmlinux.o in the
/// same folder, and the objects that the link itself compiled. Empty for other files, and if
/// vmlinux.o does not have object BTF.
Result<std::vector<std::string>> vmlinux_inputs(const std::string &image);

/// The objects from which a module was linked, by Kbuild's saved command, also those that no longer
/// exist. (They cause an error if another object has object BTF.) Without a saved command, the
/// objects of NAME.ko are NAME.o and, if it exists, NAME.mod.o; none if NAME.o does not exist.
std::vector<std::string> module_inputs(const std::string &module);

/// Why it is an error that a file has nothing to encode; "" if it is not an error. (Not called for
/// a file whose DWARF has nothing for BTF.) For a vmlinux it always is. For other files Kbuild's
/// saved commands decide: it is an error if Kbuild linked the file and the file is `empty` (0
/// bytes), or if one of the file's objects is gone or was compiled with -g.
std::string why_btf_is_due(const std::string &file, bool empty);

// dwarf_units.cc: makes object BTF, from the DWARF of a linked file or of a module's object, for
// units without object BTF: code that link-time optimisation made, and objects that were compiled
// without btf-cc or for which btf-cc failed.

/// A file in memory, without a name. It disappears with the ScratchFile, or when the process ends,
/// also if the process is killed.
class ScratchFile
{
public:
    /// `original`: the path of the file from which the contents are made.
    static Result<std::shared_ptr<ScratchFile>> create(const std::string &original);
    /// A path by which this process can open it.
    const std::string &path() const { return path_; }
    /// The path to show to users.
    const std::string &original() const { return original_; }

private:
    ScratchFile(int fd, const std::string &original)
        : fd_(fd), path_("/proc/self/fd/" + std::to_string(fd)), original_(original)
    {
    }
    Fd fd_;
    std::string path_, original_;
};

using Scratch = std::shared_ptr<ScratchFile>;

struct DwarfReport {
    std::vector<std::string> warnings; // printed unless -q is given
    /// Variables that BTF cannot express: left out with Feature::encode_force, else an error.
    std::vector<emit::RejectedVariable> rejected;
    bool no_dwarf = false; // nothing was encoded, because the file has no DWARF
};

// Each of the following functions adds to a report.

/// Object BTF of the units of the linked file `image` that have none, as an input of btf-merge.
/// Null if there is nothing to encode. `covered`: the source file of each unit that has object BTF;
/// may contain "". See EmitOptions::covered.
Result<Scratch> encode_uncovered(const std::string &image,
                                 std::span<const std::string_view> covered,
                                 const PaholeOptions &options, DwarfReport &report);

/// Adds the object BTF of all units of `image` to `out`, which stays empty if no unit has types.
Result<void> gather_units(const std::string &image, const PaholeOptions &options,
                          merge::Gatherer &out, DwarfReport &report);

/// A copy of `object` (relocatable) with object BTF for all units that have DWARF, but without the
/// DWARF. `keep_btf`: existing object BTF is kept, and only the units that it does not cover are
/// encoded. Null if nothing was encoded.
Result<Scratch> encode_object(const std::string &object, const PaholeOptions &options,
                              bool keep_btf, DwarfReport &report);

// encode_linked.cc: the driver: one linked file (vmlinux, a module, a program) gets its final BTF.

struct EncodeReport : DwarfReport {
    std::vector<std::string> notes;                                              // for -V
    std::vector<std::pair<std::string, merge::FunctionSkip>> functions_left_out; // sorted by name
    bool written = false; // false also if there was nothing to encode
};

/// Encodes `file` as `options` say, into its `.BTF` (and `.BTF.base`) or into options.detached. In
/// the second case `file` is not changed, except that a module loses its object BTF, and gets the
/// current time as its time of modification. On an error `file` keeps its contents.
Result<void> encode_linked(const std::string &file, const PaholeOptions &options,
                           EncodeReport &report);

// final_types.cc: reads the final BTF of a file and its base; prints the list of types of
// `btf-pahole -J -V` in pahole's format, which programs parse.
//
// fill_ids.cc: fills in the section .BTF_ids (include/linux/btf_ids.h of the kernel) of a module:
// ids of types and functions for which C code asks by name, alone or in sets.

struct FinalTypes {
    std::optional<merge::Input> input;
    merge::Base base;                               // empty if the file has a distilled base
    std::optional<merge::FinalBlob> own_base, blob; // `.BTF.base`, `.BTF`
    std::optional<Btf> btf;                         // always set
};

/// `base`: the file with the base, if `path` has no distilled base; "": none. Errors include: the
/// file has no final BTF.
Result<FinalTypes> read_final_types(const std::string &path, const std::string &base);

/// Why a function has no FUNC, in pahole's words.
const char *pahole_reason(merge::FunctionSkip reason);

/// Prints the types of the final BTF in a file to standard output. `base`: as for
/// read_final_types().
Result<void> list_types(const std::string &path, const std::string &base);

/// Puts ids of the final BTF of `file`, a module, into its .BTF_ids, as the kernel's resolve_btfids
/// does. (Builds outside the kernel tree may lack resolve_btfids.) `base`: as for
/// read_final_types(). Names that the BTF does not have get the id 0, and are returned, each after
/// its kind: "func foo". Errors include: a kfunc has no FUNC, or has implicit arguments, which only
/// resolve_btfids can remove from the prototype that programs see.
Result<std::vector<std::string>> fill_btf_ids(const std::string &file, const std::string &base);

} // namespace btflink::kbuild
