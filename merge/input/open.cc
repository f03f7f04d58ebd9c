// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Opens files, members of archives and response files.
#include "merge/input/inputs.h"

#include "common/io/file_io.h"
#include "common/io/parallel.h"
#include "common/object_btf/link_trailer.h"

namespace btflink::merge
{

namespace
{

constexpr int max_nesting = 16; // of archives in archives

bool is_btf(Bytes bytes)
{
    if (bytes.size() < 2)
        return false;
    auto magic = load<uint16_t>(bytes.data(), ByteOrder::little);
    return magic == BTF_MAGIC || byte_swap(magic) == BTF_MAGIC;
}

/// Nothing if `bytes` are neither ELF nor BTF.
Result<std::optional<Input>> as_input(std::shared_ptr<const void> storage, Bytes bytes,
                                      const Where &where)
{
    Input input{where, std::move(storage), bytes, std::nullopt};
    if (is_elf(bytes)) {
        auto elf = TRY(ElfFile::parse(bytes, where));
        input.elf = std::move(elf);
        return std::optional(std::move(input));
    }
    if (is_btf(bytes))
        return std::optional(std::move(input));
    return std::optional<Input>();
}

Result<void> unfold_archive(const std::shared_ptr<const void> &storage, Bytes bytes,
                            const Where &where, int depth, Inputs &out);

Result<void> unfold_file(const std::shared_ptr<const void> &storage, Bytes bytes,
                         const Where &where, int depth, Inputs &out)
{
    if (is_archive(bytes))
        return unfold_archive(storage, bytes, where, depth, out);
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
                            const Where &where, int depth, Inputs &out)
{
    if (depth >= max_nesting)
        return fail(where, "archives are nested too deeply");
    auto members = TRY(archive_members(bytes, where));
    for (const ArchiveMember &member : members) {
        Where inner{where.file + "(" + member.name + ")"};
        if (member.path.empty()) {
            TRY(unfold_file(storage, member.bytes, inner, depth + 1, out));
            continue;
        }
        auto file = TRY(read_parts(member.path));
        out.files.push_back(member.path);
        TRY(unfold_file(file.owner, file.bytes, Where{member.path}, depth + 1, out));
    }
    return {};
}

} // namespace

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
    const std::vector<std::string> &paths = unfolded;
    std::vector<Inputs> parts(paths.size());
    auto unfold = [&](size_t i) -> Result<void> {
        auto file = TRY(read_parts(paths[i]));
        parts[i].files.push_back(paths[i]);
        return unfold_file(file.owner, file.bytes, Where{paths[i]}, 0, parts[i]);
    };
    TRY(parallel_try(paths.size(), threads, unfold));
    Inputs all;
    for (Inputs &part : parts) {
        std::move(part.list.begin(), part.list.end(), std::back_inserter(all.list));
        std::move(part.files.begin(), part.files.end(), std::back_inserter(all.files));
        std::move(part.ignored.begin(), part.ignored.end(), std::back_inserter(all.ignored));
    }
    return all;
}

} // namespace btflink::merge
