// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the split units of skeleton units: in one file per object (.dwo), or in a package next to
// the linked file (.dwp), by its index (DWARF 5, section 7.3.5, and GNU's earlier form).
#pragma once

#include "emit/dwarf/fast/unit.h"

#include <map>
#include <string>

namespace btflink::emit
{

class SplitFiles
{
public:
    explicit SplitFiles(const DwarfFile &skeletons) : skeletons_(skeletons) {}

    /// The split unit of `skeleton`, or nothing.
    Result<std::optional<Unit>> find(const Unit &skeleton);

private:
    struct Opened {
        FileParts parts;
        std::unique_ptr<DwarfFile> file; // nullptr: not there, or without split DWARF
        TypeUnits types;
    };
    Result<const Opened *> open(const std::string &path);
    Result<SplitPlace> find_in_package(uint64_t id);

    const DwarfFile &skeletons_;
    std::map<std::string, Opened> opened_; // by path
};

} // namespace btflink::emit
