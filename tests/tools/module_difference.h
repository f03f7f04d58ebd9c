// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// By which rule two BTFs of one module differ, each over a base of its own.
#pragma once

#include "tests/tools/signature.h"

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace btflink::tools
{

/// A base with what is looked up in it for each of its modules.
class ModuleBase
{
public:
    explicit ModuleBase(std::shared_ptr<const Btf> btf);

    const std::shared_ptr<const Btf> &btf() const { return btf_; }
    const SignatureTable &signatures(Arrays arrays) const
    {
        return arrays == Arrays::flat ? flat_ : as_written_;
    }
    /// Is there a definition of this name? `title`: "struct task_struct", "typedef u8".
    bool defines(const std::string &title) const { return defined_.count(title); }

private:
    std::shared_ptr<const Btf> btf_;
    SignatureTable as_written_, flat_;
    std::unordered_set<std::string> defined_;
};

/// A and B: the two results. Functions are told by name; how many types are more or fewer does not
/// count functions and their prototypes.
struct ModuleDifference {
    bool equal = false;                 // every type is in both, as often
    bool array_form = false;            // fewer differ if arrays of arrays count as one array
    std::vector<std::string> only_a;    // functions, in order of their names
    std::vector<std::string> only_b;    //
    std::vector<std::string> prototype; // functions of both whose FUNCs differ
    size_t more = 0;                    // types that A has and B has not
    size_t fewer = 0;                   // the reverse
    size_t variables = 0;               // VAR and DATASEC of one that the other has not
    /// Titles of what a result defines although its base does.
    std::vector<std::string> again_a, again_b;
};

/// `a` and `b` continue the bases.
ModuleDifference compare_modules(const ModuleBase &base_a, const Btf &a, const ModuleBase &base_b,
                                 const Btf &b);

} // namespace btflink::tools
