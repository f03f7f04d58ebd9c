// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes object BTF for units that were linked without it: products of link-time optimisation,
// objects of another compiler driver, objects whose emission failed. Encodes their DWARF in the
// linked file.
#pragma once

#include "common/result.h"
#include "emit/tree/die_tree.h"
#include "kbuild-integration/pahole_options.h"
#include "merge/gather/gatherer.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::kbuild
{

/// A file without a name. It disappears with the last reference to it, so nothing is left behind,
/// whatever happens to the process.
class ScratchFile
{
public:
    static Result<std::shared_ptr<ScratchFile>> create();
    ~ScratchFile();
    ScratchFile(const ScratchFile &) = delete;
    ScratchFile &operator=(const ScratchFile &) = delete;
    /// A path by which this process can open it.
    const std::string &path() const { return path_; }

private:
    explicit ScratchFile(int fd);
    int fd_;
    std::string path_;
};

struct ForeignReport {
    std::vector<std::string> warnings; // always worth reporting
    /// Variables that BTF cannot express: left out with Feature::encode_force, else an error.
    std::vector<emit::RejectedVariable> rejected;
    bool no_dwarf = false; // nothing was encoded, because the file has no DWARF
};
// Each adds to a report.

/// BTF of those units of the linked file `image` whose source files are not among `covered`, in a
/// form that btf-merge accepts as an input together with the objects. Null if there are none.
Result<std::shared_ptr<ScratchFile>> encode_foreign(const std::string &image,
                                                    std::span<const std::string_view> covered,
                                                    const PaholeOptions &options,
                                                    ForeignReport &report);

/// The same of all units of `image`, into `out`. If there is nothing for BTF, nothing is put there.
Result<void> gather_units(const std::string &image, const PaholeOptions &options,
                          merge::Gatherer &out, ForeignReport &report);

/// A copy of `object` (relocatable) with object BTF for all its units that have DWARF: existing BTF
/// is kept, the rest is added. Null if there is nothing to add.
Result<std::shared_ptr<ScratchFile>>
complete_object(const std::string &object, const PaholeOptions &options, ForeignReport &report);

/// `object` (relocatable) with object BTF for all its units in place of any BTF that it has. Null:
/// it has no DWARF, or the DWARF has nothing for BTF.
Result<std::shared_ptr<ScratchFile>>
encode_object(const std::string &object, const PaholeOptions &options, ForeignReport &report);

} // namespace btflink::kbuild
