// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// DECL_TAGs that name the symbol of a function of C++ or Rust, if the symbol is not the name of the
// function (feature linkage_names).
#pragma once

#include <string>
#include <string_view>

namespace btflink
{

constexpr std::string_view linkage_word = ":linkage:";

/// "c++14:linkage:_Z3addii"
inline std::string linkage_tag(std::string_view language, std::string_view symbol)
{
    return std::string(language) + std::string(linkage_word) + std::string(symbol);
}

/// The symbol in the tag; empty if it is another tag.
inline std::string_view linkage_symbol(std::string_view tag)
{
    const size_t word = tag.find(linkage_word);
    if (word == 0 || word == tag.npos)
        return {};
    return tag.substr(word + linkage_word.size());
}

} // namespace btflink
