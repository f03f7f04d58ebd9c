// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Opens files, members of archives and response files.
#include "merge/input/inputs.h"

#include "common/io/file_io.h"
#include "common/io/parallel.h"
#include "common/object_btf/link_trailer.h"

#include <map>
#include <sys/stat.h>

namespace btflink::merge
{

namespace
{

constexpr int max_nesting = 16;   // of archives in archives
constexpr int most_openings = 16; // of a file, by thin archives, for one name on the command line

/// Nothing if `bytes` are neither ELF nor BTF.
Result<std::optional<Input>> as_input(std::shared_ptr<const void> storage, Bytes bytes,
                                      const Where &where)
{
    Input input{where, std::move(storage), bytes, std::nullopt};
    if (is_elf(bytes)) {
        input.elf = TRY(ElfFile::parse(bytes, where));
        return std::optional(std::move(input));
    }
    if (order_of_btf(bytes))
        return std::optional(std::move(input));
    return std::optional<Input>();
}

/// What one name on the command line stands for.
struct Unfolded {
    Inputs inputs = {};
    // How often thin archives have opened each file. Thin archives may name each other, and the
    // same file any number of times. Without a limit, a few small ones could cost exponential time.
    std::map<std::pair<dev_t, ino_t>, int> openings = {};
};

Result<void> count_opening(const std::string &path, Unfolded &out)
{
    struct stat st;
    if (::stat(path.c_str(), &st) == 0 && ++out.openings[{st.st_dev, st.st_ino}] > most_openings)
        return fail(Where{path},
                    strf("thin archives name this file more than %d times", most_openings));
    return {};
}

Result<void> unfold_archive(const std::shared_ptr<const void> &storage, Bytes bytes,
                            const Where &where, int depth, Unfolded &to);

Result<void> unfold_file(const std::shared_ptr<const void> &storage, Bytes bytes,
                         const Where &where, int depth, Unfolded &to)
{
    if (is_archive(bytes))
        return unfold_archive(storage, bytes, where, depth, to);
    Inputs &out = to.inputs;
    auto input = TRY(as_input(storage, bytes, where));
    if (input) {
        input->is_member = depth > 0;
        out.list.push_back(std::move(*input));
        return {};
    }
    if (depth > 0)
        out.ignored.push_back(where.str());
    else
        return fail(where.at(0),
                    bytes.empty() ? "file is empty" : "neither ELF nor an archive nor BTF");
    return {};
}

Result<void> unfold_archive(const std::shared_ptr<const void> &storage, Bytes bytes,
                            const Where &where, int depth, Unfolded &to)
{
    if (depth >= max_nesting)
        return fail(where, "archives are nested too deeply");
    auto members = TRY(archive_members(bytes, where));
    for (const ArchiveMember &member : members) {
        Where inner{where.file + "(" + member.name + ")"};
        if (member.path.empty()) {
            TRY(unfold_file(storage, member.bytes, inner, depth + 1, to));
            continue;
        }
        TRY(count_opening(member.path, to));
        auto file = TRY(read_parts(member.path));
        to.inputs.files.push_back(member.path);
        TRY(unfold_file(file.owner, file.bytes, Where{member.path}, depth + 1, to));
    }
    return {};
}

} // namespace

Result<ElfFile> ElfFile::parse(Bytes bytes, const Where &where)
{
    ElfFile file{TRY(read_elf(bytes, where)), {}};
    if (const uint32_t symtab = TRY(file.find_symtab()))
        file.symbols = TRY(SymbolTable::open(file, symtab));
    return file;
}

Result<Input> open_input(const std::string &path)
{
    auto file = TRY(read_parts(path));
    auto input = TRY(as_input(file.owner, file.bytes, Where{path}));
    if (!input)
        return fail(Where{path, "", 0}, "neither ELF nor BTF");
    return std::move(*input);
}

Result<Inputs> open_inputs(const std::vector<std::string> &names, unsigned threads)
{
    auto unfolded = TRY(unfold_response_files(names));
    const std::vector<std::string> &paths = unfolded.words;
    std::vector<Inputs> parts(paths.size());
    auto unfold = [&](size_t i) -> Result<void> {
        auto file = TRY(read_parts(paths[i]));
        Unfolded to;
        to.inputs.files.push_back(paths[i]);
        TRY(unfold_file(file.owner, file.bytes, Where{paths[i]}, 0, to));
        parts[i] = std::move(to.inputs);
        return {};
    };
    TRY(parallel_try(paths.size(), threads, unfold));
    Inputs all;
    all.lists = std::move(unfolded.files);
    for (Inputs &part : parts) {
        std::move(part.list.begin(), part.list.end(), std::back_inserter(all.list));
        std::move(part.files.begin(), part.files.end(), std::back_inserter(all.files));
        std::move(part.ignored.begin(), part.ignored.end(), std::back_inserter(all.ignored));
    }
    return all;
}

} // namespace btflink::merge
