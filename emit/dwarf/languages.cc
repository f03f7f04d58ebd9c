// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The table of source languages, and the parser of lists of their names.
#include "emit/dwarf/languages.h"

#include "common/io/bytes.h"

#include <cstring>
#include <dwarf.h>
#include <strings.h>

namespace btflink::emit
{

namespace
{

/// A version of a language. In a list, the name of the language alone means all versions.
struct Row {
    std::string_view language, version;
    uint16_t code;
};

// DWARF 5, table 7.17; later versions of the languages in it; and assembler, which has a
// vendor-defined code and a later one. Codes that older <dwarf.h> lack are numbers.
constexpr Row rows[] = {
    {"ada", "83", DW_LANG_Ada83},
    {"ada", "95", DW_LANG_Ada95},
    {"ada", "2005", 0x2e},
    {"ada", "2012", 0x2f},
    {"asm", "", DW_LANG_Mips_Assembler},
    {"asm", "", 0x31}, // DW_LANG_Assembly
    {"bliss", "", DW_LANG_BLISS},
    {"c", "", DW_LANG_C},
    {"c", "89", DW_LANG_C89},
    {"c", "99", DW_LANG_C99},
    {"c", "11", DW_LANG_C11},
    {"c", "17", 0x2c},
    {"c", "23", 0x3e},
    {"c++", "", DW_LANG_C_plus_plus},
    {"c++", "03", DW_LANG_C_plus_plus_03},
    {"c++", "11", DW_LANG_C_plus_plus_11},
    {"c++", "14", DW_LANG_C_plus_plus_14},
    {"c++", "17", 0x2a},
    {"c++", "20", 0x2b},
    {"c++", "23", 0x3a},
    {"cobol", "74", DW_LANG_Cobol74},
    {"cobol", "85", DW_LANG_Cobol85},
    {"d", "", DW_LANG_D},
    {"dylan", "", DW_LANG_Dylan},
    {"fortran", "77", DW_LANG_Fortran77},
    {"fortran", "90", DW_LANG_Fortran90},
    {"fortran", "95", DW_LANG_Fortran95},
    {"fortran", "03", DW_LANG_Fortran03},
    {"fortran", "08", DW_LANG_Fortran08},
    {"fortran", "18", 0x2d},
    {"fortran", "23", 0x3f},
    {"go", "", DW_LANG_Go},
    {"haskell", "", DW_LANG_Haskell},
    {"java", "", DW_LANG_Java},
    {"julia", "", DW_LANG_Julia},
    {"modula2", "", DW_LANG_Modula2},
    {"modula3", "", DW_LANG_Modula3},
    {"objc", "", DW_LANG_ObjC},
    {"objc++", "", DW_LANG_ObjC_plus_plus},
    {"ocaml", "", DW_LANG_OCaml},
    {"opencl", "", DW_LANG_OpenCL},
    {"pascal", "83", DW_LANG_Pascal83},
    {"pli", "", DW_LANG_PLI},
    {"python", "", DW_LANG_Python},
    {"renderscript", "", 0x24}, // DW_LANG_RenderScript
    {"rust", "", DW_LANG_Rust},
    {"swift", "", DW_LANG_Swift},
    {"upc", "", DW_LANG_UPC},
};

bool same_word(std::string_view a, std::string_view b)
{
    return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool names(std::string_view name, const Row &row)
{
    return same_word(name, row.language) ||
           (same_word(name.substr(0, row.language.size()), row.language) &&
            same_word(name.substr(row.language.size()), row.version));
}

/// "ada[83|95|2005|2012], asm, ..."
std::string known_names()
{
    std::string text;
    std::string_view last;
    for (const Row &row : rows) {
        if (row.language != last)
            text += (text.empty() ? "" : ", ") + std::string(row.language);
        if (row.language == last && text.ends_with(']')) {
            text.back() = '|';
            text += std::string(row.version) + "]";
        } else if (!row.version.empty()) {
            text += "[" + std::string(row.version) + "]";
        }
        last = row.language;
    }
    return text;
}

} // namespace

Result<std::vector<uint16_t>> parse_languages(std::string_view list)
{
    std::vector<uint16_t> codes;
    while (!list.empty()) {
        const std::string_view name = take_part(list, ',');
        bool found = name.empty();
        for (const Row &row : rows)
            if (names(name, row)) {
                codes.push_back(row.code);
                found = true;
            }
        if (!found)
            return fail({},
                        "unknown language '" + std::string(name) + "'; known are " + known_names());
    }
    return codes;
}

std::string language_name(uint16_t language)
{
    for (const Row &row : rows)
        if (row.code == language)
            return std::string(row.language) + std::string(row.version);
    return {};
}

bool has_c_names(uint16_t language)
{
    for (const Row &row : rows)
        if (row.code == language)
            return row.language == "c" || row.language == "asm";
    return language == 0; // not stated
}

bool is_clang(const char *producer)
{
    constexpr size_t most_read = 4096;
    return producer && std::string_view(producer, ::strnlen(producer, most_read)).find("clang") !=
                           std::string_view::npos;
}

bool counts_from_1(uint16_t language)
{
    constexpr std::string_view names[] = {"ada",     "cobol",   "fortran", "julia",
                                          "modula2", "modula3", "pascal",  "pli"};
    for (const Row &row : rows)
        if (row.code == language)
            return std::ranges::find(names, row.language) != std::end(names);
    return false;
}

} // namespace btflink::emit
