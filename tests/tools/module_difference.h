// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds how two results for one module differ. Each result has its own base.
#pragma once

#include "tests/tools/signature.h"

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace btflink::tools
{

/// A base with lookup tables for its modules.
class ModuleBase
{
public:
    explicit ModuleBase(std::shared_ptr<const Btf> btf);

    const std::shared_ptr<const Btf> &btf() const { return btf_; }
    const SignatureTable &signatures(Arrays arrays) const
    {
        return arrays == Arrays::flat ? flat_ : as_written_;
    }
    /// True if the base defines this name, for example "struct task_struct" or "typedef u8".
    bool defines(const std::string &title) const { return defined_.count(title); }

private:
    std::shared_ptr<const Btf> btf_;
    SignatureTable as_written_, flat_;
    std::unordered_set<std::string> defined_;
};

/// The differences of two results, A and B. Functions are matched by name. The numbers of
/// additional and missing types do not include functions and their prototypes.
struct ModuleDifference {
    bool equal = false;                 // both have the same types, equally often
    bool array_form = false;            // fewer types differ if arrays of arrays count as one array
    std::vector<std::string> only_a;    // functions that only A has, sorted by name
    std::vector<std::string> only_b;    // functions that only B has, sorted by name
    std::vector<std::string> prototype; // functions of both whose FUNCs differ
    size_t more = 0;                    // types that only A has
    size_t fewer = 0;                   // types that only B has
    size_t variables = 0;               // VARs and DATASECs that only one of them has
    /// Titles of types that a result defines although its base defines them.
    std::vector<std::string> again_a, again_b;
};

/// `a` extends `base_a`, and `b` extends `base_b`.
ModuleDifference compare_modules(const ModuleBase &base_a, const Btf &a, const ModuleBase &base_b,
                                 const Btf &b);

} // namespace btflink::tools
