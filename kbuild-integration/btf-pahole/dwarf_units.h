// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes object BTF, from the DWARF of a linked file, for units whose objects had no object BTF: for
// code that link-time optimisation made, and for objects that were compiled without btf-cc or for
// which btf-cc failed.
#pragma once

#include "common/io/file_io.h"
#include "emit/tree/die_tree.h"
#include "kbuild-integration/pahole_options.h"
#include "merge/gather/gatherer.h"

#include <memory>
#include <span>
#include <string_view>

namespace btflink::kbuild
{

/// A file in memory, without a name. It disappears with the process, however that ends.
class ScratchFile
{
public:
    static Result<std::shared_ptr<ScratchFile>> create();
    /// A path by which this process can open it.
    const std::string &path() const { return path_; }

private:
    explicit ScratchFile(int fd) : fd_(fd), path_("/proc/self/fd/" + std::to_string(fd)) {}
    Fd fd_;
    std::string path_;
};

using Scratch = std::shared_ptr<ScratchFile>;

struct DwarfReport {
    std::vector<std::string> warnings; // always worth reporting
    /// Variables that BTF cannot express: left out with Feature::encode_force, else an error.
    std::vector<emit::RejectedVariable> rejected;
    bool no_dwarf = false; // nothing was encoded, because the file has no DWARF
};

// Each of the following functions adds to a report.

/// Object BTF of the units of the linked file `image` whose source files are not among `covered`,
/// as an additional input of btf-merge. Null if there are no such units.
Result<Scratch> encode_uncovered(const std::string &image,
                                 std::span<const std::string_view> covered,
                                 const PaholeOptions &options, DwarfReport &report);

/// The same for all units of `image`, added to `out`. `out` stays empty if no unit has types.
Result<void> gather_units(const std::string &image, const PaholeOptions &options,
                          merge::Gatherer &out, DwarfReport &report);

/// A copy of `object` (relocatable) with object BTF for all units that have DWARF. `keep_btf`:
/// existing BTF is kept, and the rest is added. Null if nothing was encoded.
Result<Scratch> encode_object(const std::string &object, const PaholeOptions &options,
                              bool keep_btf, DwarfReport &report);

} // namespace btflink::kbuild
