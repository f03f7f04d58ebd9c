// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes objects from BTF as text and from assembler text, and merges them.
#include "tests/merge/object_maker.h"

#include "common/io/file_io.h"
#include "common/object_btf/address_pool.h"
#include "tests/tools/btf_text.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <unistd.h>

namespace btflink::merge::test
{

TempDir::TempDir()
{
    // In memory if possible, unless TEST_TMPDIR names a folder: writing these small files to a disk
    // takes longer than merging them.
    bool memory = !std::getenv("TEST_TMPDIR") && ::access("/dev/shm", W_OK) == 0;
    path_ = (memory ? "/dev/shm/" : testing::TempDir()) + "btf-merge-XXXXXX";
    if (!::mkdtemp(path_.data()))
        std::abort();
}

TempDir::~TempDir()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

void run(const std::string &command)
{
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

bool can_assemble()
{
#ifdef __x86_64__
    return true;
#else
    return false;
#endif
}

std::string link_file(const TempDir &dir, const std::string &name, const std::string &options,
                      const std::vector<std::string> &objects)
{
    std::string command = "ld " + options + " -o " + (dir / name);
    for (const std::string &object : objects)
        command += " " + object;
    run(command);
    return dir / name;
}

void ObjectTest::SetUp()
{
    if (!can_assemble())
        GTEST_SKIP() << "the fixtures are x86-64 assembly";
}

namespace
{

struct Relocation {
    uint64_t offset;
    std::string symbol;
};

/// Assembler text of a section with the bytes of `file`. `head`: what follows ".section" (name,
/// flags, type); `type`: that of all `relocs`.
std::string section(const std::string &head, const std::string &file, const std::string &type,
                    const std::vector<Relocation> &relocs)
{
    static int number = 0;
    std::string label = ".Lbytes" + std::to_string(number++);
    std::string text =
        ".section " + head + "\n.balign 8\n" + label + ":\n.incbin \"" + file + "\"\n";
    for (const Relocation &r : relocs)
        text += ".reloc " + label + "+" + std::to_string(r.offset) + ", " + type + ", " + r.symbol +
                "\n";
    return text;
}

void write(const std::string &path, Bytes bytes)
{
    auto written = write_file(path, bytes);
    ASSERT_TRUE(written) << written.error().str();
}

/// Offset of `text` among the blob's strings. If it is not one of them, the test fails.
StrOff string_offset(const Btf &btf, const std::string &text)
{
    std::string wanted = std::string(1, '\0') + text + std::string(1, '\0');
    size_t at = btf.strings().find(wanted);
    EXPECT_NE(at, std::string_view::npos) << text << " is not a string of the blob";
    return StrOff{static_cast<uint32_t>(at + 1)};
}

} // namespace

std::string make_raw(const TempDir &dir, const std::string &name, std::string_view text)
{
    auto blob = text_to_btf(text, Where{name});
    EXPECT_TRUE(blob) << blob.error().str();
    std::string path = dir / (name + ".btf");
    write(path, *blob);
    return path;
}

std::string make_object(const TempDir &dir, const std::string &name, const ObjectSpec &spec)
{
    auto blob = text_to_btf(spec.btf, Where{name});
    EXPECT_TRUE(blob) << blob.error().str();
    auto btf = Btf::parse(*blob, Where{name});
    EXPECT_TRUE(btf) << btf.error().str();

    // About the entry of each VAR in a DATASEC, by the id of the VAR.
    std::map<uint32_t, uint64_t> entry_of; // position in the blob of the entry's field `offset`
    std::map<uint32_t, uint32_t> size_of;
    std::map<uint32_t, StrOff> section_of; // name of the DATASEC
    for (TypeId id : btf->ids()) {
        if (btf->kind(id) != btf::Kind::DATASEC)
            continue;
        const btf_type &t = btf->type(id);
        for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
            uint32_t var = btf::tail_of(t)[i * 3];
            entry_of[var] = btf->types_offset() + (btf->word_index(id) + 3 + i * 3 + 1) * 4;
            size_of[var] = btf::tail_of(t)[i * 3 + 2];
            section_of[var] = StrOff{t.name_off};
        }
    }

    std::vector<Relocation> btf_relocs, pool_relocs;
    LinkTrailer trailer;
    auto pool_index = [&](const std::string &symbol) -> uint32_t {
        if (symbol.empty() || !spec.pool)
            return 0;
        uint32_t index = ++trailer.pool_entries;
        pool_relocs.push_back({pool_entry_offset(index, spec.address_size), symbol});
        return index;
    };
    trailer.flags = spec.pool ? uint32_t{trailer_has_pool} : 0u;
    trailer.features = spec.features;
    trailer.emitter = spec.emitter;
    trailer.plain_end = TypeId{spec.plain_end};
    trailer.hashes = stub_hashes(*btf);
    LooseHasher hasher(*btf);
    for (const VariableSpec &v : spec.variables) {
        const uint32_t size = v.size ? v.size : size_of[v.var];
        trailer.variables.push_back(
            {TypeId{v.var}, section_of[v.var], pool_index(v.symbol), size, v.flags});
        if (entry_of.count(v.var))
            btf_relocs.push_back({entry_of[v.var], v.symbol});
    }
    auto set_func = [&](LinkFunction &out, uint32_t func) {
        out.func = TypeId{func};
        std::vector<TypeId> params;
        TypeId result{};
        if (func) {
            const btf_type &proto = btf->type(TypeId{btf->type(out.func).type});
            result = TypeId{proto.type};
            for (uint32_t i = 0; i < btf::vlen_of(proto); ++i)
                params.push_back(TypeId{btf::tail_of(proto)[i * 2 + 1]});
        } else {
            out.proto = static_cast<uint32_t>(trailer.proto_words.size());
            trailer.proto_words.insert(trailer.proto_words.end(), {0, 0});
        }
        out.loose_hash = hasher.prototype(result, params);
    };
    for (const FunctionSpec &f : spec.functions) {
        LinkFunction out;
        out.name = string_offset(*btf, f.name);
        out.flags = f.flags | (f.symbol.empty() ? 0u : uint32_t{fn_has_address});
        out.pool_index = pool_index(f.symbol);
        set_func(out, f.func);
        trailer.functions.push_back(out);
        if (!f.true_func)
            continue;
        out.instance = static_cast<uint32_t>(trailer.functions.size() - 1);
        set_func(out, f.true_func);
        trailer.true_signatures.push_back(out);
    }

    bool wide = spec.address_size == 8;
    std::vector<std::byte> contents = *blob;
    std::string assembly = spec.assembly;
    if (spec.plain_end) {
        std::vector<std::byte> end = encode_trailer(trailer, *blob, host_order);
        contents.resize(align_up(contents.size(), 8));
        contents.insert(contents.end(), end.begin(), end.end());
    }
    write(dir / (name + ".bin"), contents);
    assembly += section(".BTF," + spec.section_flags, dir / (name + ".bin"),
                        wide ? "R_X86_64_32S" : "R_386_32", btf_relocs);
    if (spec.plain_end && spec.pool) {
        write(dir / (name + ".pool"),
              encode_pool(trailer.object_id, trailer.pool_entries, spec.address_size, host_order));
        assembly += section(".debug,\"\",@progbits", dir / (name + ".pool"),
                            wide ? "R_X86_64_64" : "R_386_32", pool_relocs);
    }
    assembly += ".section .note.GNU-stack,\"\",@progbits\n";
    write(dir / (name + ".s"), as_bytes(assembly));
    std::string path = dir / (name + ".o");
    run(std::string("as ") + (wide ? "--64" : "--32") + " -o " + path + " " +
        (dir / (name + ".s")));
    return path;
}

std::vector<std::byte> merged_bytes(const TempDir &dir, Options options)
{
    auto text = merged(dir, options);
    auto bytes = text ? read_file(dir / "out.btf") : fail(text.error());
    if (!bytes)
        ADD_FAILURE() << bytes.error().str();
    return bytes ? *bytes : std::vector<std::byte>();
}

Result<std::string> merged(const TempDir &dir, Options options)
{
    options.output = dir / "out.btf";
    Report report;
    TRY(merge(options, report));
    if (!report.why_nothing.empty()) {
        EXPECT_FALSE(std::ifstream(options.output));
        return fail({}, report.warnings.back());
    }
    const std::vector<std::byte> bytes = TRY(read_file(options.output));
    std::shared_ptr<const Btf> base;
    std::vector<std::byte> base_bytes;
    if (!options.base.empty()) {
        base_bytes = TRY(read_file(options.base));
        base = std::make_shared<const Btf>(TRY(Btf::parse(base_bytes, Where{options.base})));
    }
    const Btf btf = TRY(Btf::parse(bytes, Where{options.output}, base));
    return btf_to_text(btf);
}

Result<std::string> merged(const TempDir &dir, std::vector<std::string> inputs, std::string image)
{
    Options options;
    options.inputs = std::move(inputs);
    options.image = std::move(image);
    options.features.add(Feature::global_var);
    return merged(dir, options);
}

std::string text_of(const Result<std::string> &result)
{
    if (!result)
        ADD_FAILURE() << result.error().str();
    return result ? *result : std::string();
}

testing::AssertionResult fails(const Result<std::string> &result, std::string_view reason)
{
    if (result)
        return testing::AssertionFailure() << "made\n" << *result;
    if (!has(result.error().str(), reason))
        return testing::AssertionFailure() << "said " << result.error().str();
    return testing::AssertionSuccess();
}

bool has(std::string_view text, std::string_view part)
{
    return text.find(part) != text.npos;
}

int64_t stat(const Report &report, std::string_view name)
{
    std::string line = "\n" + std::string(name) + ": ";
    std::string text = "\n" + report.stats;
    size_t at = text.find(line);
    return at == text.npos ? -1 : std::atoll(text.c_str() + at + line.size());
}

} // namespace btflink::merge::test

namespace btflink
{

void PrintTo(const Result<std::string> &result, std::ostream *out)
{
    *out << (result ? *result : "an error: " + result.error().str());
}

} // namespace btflink
