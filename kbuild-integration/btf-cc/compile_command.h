// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the object files that a compiler's command line will make, as far as they may get object
// BTF. Reads the options that gcc and clang share; it need not understand others.
#pragma once

#include <string>
#include <vector>

namespace btflink::kbuild
{

struct CompileCommand {
    /// Object files that the command writes and that may get object BTF. Empty: a link, a
    /// preprocessing step, a probe, ...: not our business.
    std::vector<std::string> objects;
    /// "OBJECT: why it is left alone", for BTF_CC_VERBOSE. Empty if there are objects, or if the
    /// command makes none.
    std::string left_alone;
    bool of_a_module = false; // -DMODULE
    /// -g or the like, of a compile. An assembler has no DWARF to write for data.
    bool asks_for_dwarf = false;
    /// All sources are C, to the compiler called gcc.
    bool only_c = false;
    /// The object has no code but that of link-time optimisation.
    bool slim_lto = false;
    /// An option says where variables are to be described, or puts debug information or the command
    /// itself where it stays: it is not for us to change what is made.
    bool debug_is_chosen = false;
};

/// `arguments`: those of the compiler, its name not among them. "@file" is read as gcc reads it;
/// one that cannot be read is left to the compiler to complain about.
CompileCommand read_compile_command(const std::vector<std::string> &arguments);

} // namespace btflink::kbuild
