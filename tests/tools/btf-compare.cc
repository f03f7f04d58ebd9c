// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares BTF by meaning: for each kind, how often each signature (a hash of a type's meaning)
// occurs. Ids, order of types and layout of strings do not matter. --digest prints, for each kind,
// the numbers of types and signatures, and a hash of the set of signatures. A digest does not show
// which signature occurs more than once. --against compares BTF with a digest. Exit status: 0 equal
// or digest printed, 1 different, 2 bad input or wrong usage, or the output cannot be written.
#include "common/io/file_io.h"
#include "tests/tools/btf_file.h"
#include "tests/tools/signature.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <unordered_map>
#include <unordered_set>

using namespace btflink;
using namespace btflink::tools;

namespace
{

constexpr int exit_equal = 0, exit_different = 1, exit_bad = 2;

/// Begins the first line of a digest. Change the number if signatures are computed differently.
constexpr std::string_view digest_title = "# btf-compare digest 1";
/// Kinds with a second row, such as "FUNC/deep", which compares types with everything that they
/// reach. Digests have the first of these rows only.
constexpr btf::Kind deep_kinds[] = {btf::Kind::FUNC, btf::Kind::VAR, btf::Kind::STRUCT,
                                    btf::Kind::UNION, btf::Kind::TYPEDEF};

struct Options {
    std::string a, b, base_a, base_b, against;
    std::vector<std::string> ignore, kinds;
    size_t show = 3;
    Arrays arrays = Arrays::as_written;
    bool digest = false, deep = false;

    /// The number of deep_kinds that are compared.
    size_t deep_rows() const { return deep ? std::size(deep_kinds) : digest || !against.empty(); }
    /// True if this row affects the exit status.
    bool counts(const std::string &row) const
    {
        auto has = [&](const std::vector<std::string> &list) {
            return std::find(list.begin(), list.end(), row) != list.end();
        };
        return !has(ignore) && (kinds.empty() || has(kinds));
    }
};

struct HashSignature {
    size_t operator()(const Signature &s) const { return s[0]; }
};
using SignatureSet = std::unordered_set<Signature, HashSignature>;
using SignatureCounts = std::unordered_map<Signature, size_t, HashSignature>;

/// The types of one kind in one input. Rows such as "FUNC/deep" have signatures of Depth::all.
struct Row {
    std::vector<TypeId> ids;           // in the order of the input
    std::vector<Signature> signatures; // one per id
    SignatureCounts counts;            // how often each signature occurs

    size_t count(const Signature &signature) const
    {
        auto it = counts.find(signature);
        return it == counts.end() ? 0 : it->second;
    }
    Signature digest() const
    {
        std::vector<Signature> sorted;
        for (const auto &item : counts)
            sorted.push_back(item.first);
        std::sort(sorted.begin(), sorted.end());
        return tools::digest(sorted);
    }
};

std::vector<std::string> row_names(size_t deep_rows)
{
    std::vector<std::string> names;
    for (uint32_t kind = 1; kind < btf::kind_count; ++kind)
        names.emplace_back(btf::kinds[kind].name);
    for (size_t i = 0; i < deep_rows; ++i)
        names.push_back(btf::kind_info(deep_kinds[i]).name + std::string("/deep"));
    return names;
}

/// Rows in the order of row_names().
std::vector<Row> make_rows(const Btf &btf, size_t deep_rows, Arrays arrays)
{
    constexpr size_t kinds = btf::kind_count - 1;
    std::vector<Row> rows(kinds + deep_rows);
    auto add = [&](Row &row, TypeId id, const SignatureTable &all) {
        row.ids.push_back(id);
        row.signatures.push_back(all.of(id));
        ++row.counts[all.of(id)];
    };
    SignatureTable names(btf, Depth::names, arrays);
    for (TypeId id : btf.ids())
        add(rows[static_cast<size_t>(btf.kind(id)) - 1], id, names);
    if (!deep_rows)
        return rows;
    SignatureTable all(btf, Depth::all, arrays);
    for (size_t i = 0; i < deep_rows; ++i)
        for (TypeId id : rows[static_cast<size_t>(deep_kinds[i]) - 1].ids)
            add(rows[kinds + i], id, all);
    return rows;
}

/// True if it matters how often a signature occurs in the row of this index. With flat arrays, it
/// matters only for kinds that do not refer to types. int[2][3] and int[3][2] are different chains
/// of ARRAYs, but the same flat ARRAY, int[6]. So one input may have two pointers to these chains
/// where the other has one pointer to int[6]; all three have the same signature.
bool is_counted(size_t row, Arrays arrays)
{
    if (arrays == Arrays::as_written)
        return true;
    const btf::Family family = btf::kinds[row + 1 < btf::kind_count ? row + 1 : 0].family;
    return family == btf::Family::number || family == btf::Family::enumeration ||
           family == btf::Family::forward;
}

/// Counts the signatures that only `mine` has or, with `repeated`, those that both have and that
/// occur more often in `mine`. Adds lines to `text` for the first `show` of them. Each line
/// describes a type with the signature.
size_t list(const Btf &btf, const Row &mine, const Row &other, bool repeated, size_t show,
            std::string &text, const char *tag)
{
    SignatureSet seen;
    for (size_t i = 0; i < mine.ids.size(); ++i) {
        const Signature &signature = mine.signatures[i];
        const size_t there = other.count(signature);
        const bool listed = repeated ? there && there < mine.count(signature) : !there;
        if (!listed || !seen.insert(signature).second)
            continue;
        if (seen.size() <= show)
            text += strf("    %s %s: %.400s\n", repeated ? "more" : "only", tag,
                         describe(btf, mine.ids[i]).c_str());
    }
    return seen.size();
}

int compare(const Options &options, const Btf &a, const Btf &b)
{
    auto rows_a = make_rows(a, options.deep_rows(), options.arrays),
         rows_b = make_rows(b, options.deep_rows(), options.arrays);
    auto names = row_names(options.deep_rows());
    size_t signatures = 0, counts = 0;
    std::printf("%-12s%9s%9s%10s%10s%8s%8s\n", "kind", "A", "B", "A types", "B types", "only A",
                "only B");
    for (size_t i = 0; i < names.size(); ++i) {
        const Row &ra = rows_a[i], &rb = rows_b[i];
        if (ra.ids.empty() && rb.ids.empty())
            continue;
        std::string text;
        size_t only_a = list(a, ra, rb, false, options.show, text, "A");
        size_t only_b = list(b, rb, ra, false, options.show, text, "B");
        size_t more = 0;
        if (is_counted(i, options.arrays))
            more = list(a, ra, rb, true, options.show, text, "A") +
                   list(b, rb, ra, true, options.show, text, "B");
        bool counted = options.counts(names[i]);
        std::printf("%-12s%9zu%9zu%10zu%10zu%8zu%8zu%s\n%s", names[i].c_str(), ra.ids.size(),
                    rb.ids.size(), ra.counts.size(), rb.counts.size(), only_a, only_b,
                    counted ? "" : "  (ignored)", text.c_str());
        if (!counted)
            continue;
        signatures += only_a + only_b;
        counts += more || (is_counted(i, options.arrays) && ra.ids.size() != rb.ids.size());
    }
    std::printf("total types A %u B %u; strings A %u B %u; differing signatures %zu; "
                "kinds with differing counts %zu\n",
                a.size(), b.size(), a.str_size(), b.str_size(), signatures, counts);
    return signatures || counts ? exit_different : exit_equal;
}

/// A line of a digest file, without the line end.
std::string digest_line(const std::string &name, const Row &row)
{
    return strf("%s %zu %zu %s", name.c_str(), row.ids.size(), row.counts.size(),
                hex(row.digest()).c_str());
}

int print_digest(const Btf &btf)
{
    auto rows = make_rows(btf, 1, Arrays::as_written);
    auto names = row_names(1);
    std::printf("%s: kind, types, distinct signatures, digest of these\n", digest_title.data());
    for (size_t i = 0; i < names.size(); ++i)
        if (!rows[i].ids.empty())
            std::printf("%s\n", digest_line(names[i], rows[i]).c_str());
    return exit_equal;
}

/// Compares `btf` with the digest in file `options.against`, which --digest printed. Prints the
/// rows that differ, then "equal" or "different". Returns the exit status.
Result<int> compare_against(const Options &options, const Btf &btf)
{
    auto bytes = TRY(read_file(options.against));
    std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    if (!text.starts_with(digest_title) || text.substr(digest_title.size(), 1) != ":")
        return fail(Where{options.against}, "is not a digest of this version of btf-compare");
    auto names = row_names(1);
    std::vector<std::string> expected(names.size());
    while (!text.empty()) {
        std::string line(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.empty() || line[0] == '#')
            continue;
        auto row = std::find(names.begin(), names.end(), line.substr(0, line.find(' ')));
        if (row == names.end())
            return fail(Where{options.against}, "unknown kind in line '" + line + "'");
        expected[static_cast<size_t>(row - names.begin())] = line;
    }
    auto rows = make_rows(btf, options.counts(names.back()), Arrays::as_written);
    int status = exit_equal;
    for (size_t i = 0; i < names.size(); ++i) {
        if (!options.counts(names[i]))
            continue;
        std::string found = rows[i].ids.empty() ? "" : digest_line(names[i], rows[i]);
        if (found == expected[i])
            continue;
        status = exit_different;
        std::printf("expected: %s\nfound:    %s\n",
                    expected[i].empty() ? ("no " + names[i]).c_str() : expected[i].c_str(),
                    found.empty() ? ("no " + names[i]).c_str() : found.c_str());
    }
    std::printf("%s\n", status == exit_equal ? "equal" : "different");
    return status;
}

/// What is wrong with --ignore and --kinds, or "".
std::string useless_kinds(const Options &options)
{
    auto names = row_names(options.deep_rows());
    for (const auto *list : {&options.ignore, &options.kinds})
        for (const std::string &name : *list)
            if (std::find(names.begin(), names.end(), name) == names.end())
                return name + " is compared with --deep only";
    const bool any = std::any_of(names.begin(), names.end(),
                                 [&](const std::string &name) { return options.counts(name); });
    return any ? "" : "--ignore and --kinds leave no kind to compare";
}

Result<int> run(const Options &options)
{
    auto a = TRY(open_btf(options.a, options.base_a));
    if (options.digest)
        return print_digest(*a.btf);
    if (!options.against.empty())
        return compare_against(options, *a.btf);
    auto b = TRY(open_btf(options.b, options.base_b));
    return compare(options, *a.btf, *b.btf);
}

} // namespace

int main(int argc, char **argv)
{
    Options options;
    CLI::App app{"Compare BTF by meaning; exit status 0: equal, 1: different, 2: bad input."};
    auto names = row_names(std::size(deep_kinds));
    app.add_option("A", options.a, "raw BTF, or an ELF file with a .BTF section")->required();
    auto *b = app.add_option("B", options.b, "the same");
    app.add_option("--base-a", options.base_a, "the base that A continues (split BTF)");
    auto *base_b = app.add_option("--base-b", options.base_b, "the base that B continues");
    auto *show = app.add_option("--show", options.show,
                                "differences to print per kind, of each sort: only A, only B, "
                                "more A, more B");
    auto *ignore = app.add_option("--ignore", options.ignore, "kinds that do not count")
                       ->delimiter(',')
                       ->check(CLI::IsMember(names));
    auto *kinds = app.add_option("--kinds", options.kinds, "the only kinds that count")
                      ->delimiter(',')
                      ->check(CLI::IsMember(names));
    auto *deep = app.add_flag(
        "--deep", options.deep,
        "compare functions, variables, structs, unions and typedefs also with all types "
        "that they reach");
    auto *flat = app.add_flag_callback(
        "--flat-arrays", [&] { options.arrays = Arrays::flat; },
        "an array of arrays counts as one, with the product of the dimensions");
    auto *digest = app.add_flag("--digest", options.digest, "print a digest of A");
    auto *against = app.add_option("--against", options.against, "compare A with such a digest");
    // Options that have no effect are wrong usage: the caller may expect another result.
    for (auto *option : {b, base_b, show, deep, flat}) {
        digest->excludes(option);
        against->excludes(option);
    }
    digest->excludes(against)->excludes(ignore)->excludes(kinds);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error) == 0 ? exit_equal : exit_bad;
    }
    if (options.b.empty() && !options.digest && options.against.empty()) {
        std::fprintf(stderr, "btf-compare: nothing to compare A with; see --help\n");
        return exit_bad;
    }
    if (const std::string why = useless_kinds(options); !why.empty()) {
        std::fprintf(stderr, "btf-compare: %s\n", why.c_str());
        return exit_bad;
    }
    auto status = run(options);
    if (!status) {
        std::fprintf(stderr, "btf-compare: %s\n", status.error().str().c_str());
        return exit_bad;
    }
    return close_output("btf-compare") ? *status : exit_bad;
}
