// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds how two results for one module differ. A result is the split BTF that a tool made; each
// result has its own base.
#pragma once

#include "tests/tools/signature.h"

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace btflink::tools
{

/// A base, with lookup tables for comparing the modules that extend it.
class ModuleBase
{
public:
    explicit ModuleBase(std::shared_ptr<const Btf> btf);

    const std::shared_ptr<const Btf> &btf() const { return btf_; }
    const SignatureTable &signatures(Arrays arrays) const
    {
        return arrays == Arrays::flat ? flat_ : as_written_;
    }
    /// True if a type of the base has this title: "struct task_struct", "typedef u8", "int".
    bool defines(const std::string &title) const { return defined_.count(title); }

private:
    std::shared_ptr<const Btf> btf_;
    SignatureTable as_written_, flat_;
    std::unordered_set<std::string> defined_;
};

/// The differences of two results, A and B. Functions are matched by name. `more` and `fewer` count
/// neither functions that differ, with their prototypes and tags, nor variables. If array_form is
/// true, an array of arrays counts as one array in the fields after it, and ARRAYs are not counted.
struct ModuleDifference {
    bool equal = false;                 // both have the same types, equally often
    bool array_form = false;            // arrays of arrays in one are single arrays in the other
    std::vector<std::string> only_a;    // functions that only A has, sorted by name
    std::vector<std::string> only_b;    // functions that only B has, sorted by name
    std::vector<std::string> prototype; // functions whose FUNCs in A and B differ
    size_t more = 0;                    // types that only A has, or has more often
    size_t fewer = 0;                   // types that only B has, or has more often
    size_t variables = 0;               // VARs and DATASECs without an equal in the other
    /// Titles of types that a result defines although its base defines them.
    std::vector<std::string> again_a, again_b;
};

/// `a` extends `base_a`, and `b` extends `base_b`.
ModuleDifference compare_modules(const ModuleBase &base_a, const Btf &a, const ModuleBase &base_b,
                                 const Btf &b);

} // namespace btflink::tools
