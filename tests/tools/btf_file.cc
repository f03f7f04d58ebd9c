// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads BTF from raw files and from ELF files.
#include "tests/tools/btf_file.h"

#include "common/io/file_io.h"

#include <cstdio>
#include <gelf.h>

namespace btflink::tools
{

namespace
{

struct CloseElf {
    void operator()(Elf *elf) const { elf_end(elf); }
};

/// The contents of section `.BTF` of the ELF file `bytes`; they point into `bytes`.
Result<Bytes> btf_section(std::vector<std::byte> &bytes, const Where &where)
{
    auto bad = [&](const char *what) {
        return fail(where, std::string(what) + ": " + elf_errmsg(-1));
    };
    elf_version(EV_CURRENT);
    std::unique_ptr<Elf, CloseElf> elf(
        elf_memory(reinterpret_cast<char *>(bytes.data()), bytes.size()));
    size_t names;
    if (!elf || elf_getshdrstrndx(elf.get(), &names) != 0)
        return bad("not a readable ELF file");
    std::optional<Bytes> found;
    for (Elf_Scn *scn = nullptr; (scn = elf_nextscn(elf.get(), scn));) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header))
            return bad("section header cannot be read");
        const char *name = elf_strptr(elf.get(), names, header.sh_name);
        if (!name || std::string_view(name) != ".BTF" || header.sh_type == SHT_NOBITS)
            continue;
        if (header.sh_offset > bytes.size() || header.sh_size > bytes.size() - header.sh_offset)
            return fail(where, "section .BTF lies outside the file");
        if (found)
            return fail(where, "has several sections .BTF");
        found = Bytes(bytes).subspan(header.sh_offset, header.sh_size);
    }
    if (!found)
        return fail(where, "has no section .BTF");
    return *found;
}

} // namespace

Result<BtfFile> BtfFile::open(const std::string &path)
{
    BtfFile file;
    file.where_ = Where{path};
    auto bytes = TRY(read_file(path));
    file.file_ = std::move(bytes);
    file.section_ = file.file_;
    if (file.file_.size() >= 4 && std::memcmp(file.file_.data(), ELFMAG, SELFMAG) == 0) {
        auto section = TRY(btf_section(file.file_, file.where_));
        file.section_ = section;
        file.where_ = file.where_.in(".BTF");
    }
    auto parts = TRY(split_contributions(file.section_, file.where_));
    file.parts_ = std::move(parts);
    if (file.parts_.empty())
        return fail(file.where_, "holds no BTF");
    return file;
}

Result<Btf> BtfFile::parse(size_t index, std::shared_ptr<const Btf> base) const
{
    return Btf::parse(parts_[index].blob, place(index), std::move(base));
}

Result<Btf> BtfFile::parse_only(std::shared_ptr<const Btf> base) const
{
    if (parts_.size() > 1)
        return fail(where_, strf("has %zu contributions; merge them first", parts_.size()));
    return parse(0, std::move(base));
}

Result<BtfInput> open_btf(const std::string &path, const std::string &base,
                          std::optional<size_t> index)
{
    BtfInput input;
    auto load = [](const std::string &name, std::optional<size_t> part,
                   const std::shared_ptr<const Btf> &over, std::shared_ptr<BtfFile> &file,
                   std::shared_ptr<const Btf> &btf) -> Result<void> {
        auto opened = TRY(BtfFile::open(name));
        file = std::make_shared<BtfFile>(std::move(opened));
        if (part && *part >= file->parts().size())
            return fail(Where{name}, strf("has %zu contributions, there is no index %zu",
                                          file->parts().size(), *part));
        auto parsed = TRY(part ? file->parse(*part, over) : file->parse_only(over));
        btf = std::make_shared<const Btf>(std::move(parsed));
        return {};
    };
    if (!base.empty())
        TRY(load(base, std::nullopt, nullptr, input.base_file, input.base));
    TRY(load(path, index, input.base, input.file, input.btf));
    return input;
}

bool close_output(const char *program)
{
    // fflush() does not know of earlier errors, such as those of large writes.
    const bool good = std::fflush(stdout) == 0 && !std::ferror(stdout);
    if (!good)
        std::fprintf(stderr, "%s: the output cannot be written\n", program);
    return good;
}

} // namespace btflink::tools
