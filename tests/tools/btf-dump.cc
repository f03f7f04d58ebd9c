// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Prints a contribution of a file: the BTF as text (tests/tools/btf_text.h) or as C (by libbpf, an
// independent reader), or the link trailer. Can also check the BTF, or count the contributions.
// Exit status: 0 success, 2 bad input or wrong usage, or the output cannot be written.
#include "common/btf/btf_check.h"
#include "common/io/file_io.h"
#include "tests/tools/btf_file.h"
#include "tests/tools/btf_text.h"

#include <CLI/CLI.hpp>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

using namespace btflink;
using namespace btflink::tools;

namespace
{

struct Options {
    std::string file, base, form;
    size_t index = 0;
    bool count = false, trailer = false, check = false;
};

struct FreeBtf {
    void operator()(struct btf *btf) const { btf__free(btf); }
    void operator()(btf_dump *dump) const { btf_dump__free(dump); }
};
using LibbpfBtf = std::unique_ptr<struct btf, FreeBtf>;

/// Parses contribution `index` with libbpf. The bytes are passed in a file in memory, because
/// libbpf exports btf__new_split() only from 1.4 on.
Result<LibbpfBtf> libbpf_parse(const BtfFile &file, size_t index, struct btf *base)
{
    int fd = ::memfd_create("btf", MFD_CLOEXEC);
    std::string path = strf("/proc/self/fd/%d", fd);
    auto written = write_file(path, file.parts()[index].blob);
    LibbpfBtf btf(written ? btf__parse_raw_split(path.c_str(), base) : nullptr);
    int reason = errno;
    ::close(fd);
    TRY(std::move(written));
    errno = reason;
    if (!btf)
        return fail_errno(file.place(index), "libbpf refuses this BTF");
    return btf;
}

void print_piece(void *, const char *format, va_list args)
{
    std::vprintf(format, args);
}

Result<void> print_c(const BtfInput &input, size_t index)
{
    // libbpf's messages are not needed, because its functions return errors.
    libbpf_set_print(nullptr);
    LibbpfBtf base;
    if (input.base_file) {
        auto parsed = TRY(libbpf_parse(*input.base_file, 0, nullptr));
        base = std::move(parsed);
    }
    auto btf = TRY(libbpf_parse(*input.file, index, base.get()));
    Where place = input.file->place(index);
    std::unique_ptr<btf_dump, FreeBtf> dump(
        btf_dump__new(btf.get(), print_piece, nullptr, nullptr));
    if (!dump)
        return fail_errno(place, "libbpf cannot print this BTF");
    for (uint32_t id = raw(input.btf->first_id()); id != raw(input.btf->end_id()); ++id)
        if (btf_dump__dump_type(dump.get(), id) != 0)
            return fail_errno(place, strf("libbpf cannot print type %u", id));
    return {};
}

struct FlagName {
    uint32_t bit;
    const char *name;
};

constexpr FlagName function_flags[] = {
    {fn_unexpected_reg, "unexpected_reg"},
    {fn_optimized_param, "optimized_param"},
    {fn_uncertain_loc, "uncertain_loc"},
    {fn_reordered, "reordered"},
    {fn_signature_changed, "changed"},
    {fn_has_address, "address"},
    {fn_has_ranges, "ranges"},
    {fn_inline, "inline"},
    {fn_external, "external"},
    {fn_clang, "clang"},
};
constexpr FlagName variable_flags[] = {
    {var_external, "external"}, {var_declared, "declared"}, {var_weak, "weak"}};
constexpr FlagName trailer_flags[] = {{trailer_final_addresses, "final_addresses"},
                                      {trailer_has_pool, "pool"},
                                      {trailer_by_compiler, "by-compiler"},
                                      {trailer_no_dwarf, "no-dwarf"}};

std::string names_of(std::span<const FlagName> table, uint32_t flags)
{
    std::string text;
    auto add = [&](const std::string &name) { text += (text.empty() ? "" : ",") + name; };
    for (const FlagName &flag : table) {
        if (flags & flag.bit)
            add(flag.name);
        flags &= ~flag.bit;
    }
    if (flags)
        add(strf("0x%x", flags));
    return text.empty() ? "none" : text;
}

/// The prototype of a function without a FUNC in the blob: "(7 'a', 3 'b') -> 0" has the type id
/// and name of each parameter, then the type id of the result.
std::string prototype(const Btf &btf, const LinkTrailer &trailer, const LinkFunction &function)
{
    const uint32_t *words = &trailer.proto_words[function.proto];
    std::string text = "(";
    for (uint32_t i = 0; i < words[1]; ++i)
        text +=
            strf("%s%u '%s'", i ? ", " : "", words[3 + 2 * i], btf.str(words[2 + 2 * i]).data());
    return text + strf(") -> %u", words[0]);
}

Result<void> print_trailer(const BtfInput &input, size_t index)
{
    const Btf &btf = *input.btf;
    const Contribution &part = input.file->parts()[index];
    if (part.trailer.empty()) {
        std::printf("no link trailer\n");
        return {};
    }
    auto decoded = TRY(decode_trailer(part.trailer, btf, input.file->trailer_place(index)));
    const LinkTrailer &t = decoded;
    std::printf("flags=%s features=%s object_id=%016" PRIx64 " source='%s'\n",
                names_of(trailer_flags, t.flags).c_str(), feature_names(t.features).c_str(),
                t.object_id, btf.str(t.source).data());
    std::printf("types=%u plain_end=%u pool_entries=%u functions=%zu variables=%zu ambiguous=%zu\n",
                btf.size(), raw(t.plain_end), t.pool_entries, t.functions.size(),
                t.variables.size(), t.ambiguous.size());
    auto print = [&](const char *what, const LinkFunction &f) {
        std::printf("%s '%s' %s pool=%u loose_hash=%016" PRIx64 " flags=%s\n", what,
                    btf.str(f.name).data(),
                    f.func != void_id ? strf("type_id=%u", raw(f.func)).c_str()
                                      : ("proto=" + prototype(btf, t, f)).c_str(),
                    f.pool_index, f.loose_hash, names_of(function_flags, f.flags).c_str());
    };
    for (const LinkFunction &f : t.functions)
        print("function", f);
    for (const LinkFunction &f : t.true_signatures)
        print(strf("function %u is truly", f.instance).c_str(), f);
    for (const LinkVariable &v : t.variables)
        std::printf("variable '%s' type_id=%u section='%s' pool=%u size=%u flags=%s\n",
                    btf.name(v.var).data(), raw(v.var), btf.str(v.section).data(), v.pool_index,
                    v.size, names_of(variable_flags, v.flags).c_str());
    for (StrOff name : t.ambiguous)
        std::printf("ambiguous '%s'\n", btf.str(name).data());
    for (size_t i = 0; i < t.addresses.size(); ++i)
        std::printf("address %zu 0x%" PRIx64 "\n", i + 1, t.addresses[i]);
    return {};
}

Result<void> run(const Options &options)
{
    if (options.count) {
        auto file = TRY(BtfFile::open(options.file));
        std::printf("%zu\n", file.parts().size());
        return {};
    }
    auto input = TRY(open_btf(options.file, options.base, options.index));
    if (options.check)
        return check_btf(input.file->parts()[options.index].blob, *input.btf,
                         input.file->place(options.index));
    if (options.trailer)
        return print_trailer(input, options.index);
    if (options.form == "c")
        return print_c(input, options.index);
    std::string text = btf_to_text(*input.btf);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return {};
}

} // namespace

int main(int argc, char **argv)
{
    constexpr int exit_bad = 2;
    Options options;
    CLI::App app{"Print the BTF of a file."};
    app.add_option("--base", options.base, "the base that FILE continues (split BTF)");
    app.add_option("--index", options.index, "which contribution of FILE, from 0");
    app.add_flag("--count", options.count, "print how many contributions FILE has");
    app.add_flag("--trailer", options.trailer, "print the link trailer");
    app.add_flag("--check", options.check,
                 "check the BTF; print only the first rule that it violates");
    std::vector<std::string> words;
    app.add_option("FILE", words,
                   "[raw|c] FILE: print as text (raw) or as C; FILE: raw BTF or an ELF file")
        ->required()
        ->expected(1, 2);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error) == 0 ? 0 : exit_bad;
    }
    options.file = words.back();
    options.form = words.size() == 2 ? words.front() : "raw";
    if (options.form != "raw" && options.form != "c") {
        std::fprintf(stderr, "btf-dump: '%s' is neither raw nor c\n", options.form.c_str());
        return exit_bad;
    }
    if (auto done = run(options); !done) {
        std::fflush(stdout);
        std::fprintf(stderr, "btf-dump: %s\n", done.error().str().c_str());
        return exit_bad;
    }
    return close_output("btf-dump") ? 0 : exit_bad;
}
