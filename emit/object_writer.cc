// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Problem: add sections to an object without disturbing what is there, cheaply (every object of a
// kernel build passes here), so that a crash in between leaves a valid object, and so that a second
// run finds its own work and arrives at the same bytes.
//
// Method: new sections, a new table of section names and new section headers go behind the file's
// last byte; the ELF header then points to them. The old names and headers remain as dead bytes.
//
//     | ELF header | ... as it was ... | .BTF | .rela.BTF | .debug_addr | .rela.debug_addr | names,
//       section headers |
//
// New sections stand last in the section headers, so that no index changes. The header of the old
// names is pointed at the new ones, unless symbols have their names there too (LLVM); then the new
// names are one more section, the last.
//
// What there is of object BTF before is dropped first. There are three ways:
//   append   nothing to drop: the new part goes behind the file
//   tail     what is to be dropped is exactly a part that was appended here earlier, and nothing
//            refers to it: the file is cut where that part begins
//   rewrite  anything else (a linker or objcopy moved our sections; DWARF is dropped): see
//            elf_rewrite.h
//
// Invariant: the new part is a function of the sections before it and of what is added. Tail
// restores the file before the appended part but for its headers, which are written anew; so twice
// is once. Rewrite drops separate section names always, so that it does not matter whether the
// object had been appended to before.
//
// Cost: the new part; what stays of the file is not copied unless it is laid out anew.
#include "emit/object_writer.h"

#include "common/address_pool.h"
#include "common/fd.h"
#include "common/file_io.h"
#include "common/link_trailer.h"
#include "emit/elf_rewrite.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>

namespace btflink::emit
{

namespace
{

constexpr size_t object_id_at = 24; // in the link trailer
constexpr uint32_t section_alignment = 8;

/// `lto`: the object carries code to be compiled at the link, whose debug information
/// (.gnu.debuglto_*) that code refers to.
bool is_dwarf(const ElfSection &s, bool lto)
{
    if (s.head.sh_flags & SHF_ALLOC) // a program's own section that happens to have such a name
        return false;
    return s.name.starts_with(".debug_") || s.name.starts_with(".zdebug_") ||
           (s.name.starts_with(".gnu.debuglto_") && !lto) || s.name == ".gdb_index";
}

/// The object ids in an old `.BTF`. None if another tool made it: then no pool belongs to it.
std::set<uint64_t> object_ids(const ElfImage &image, const ElfSection &btf, const Where &where)
{
    std::set<uint64_t> ids;
    if (auto parts = split_contributions(btf.data, where))
        for (const Contribution &part : *parts)
            if (part.trailer.size() >= object_id_at + 8)
                ids.insert(load<uint64_t>(part.trailer.data() + object_id_at, image.order));
    return ids;
}

/// The sections of earlier object BTF, with their relocations.
Result<std::vector<bool>> find_old(const ElfImage &image)
{
    std::vector<bool> old(image.sections.size());
    std::set<uint64_t> ids;
    bool any = false;
    for (uint32_t i = 1; i < old.size(); ++i) {
        const ElfSection &s = image.sections[i];
        if (s.name != ".BTF")
            continue;
        if (image.is_linked() && (s.head.sh_flags & SHF_ALLOC))
            return fail(image.place(i), "is loaded at run time and cannot be replaced");
        old[i] = any = true;
        ids.merge(object_ids(image, s, image.place(i)));
    }
    if (!any)
        return old;
    for (uint32_t i = 1; i < old.size(); ++i) {
        const ElfSection &s = image.sections[i];
        if (s.name != ".debug_addr" || (s.head.sh_flags & (SHF_ALLOC | SHF_COMPRESSED)))
            continue;
        // Where a linker joined pools with DWARF's own addresses the section must stay.
        std::vector<PoolPart> parts = find_pools(s.data, image.order);
        old[i] = !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](const PoolPart &p) {
            return ids.contains(p.first_id);
        });
    }
    RETURN_IF_ERROR(add_dependents(image, old));
    return old;
}

/// Where in the file an earlier appended part begins, if `old` is just that and can be cut off.
/// `old` then also has the section of names, if it is of that part.
Result<std::optional<uint64_t>> find_tail(const ElfImage &image, std::vector<bool> &old)
{
    const std::optional<uint64_t> none;
    auto count = static_cast<uint32_t>(old.size());
    uint32_t first = 0;
    while (first < count && !old[first])
        ++first;
    if (first == count || image.sections[first].name != ".BTF")
        return none;
    const uint64_t start = image.sections[first].head.sh_offset;
    if (start % section_alignment || start < image.header_size() || start < image.segments_end ||
        image.head.e_shoff < start ||
        image.head.e_shoff + count * image.section_header_size() != image.file.size())
        return none;

    std::vector<bool> tail = old;
    bool own_names = image.names && !image.names_are_shared();
    if (own_names && image.names + 1 == count)
        tail[image.names] = true;
    for (uint32_t i = 1; i < count; ++i) {
        const Elf64_Shdr &head = image.sections[i].head;
        if (tail[i] != (i >= first) || (tail[i] && head.sh_offset < start))
            return none;
        if (tail[i] || head.sh_type == SHT_NULL || (own_names && i == image.names))
            continue;
        if (head.sh_offset + image.sections[i].data.size() > start)
            return none;
    }
    auto referenced = is_referenced(image, tail);
    if (!referenced)
        return tl::unexpected(referenced.error());
    if (*referenced)
        return none;
    old = std::move(tail);
    return start;
}

/// What is left of the file before the new part, with `image` describing just that.
struct Body {
    uint64_t kept = 0;                // bytes of the file, or, if that does not do:
    std::vector<std::byte> rebuilt;   // all of it, laid out anew
    std::vector<uint32_t> symbol_map; // new indexes of symbols; empty: as they were

    uint64_t size() const { return rebuilt.empty() ? kept : rebuilt.size(); }
};

Result<Body> make_body(ElfImage &image, bool strip_dwarf)
{
    auto keep = [&](size_t size) { return Body{size, {}, {}}; };

    auto old = find_old(image);
    if (!old)
        return tl::unexpected(old.error());
    std::vector<bool> drop = *old;
    bool lto = std::any_of(image.sections.begin(), image.sections.end(),
                           [](const ElfSection &s) { return s.name.starts_with(".gnu.lto_"); });
    for (uint32_t i = 1; i < drop.size(); ++i)
        if (strip_dwarf && is_dwarf(image.sections[i], lto))
            drop[i] = true;
    bool more = drop != *old;
    bool any = std::find(drop.begin(), drop.end(), true) != drop.end();
    if (!any)
        return keep(image.file.size());
    if (!more) {
        auto tail = find_tail(image, drop);
        if (!tail)
            return tl::unexpected(tail.error());
        if (*tail) {
            auto first = std::find(drop.begin(), drop.end(), true) - drop.begin();
            image.sections.resize(static_cast<size_t>(first));
            if (image.names >= image.sections.size())
                image.names = 0;
            return keep(**tail);
        }
    }
    if (image.names && !image.names_are_shared())
        drop[image.names] = true;
    for (uint32_t i = 1; i < drop.size(); ++i)
        if (image.sections[i].head.sh_type == sht_llvm_addrsig) // an optimisation hint
            drop[i] = true;
    RETURN_IF_ERROR(add_dependents(image, drop));
    Body body;
    auto symbol_map = drop_sections(image, drop);
    if (!symbol_map)
        return tl::unexpected(symbol_map.error());
    body.symbol_map = std::move(*symbol_map);
    body.rebuilt = lay_out(image);
    return body;
}

/// A table of section names. ".rela.text" also serves for ".text".
class NameTable
{
public:
    explicit NameTable(const std::vector<ElfSection> &sections)
    {
        for (const ElfSection &s : sections) {
            for (std::string_view prefix : {".rela", ".rel"}) {
                if (!s.name.starts_with(prefix) || s.name.substr(prefix.size()).substr(0, 1) != ".")
                    continue;
                auto at = static_cast<uint32_t>(add(s.name) + prefix.size());
                offsets_.try_emplace(s.name.substr(prefix.size()), at);
            }
        }
        for (const ElfSection &s : sections)
            add(s.name);
    }

    uint32_t add(std::string_view name)
    {
        auto [entry, is_new] = offsets_.try_emplace(name, static_cast<uint32_t>(text_.size()));
        if (is_new)
            text_.append(name).push_back('\0');
        return entry->second;
    }
    std::string_view text() const { return text_; }

private:
    std::string text_ = std::string(1, '\0');
    std::unordered_map<std::string_view, uint32_t> offsets_ = {{"", 0}};
};

/// The new part, appended to what is left of the file.
class Appender
{
public:
    Appender(ElfImage &image, const Arch &arch, Body body)
        : image_(image), arch_(arch), body_(std::move(body)), out_(image.order)
    {
    }

    Result<FileChange> run(const ObjectBtf &added)
    {
        start_ = align_up(body_.size(), section_alignment);

        if (image_.sections.empty())
            image_.sections.emplace_back();
        bool rela = arch_.rela;
        if (!added.btf.empty())
            RETURN_IF_ERROR(add(".BTF", rela ? ".rela.BTF" : ".rel.BTF", added.section_type,
                                added.exclude ? uint64_t{SHF_EXCLUDE} : 0, added.btf,
                                added.btf_relocs, arch_.reloc_abs32, 4));
        if (!added.pool.empty())
            RETURN_IF_ERROR(add(".debug_addr", rela ? ".rela.debug_addr" : ".rel.debug_addr",
                                SHT_PROGBITS, 0, added.pool, added.pool_relocs, arch_.reloc_pointer,
                                arch_.address_size));
        else
            CHECK(added.pool_relocs.empty());
        add_names();
        add_headers();
        if (!image_.is64 && start_ + out_.size() > UINT32_MAX)
            return fail(image_.where, "the file would be too large for 32-bit ELF");
        FileChange change;
        change.kept = body_.kept;
        change.tail.resize(start_ - body_.size());
        std::vector<std::byte> part = out_.take();
        change.tail.insert(change.tail.end(), part.begin(), part.end());
        change.rebuilt = std::move(body_.rebuilt);
        ByteWriter header(image_.order);
        put_elf_header(header, image_, image_.head);
        change.header = header.take();
        return change;
    }

private:
    /// Append a section at the present place. `name` must be a literal.
    ElfSection &add_section(std::string_view name, uint32_t type, uint64_t alignment, Bytes data)
    {
        ElfSection &s = image_.sections.emplace_back();
        s.name = name;
        s.head.sh_type = type;
        s.head.sh_addralign = alignment;
        s.head.sh_offset = start_ + out_.size();
        s.head.sh_size = data.size();
        out_.put_bytes(data);
        return s;
    }

    Result<void> add(std::string_view name, std::string_view reloc_name, uint32_t type,
                     uint64_t flags, Bytes data, const std::vector<NewReloc> &relocs,
                     uint32_t reloc_type, uint8_t reloc_size)
    {
        out_.align(section_alignment);
        auto target = static_cast<uint32_t>(image_.sections.size());
        uint64_t at = out_.size();
        add_section(name, type, section_alignment, data).head.sh_flags = flags;
        if (relocs.empty())
            return {};
        if (image_.head.e_type != ET_REL)
            return fail(image_.where.in(reloc_name), "relocations in a linked file");

        auto symtab = image_.find_symtab();
        if (!symtab)
            return tl::unexpected(symtab.error());
        if (!*symtab)
            return fail(image_.where.in(reloc_name), "relocations, but the file has no symbols");
        auto symbols = image_.symbol_count(*symtab);
        if (!symbols)
            return tl::unexpected(symbols.error());
        const bool rela = arch_.rela;
        ByteWriter entries(image_.order);
        auto put_word = [&](uint64_t value) {
            if (image_.is64)
                entries.put<uint64_t>(value);
            else
                entries.put<uint32_t>(static_cast<uint32_t>(value));
        };
        for (const NewReloc &reloc : relocs) {
            CHECK(reloc.offset <= data.size() && reloc_size <= data.size() - reloc.offset);
            auto symbol = new_symbol(reloc, *symbols, reloc_name);
            if (!symbol)
                return tl::unexpected(symbol.error());
            put_word(reloc.offset);
            put_word(image_.reloc_info(*symbol, reloc_type));
            auto addend = static_cast<uint64_t>(reloc.addend);
            if (rela)
                put_word(addend);
            else if (reloc_size == 8)
                out_.patch<uint64_t>(at + reloc.offset, addend);
            else
                out_.patch<uint32_t>(at + reloc.offset, static_cast<uint32_t>(addend));
        }
        out_.align(section_alignment);
        const uint64_t word = image_.is64 ? 8 : 4;
        std::vector<std::byte> bytes = entries.take();
        Elf64_Shdr &head = add_section(reloc_name, rela ? SHT_RELA : SHT_REL, word, bytes).head;
        head.sh_flags = SHF_INFO_LINK;
        head.sh_link = *symtab;
        head.sh_info = target;
        head.sh_entsize = word * (rela ? 3 : 2);
        return {};
    }

    /// `count`: symbols that the file has now.
    Result<uint32_t> new_symbol(const NewReloc &reloc, uint32_t count, std::string_view section)
    {
        uint32_t symbol = reloc.symbol;
        Where place = image_.where.in(section).at(reloc.offset);
        if (!body_.symbol_map.empty()) {
            if (symbol >= body_.symbol_map.size())
                return fail(
                    place, strf("relocation by symbol %u of %zu", symbol, body_.symbol_map.size()));
            if (body_.symbol_map[symbol] == dropped_symbol)
                return fail(place,
                            strf("relocation by symbol %u, which goes with its section", symbol));
            symbol = body_.symbol_map[symbol];
        }
        if (symbol >= count)
            return fail(place, strf("relocation by symbol %u of %u", symbol, count));
        if (!image_.is64 && symbol >= 1u << 24)
            return fail(place, strf("symbol %u does not fit into a 32-bit relocation", symbol));
        return symbol;
    }

    void add_names()
    {
        if (!image_.names || image_.names_are_shared()) {
            image_.names = static_cast<uint32_t>(image_.sections.size());
            add_section(".shstrtab", SHT_STRTAB, 1, {});
        }
        NameTable table(image_.sections);
        Elf64_Shdr &head = image_.sections[image_.names].head;
        head.sh_offset = start_ + out_.size();
        head.sh_size = table.text().size();
        out_.put_bytes(as_bytes(table.text()));
        for (ElfSection &s : image_.sections)
            s.head.sh_name = table.add(s.name);
    }

    void add_headers()
    {
        out_.align(section_alignment);
        image_.head.e_shoff = start_ + out_.size();
        image_.head.e_shentsize = static_cast<uint16_t>(image_.section_header_size());
        // Numbers that do not fit stand in section header 0 (which may hold e_phnum in sh_info).
        uint64_t count = image_.sections.size();
        Elf64_Shdr &zero = image_.sections[0].head;
        bool many = count >= SHN_LORESERVE;
        zero.sh_size = many ? count : 0;
        image_.head.e_shnum = many ? 0 : static_cast<uint16_t>(count);
        many = image_.names >= SHN_LORESERVE;
        zero.sh_link = many ? image_.names : 0;
        image_.head.e_shstrndx = many ? SHN_XINDEX : static_cast<uint16_t>(image_.names);
        for (const ElfSection &s : image_.sections)
            put_section_header(out_, image_, s.head);
    }

    ElfImage &image_;
    const Arch &arch_;
    Body body_;
    ByteWriter out_;     // the new part
    uint64_t start_ = 0; // its place in the file
};

} // namespace

std::vector<std::byte> FileChange::whole(Bytes before) const
{
    Bytes body = rebuilt.empty() ? before.first(kept) : Bytes(rebuilt);
    std::vector<std::byte> bytes;
    bytes.reserve(body.size() + tail.size());
    bytes.assign(body.begin(), body.end());
    bytes.insert(bytes.end(), tail.begin(), tail.end());
    std::copy(header.begin(), header.end(), bytes.begin()); // none: it stays
    return bytes;
}

bool FileChange::changes(Bytes before) const
{
    if (!rebuilt.empty()) {
        std::vector<std::byte> after = whole(before);
        return !std::equal(after.begin(), after.end(), before.begin(), before.end());
    }
    return before.size() != kept + tail.size() ||
           std::memcmp(before.data(), header.data(), header.size()) != 0 ||
           std::memcmp(before.data() + kept, tail.data(), tail.size()) != 0;
}

Result<FileChange> plan_object_btf(Bytes object, const Arch &arch, const ObjectBtf &added,
                                   const Where &where)
{
    auto image = read_elf(object, where);
    if (!image)
        return tl::unexpected(image.error());
    auto body = make_body(*image, added.strip_dwarf);
    if (!body)
        return tl::unexpected(body.error());
    if (added.btf.empty() && body->rebuilt.empty() && body->kept == object.size()) {
        FileChange none;
        none.kept = object.size();
        return none;
    }
    return Appender(*image, arch, std::move(*body)).run(added);
}

Result<std::vector<std::byte>> with_object_btf(Bytes object, const Arch &arch,
                                               const ObjectBtf &added, const Where &where)
{
    auto change = plan_object_btf(object, arch, added, where);
    if (!change)
        return tl::unexpected(change.error());
    return change->whole(object);
}

namespace
{

bool write_at(int fd, Bytes bytes, uint64_t offset)
{
    while (!bytes.empty()) {
        ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return false;
        bytes = bytes.subspan(static_cast<size_t>(n));
        offset += static_cast<uint64_t>(n);
    }
    return true;
}

/// `after` as a change of `before`: an addition and another header where that is all.
FileChange change_to(Bytes before, Bytes after)
{
    FileChange change;
    bool is64 = after.size() > EI_CLASS && static_cast<uint8_t>(after[EI_CLASS]) == ELFCLASS64;
    size_t header = is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
    bool prefix =
        header <= before.size() && before.size() <= after.size() &&
        std::memcmp(before.data() + header, after.data() + header, before.size() - header) == 0;
    if (!prefix) {
        change.rebuilt.assign(after.begin(), after.end());
        return change;
    }
    change.kept = before.size();
    change.header.assign(after.begin(), after.begin() + static_cast<ptrdiff_t>(header));
    change.tail.assign(after.begin() + static_cast<ptrdiff_t>(before.size()), after.end());
    return change;
}

Result<void> append_to(const std::string &path, Fd &fd, Bytes before, const FileChange &change)
{
    bool ok =
        write_at(fd.get(), change.tail, before.size()) && write_at(fd.get(), change.header, 0);
    if (!ok) {
        auto error = fail_errno(Where{path}, "cannot append object BTF");
        // The old header describes the old file, whatever lies behind that.
        bool restored = write_at(fd.get(), before.first(change.header.size()), 0) &&
                        ::ftruncate(fd.get(), static_cast<off_t>(before.size())) == 0;
        if (!restored)
            return fail_errno(Where{path}, "cannot append object BTF, nor undo that");
        return error;
    }
    if (!fd.close())
        return fail_errno(Where{path}, "cannot append object BTF");
    return {};
}

} // namespace

Result<void> update_object(const std::string &path, Bytes before, const FileChange &change)
{
    if (!change.changes(before))
        return {};
    struct stat st;
    if (::stat(path.c_str(), &st) != 0)
        return fail_errno(Where{path}, "cannot stat");
    if (!S_ISREG(st.st_mode))
        return write_file(path, change.whole(before));
    Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (fd.get() < 0)
        return fail_errno(Where{path}, "cannot write");
    if (::fstat(fd.get(), &st) != 0)
        return fail_errno(Where{path}, "cannot stat");
    std::vector<std::byte> start(std::min<size_t>(before.size(), sizeof(Elf64_Ehdr)));
    ssize_t n = ::pread(fd.get(), start.data(), start.size(), 0);
    if (static_cast<uint64_t>(st.st_size) != before.size() ||
        n != static_cast<ssize_t>(start.size()) ||
        !std::equal(start.begin(), start.end(), before.begin()))
        return fail(Where{path}, "somebody else changed the file meanwhile");
    if (change.rebuilt.empty() && change.kept == before.size())
        return append_to(path, fd, before, change);
    return write_file(path, change.whole(before));
}

Result<void> update_object(const std::string &path, Bytes before, Bytes after)
{
    return update_object(path, before, change_to(before, after));
}

} // namespace btflink::emit
