// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "emit/dwarf/languages.h"

#include <dwarf.h>

namespace btflink::emit
{

namespace
{

struct Row {
    std::string_view name;
    uint16_t code;
};

// DWARF 5, table 7.17, and the vendor's code for assembler.
constexpr Row rows[] = {
    {"ada83", DW_LANG_Ada83},
    {"ada95", DW_LANG_Ada95},
    {"asm", DW_LANG_Mips_Assembler},
    {"bliss", DW_LANG_BLISS},
    {"c", DW_LANG_C},
    {"c89", DW_LANG_C89},
    {"c99", DW_LANG_C99},
    {"c11", DW_LANG_C11},
    {"c++", DW_LANG_C_plus_plus},
    {"c++03", DW_LANG_C_plus_plus_03},
    {"c++11", DW_LANG_C_plus_plus_11},
    {"c++14", DW_LANG_C_plus_plus_14},
    {"cobol74", DW_LANG_Cobol74},
    {"cobol85", DW_LANG_Cobol85},
    {"d", DW_LANG_D},
    {"dylan", DW_LANG_Dylan},
    {"fortran77", DW_LANG_Fortran77},
    {"fortran90", DW_LANG_Fortran90},
    {"fortran95", DW_LANG_Fortran95},
    {"fortran03", DW_LANG_Fortran03},
    {"fortran08", DW_LANG_Fortran08},
    {"go", DW_LANG_Go},
    {"haskell", DW_LANG_Haskell},
    {"java", DW_LANG_Java},
    {"julia", DW_LANG_Julia},
    {"modula2", DW_LANG_Modula2},
    {"modula3", DW_LANG_Modula3},
    {"objc", DW_LANG_ObjC},
    {"objc++", DW_LANG_ObjC_plus_plus},
    {"ocaml", DW_LANG_OCaml},
    {"opencl", DW_LANG_OpenCL},
    {"pascal83", DW_LANG_Pascal83},
    {"pli", DW_LANG_PLI},
    {"python", DW_LANG_Python},
    {"renderscript", 0x0024}, // DW_LANG_RenderScript
    {"rust", DW_LANG_Rust},
    {"swift", DW_LANG_Swift},
    {"upc", DW_LANG_UPC},
};

} // namespace

Result<std::vector<uint16_t>> parse_languages(std::string_view list)
{
    std::vector<uint16_t> codes;
    while (!list.empty()) {
        std::string_view name = list.substr(0, list.find(','));
        list.remove_prefix(std::min(name.size() + 1, list.size()));
        bool found = name.empty();
        for (const Row &row : rows)
            if (row.name == name) {
                codes.push_back(row.code);
                found = true;
            }
        if (!found)
            return fail({}, "unknown language '" + std::string(name) + "'");
    }
    return codes;
}

bool has_c_names(uint16_t language)
{
    switch (language) {
    case 0:
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case 0x002c: // DW_LANG_C17
    case 0x003e: // DW_LANG_C23
    case DW_LANG_Mips_Assembler:
        return true;
    default:
        return false;
    }
}

} // namespace btflink::emit
