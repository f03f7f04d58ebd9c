// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares the BTF that two tools made for each of many modules (A and B), and prints how A and B
// differ, for tests/kernel/distribution. All A have the same base, and all B have the same base.
// Exit status: 0 all modules were compared, 2 bad input or wrong usage, or the output cannot be
// written.
//
// LIST has a line per module: the paths of A, B and the module's ELF file, separated by tabs. The
// output has a line with the names of the fields, then a line per module. Tabs separate the fields,
// commas the items of a list. Fields: the path of A; the numbers of types in A and B; the members
// of ModuleDifference; one_symbol, several_symbols and clone: the functions of only_b by their
// symbols in the ELF file (BySymbol).
#include "common/io/file_io.h"
#include "tests/tools/btf_file.h"
#include "tests/tools/module_difference.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <fcntl.h>
#include <gelf.h>
#include <map>
#include <set>

using namespace btflink;
using namespace btflink::tools;

namespace
{

constexpr int exit_done = 0, exit_bad = 2;

using Names = std::vector<std::string>;

struct Options {
    std::string list, base_a, base_b;
};

Names split(std::string_view text, char separator)
{
    Names parts(1);
    for (char c : text) {
        if (c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

std::string join(const Names &items, char separator = ',')
{
    std::string text;
    for (const std::string &item : items)
        text.append(item).push_back(separator);
    if (!text.empty())
        text.pop_back();
    return text;
}

struct CloseElf {
    void operator()(Elf *elf) const { elf_end(elf); }
};

/// Name of a function symbol -> its places: section and offset.
using Symbols = std::map<std::string, std::set<std::pair<uint16_t, uint64_t>>>;

void add_functions(Elf_Scn *section, const GElf_Shdr &header, Elf *elf, Symbols &symbols)
{
    Elf_Data *data = elf_getdata(section, nullptr);
    GElf_Sym symbol;
    for (int i = 0; data && gelf_getsym(data, i, &symbol); ++i)
        if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF)
            if (const char *name = elf_strptr(elf, header.sh_link, symbol.st_name))
                symbols[name].insert({symbol.st_shndx, symbol.st_value});
}

/// The functions that the symbol table of an ELF file defines. Errors: the file cannot be opened,
/// or defines none.
Result<Symbols> function_symbols(const std::string &path)
{
    Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0)
        return fail_errno(Where{path}, "cannot be opened");
    elf_version(EV_CURRENT);
    std::unique_ptr<Elf, CloseElf> elf(elf_begin(fd.get(), ELF_C_READ_MMAP, nullptr));
    Symbols symbols;
    for (Elf_Scn *scn = nullptr; (scn = elf_nextscn(elf.get(), scn));) {
        GElf_Shdr header;
        if (gelf_getshdr(scn, &header) && header.sh_type == SHT_SYMTAB)
            add_functions(scn, header, elf.get(), symbols);
    }
    if (symbols.empty())
        return fail(Where{path}, "has no symbols of functions");
    return symbols;
}

/// Functions, grouped by the symbols that have their name.
struct BySymbol {
    Names one, several; // symbols at one address; at several addresses
    Names clone;        // no symbol NAME, but symbols such as NAME.isra.0
};

bool has_clone(const Symbols &symbols, const std::string &name)
{
    auto next = symbols.lower_bound(name + ".");
    return next != symbols.end() && next->first.starts_with(name + ".");
}

/// Groups `functions` by their symbols in the file `elf`. Functions without symbols are left out.
Result<BySymbol> look_up(const Names &functions, const std::string &elf)
{
    BySymbol found;
    if (functions.empty())
        return found;
    auto symbols = TRY(function_symbols(elf));
    for (const std::string &name : functions) {
        auto symbol = symbols.find(name);
        if (symbol != symbols.end())
            (symbol->second.size() == 1 ? found.one : found.several).push_back(name);
        else if (has_clone(symbols, name))
            found.clone.push_back(name);
    }
    return found;
}

Result<ModuleBase> open_base(const std::string &path, std::vector<BtfInput> &kept)
{
    auto input = TRY(open_btf(path, ""));
    kept.push_back(input);
    return ModuleBase(input.btf);
}

const Names field_names = {"a",          "types_a",   "types_b",    "equal",
                           "array_form", "more",      "fewer",      "variables",
                           "only_a",     "only_b",    "one_symbol", "several_symbols",
                           "clone",      "prototype", "again_a",    "again_b"};

/// Returns the fields of a line of the output. `module` has the fields of a line of LIST.
Result<Names> compare_line(const Names &module, const ModuleBase &base_a, const ModuleBase &base_b)
{
    auto file_a = TRY(BtfFile::open(module[0])), file_b = TRY(BtfFile::open(module[1]));
    auto a = TRY(file_a.parse_only(base_a.btf())), b = TRY(file_b.parse_only(base_b.btf()));
    ModuleDifference d = compare_modules(base_a, a, base_b, b);
    auto symbols = TRY(look_up(d.only_b, module[2]));
    Names fields = {module[0]};
    for (size_t number : {size_t{a.size()}, size_t{b.size()}, size_t{d.equal}, size_t{d.array_form},
                          d.more, d.fewer, d.variables})
        fields.push_back(std::to_string(number));
    for (const Names *list : {&d.only_a, &d.only_b, &symbols.one, &symbols.several, &symbols.clone,
                              &d.prototype, &d.again_a, &d.again_b})
        fields.push_back(join(*list));
    return fields;
}

Result<void> run(const Options &options)
{
    auto list = TRY(read_file(options.list));
    std::vector<BtfInput> kept;
    auto base_a = TRY(open_base(options.base_a, kept)),
         base_b = TRY(open_base(options.base_b, kept));
    std::puts(join(field_names, '\t').c_str());
    std::string_view text(reinterpret_cast<const char *>(list.data()), list.size());
    for (const std::string &line : split(text, '\n')) {
        if (line.empty())
            continue;
        Names module = split(line, '\t');
        if (module.size() != 3)
            return fail(Where{options.list}, "no A, B and ELF file in line '" + line + "'");
        auto fields = TRY(compare_line(module, base_a, base_b));
        std::puts(join(fields, '\t').c_str());
    }
    return {};
}

} // namespace

int main(int argc, char **argv)
{
    Options options;
    CLI::App app{"Compare modules' BTF by meaning and print how each differs; exit status "
                 "0: compared, 2: bad input."};
    app.add_option("LIST", options.list, "a line per module: A, B, ELF file; tabs between")
        ->required();
    app.add_option("--base-a", options.base_a, "the base that all A continue")->required();
    app.add_option("--base-b", options.base_b, "the base that all B continue")->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error) == 0 ? exit_done : exit_bad;
    }
    if (auto done = run(options); !done) {
        std::fprintf(stderr, "btf-compare-modules: %s\n", done.error().str().c_str());
        return exit_bad;
    }
    return close_output("btf-compare-modules") ? exit_done : exit_bad;
}
