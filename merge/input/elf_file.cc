// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The only file that includes LLVM. LLVM checks its input (tables inside the file, names inside
// string tables) and returns errors, which are converted to our Errors here.
#include "merge/input/elf_file.h"

#include "common/elf/arch.h"
#include "common/elf/compressed_section.h"

#include <algorithm>
#include <cstring>
#include <llvm/Object/Archive.h>
#include <llvm/Object/ELF.h>
#include <llvm/Object/ELFTypes.h>
#include <llvm/Support/MemoryBuffer.h>
#include <tuple>
#include <type_traits>
#include <utility>

namespace btflink::merge
{

namespace
{

namespace elf = llvm::ELF;
namespace object = llvm::object;

llvm::StringRef text(Bytes bytes)
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

std::string_view view(llvm::StringRef s)
{
    return {s.data(), s.size()};
}

Failure llvm_fail(const Where &where, llvm::Error error)
{
    return fail(where, llvm::toString(std::move(error)));
}

/// Converts LLVM's value or error to ours.
template <typename T>
Result<T> ours(llvm::Expected<T> value, const Where &where)
{
    if (!value)
        return llvm_fail(where, value.takeError());
    return std::move(*value);
}

} // namespace

template <typename ElfType>
class ElfReader
{
public:
    using File = object::ELFFile<ElfType>;
    // LLVM's own constant for this was renamed in version 19.
    static constexpr bool little =
        std::is_same_v<ElfType, object::ELF32LE> || std::is_same_v<ElfType, object::ELF64LE>;

    static Result<ElfFile> read(Bytes bytes, const Where &where)
    {
        const auto file = TRY(ours(File::create(text(bytes)), where.at(0)));
        ElfFile out;
        const auto &header = file.getHeader();
        out.where_ = where;
        out.bytes_ = bytes;
        out.machine_ = header.e_machine;
        out.type_ = header.e_type;
        out.flags_ = header.e_flags;
        out.address_size_ = ElfType::Is64Bits ? 8 : 4;
        out.order_ = little ? ByteOrder::little : ByteOrder::big;
        const Headers headers = TRY(ours(file.sections(), where.at(header.e_shoff)));
        TRY(read_sections(file, headers, out));
        TRY(read_symbols(file, headers, out));
        return out;
    }

    static Result<SectionContents> contents(const ElfFile &in, uint32_t index)
    {
        const Section &section = in.sections_[index];
        const Where where = in.where_.in(section.name);
        const auto file = TRY(ours(File::create(text(in.bytes_)), where));
        const auto *header = TRY(ours(file.getSection(index), where));
        if (section.type == elf::SHT_NOBITS)
            return SectionContents{};
        const auto data = TRY(ours(file.getSectionContents(*header), where));
        SectionContents out;
        out.bytes = std::as_bytes(std::span(data.data(), data.size()));
        if (!is_compressed(section.name, section.flags, out.bytes))
            return out;
        auto plain = TRY(decompress(out.bytes, section.flags, ElfType::Is64Bits, in.order_, where));
        auto owned = std::make_shared<std::vector<std::byte>>(std::move(plain));
        return SectionContents{*owned, owned};
    }

    static Result<std::vector<Reloc>> relocations(const ElfFile &in, uint32_t target, uint8_t width)
    {
        std::vector<Reloc> relocs;
        const auto file = TRY(ours(File::create(text(in.bytes_)), in.where_));
        const Headers headers = TRY(ours(file.sections(), in.where_));
        for (const auto &header : headers) {
            if (header.sh_info != target)
                continue;
            const Where where = in.where_.in(in.sections_[index_of(headers, header)].name);
            if (header.sh_type == elf::SHT_RELA) {
                const auto relas = TRY(ours(file.relas(header), where));
                TRY(add_relocs(in, target, width, relas, where, relocs));
            } else if (header.sh_type == elf::SHT_REL) {
                const auto rels = TRY(ours(file.rels(header), where));
                TRY(add_relocs(in, target, width, rels, where, relocs));
            }
        }
        auto before = [](const Reloc &a, const Reloc &b) { return a.offset < b.offset; };
        if (!std::is_sorted(relocs.begin(), relocs.end(), before)) // rarely true
            std::ranges::stable_sort(relocs, before);
        return relocs;
    }

private:
    using Headers = typename ElfType::ShdrRange;
    using Record = typename ElfType::Sym;
    using Words = llvm::ArrayRef<typename ElfType::Word>;

    template <typename Entry>
    static size_t index_of(llvm::ArrayRef<Entry> table, const Entry &entry)
    {
        return static_cast<size_t>(&entry - table.begin());
    }

    static Result<void> read_sections(const File &file, Headers headers, ElfFile &out)
    {
        if (headers.empty())
            return {};
        const uint64_t table = file.getHeader().e_shoff;
        const auto names = TRY(ours(file.getSectionStringTable(headers), out.where_.at(table)));
        out.sections_.reserve(headers.size());
        for (const auto &header : headers) {
            auto name = file.getSectionName(header, names);
            if (!name)
                return llvm_fail(out.where_.at(table + out.sections_.size() * sizeof header),
                                 name.takeError());
            out.sections_.push_back({view(*name), header.sh_type, header.sh_flags, header.sh_addr,
                                     header.sh_size, header.sh_addralign, header.sh_link,
                                     header.sh_info});
        }
        return {};
    }

    static Result<void> read_symbols(const File &file, Headers headers, ElfFile &out)
    {
        const auto table = std::ranges::find(headers, elf::SHT_SYMTAB,
                                             [](const auto &h) { return uint32_t{h.sh_type}; });
        if (table == headers.end())
            return {};
        const size_t index = index_of(headers, *table);
        const Where where = out.where_.in(out.sections_[index].name);
        Words extended;
        for (const auto &header : headers)
            if (header.sh_type == elf::SHT_SYMTAB_SHNDX && header.sh_link == index)
                extended = TRY(ours(file.getSHNDXTable(header), where));
        const auto symbols = TRY(ours(file.symbols(table), where));
        const auto names = TRY(ours(file.getStringTableForSymtab(*table), where));
        if (constexpr size_t very_long = 64 * 1024; may_have_string(view(names), very_long))
            TRY(check_name_lengths(symbols, names, where));
        SymbolTable &all = out.symbols_;
        all.size_ = symbols.size();
        all.records_ = symbols.data();
        all.extended_ = extended.data();
        all.extended_size_ = extended.size();
        all.names_ = view(names);
        all.sections_ = out.sections_.size();
        all.is_arm_ = out.machine_ == elf::EM_ARM;
        all.read_ = read_symbol;
        for (const Record &symbol : symbols)
            if (!is_in_order(all, symbol))
                return bad_symbol(all, symbol, names, where);
        return {};
    }

    /// Names may be tails of one string, so that they add up to far more than the file.
    template <typename Symbols>
    static Result<void> check_name_lengths(const Symbols &symbols, llvm::StringRef names,
                                           const Where &where)
    {
        const uint64_t most = (uint64_t{64} << 20) + 4 * names.size();
        uint64_t sum = 0;
        for (const Record &symbol : symbols) {
            if (symbol.st_name < names.size())
                sum += std::strlen(names.data() + symbol.st_name);
            if (sum > most)
                return fail(where, strf("the names of symbols add up to more than %llu characters",
                                        ull(most)));
        }
        return {};
    }

    static bool is_in_order(const SymbolTable &all, const Record &symbol)
    {
        if (symbol.st_name >= all.names_.size())
            return false;
        if (symbol.st_shndx < std::min<size_t>(all.sections_, elf::SHN_LORESERVE))
            return true; // nearly all
        const auto [home, section] = home_of(all, symbol);
        return home != Home::section || section < all.sections_;
    }

    static Failure bad_symbol(const SymbolTable &all, const Record &symbol, llvm::StringRef names,
                              const Where &where)
    {
        const size_t number = number_of(all, symbol);
        const Where here = where.at(number * sizeof symbol);
        if (symbol.st_name >= names.size())
            return llvm_fail(here, symbol.getName(names).takeError());
        if (symbol.st_shndx == elf::SHN_XINDEX && number >= all.extended_size_)
            return fail(here, "symbol without an extended section index");
        return fail(here, strf("symbol is in section %u, but there are %zu",
                               home_of(all, symbol).second, all.sections_));
    }

    static size_t number_of(const SymbolTable &table, const Record &symbol)
    {
        return static_cast<size_t>(&symbol - static_cast<const Record *>(table.records_));
    }

    /// SHN_XINDEX without an extended index counts as a section that does not exist.
    static std::pair<Home, uint32_t> home_of(const SymbolTable &table, const Record &symbol)
    {
        const uint32_t section = symbol.st_shndx;
        if (section == elf::SHN_XINDEX) {
            const auto *extended = static_cast<const typename ElfType::Word *>(table.extended_);
            const size_t number = number_of(table, symbol);
            return {Home::section,
                    number < table.extended_size_ ? uint32_t{extended[number]} : UINT32_MAX};
        }
        if (section == elf::SHN_UNDEF)
            return {Home::undefined, section};
        if (section == elf::SHN_COMMON)
            return {Home::common, section};
        return {section >= elf::SHN_LORESERVE ? Home::absolute : Home::section, section};
    }

    /// The file may have changed since it was checked. Then the result is wrong, but harmless.
    static Symbol read_symbol(const SymbolTable &table, size_t number)
    {
        const Record &symbol = static_cast<const Record *>(table.records_)[number];
        const uint32_t name = symbol.st_name;
        Symbol s;
        if (name < table.names_.size())
            s.text = table.names_.data() + name;
        s.value = symbol.st_value;
        s.size = symbol.st_size;
        s.type = symbol.getType();
        s.binding = symbol.getBinding();
        if (table.is_arm_ && s.type == elf::STT_FUNC)
            s.value &= ~uint64_t{1}; // Thumb bit; debug information has the address without it
        std::tie(s.home, s.section) = home_of(table, symbol);
        if (s.home == Home::section && s.section >= table.sections_)
            s.home = Home::undefined;
        return s;
    }

    template <typename Entries>
    static Result<void> add_relocs(const ElfFile &in, uint32_t target, uint8_t width,
                                   Entries entries, const Where &where, std::vector<Reloc> &out)
    {
        using Entry = typename Entries::value_type;
        constexpr bool rela = std::is_same_v<Entry, typename ElfType::Rela>;
        if (entries.empty())
            return {};
        const auto data = TRY(in.contents(target));
        const Arch *arch = find_arch(in.machine_, in.address_size_);
        const bool mips64el = in.machine_ == elf::EM_MIPS && ElfType::Is64Bits && little;
        out.reserve(out.size() + entries.size());
        for (const Entry &entry : entries) {
            auto here = [&] { return where.at(index_of(entries, entry) * sizeof entry); };
            const uint32_t type = entry.getType(mips64el);
            if (type == 0) // R_*_NONE: lld leaves it where `ld -r` discarded a section
                continue;
            if (!arch)
                return fail(here(),
                            strf("relocation of type %u: unsupported architecture (ELF machine %u, "
                                 "%u-bit)",
                                 type, in.machine_, in.address_size_ * 8));
            if (!is_absolute(*arch, type))
                return fail(here(), strf("relocation of type %u is not an absolute address", type));
            Reloc reloc{entry.r_offset, entry.getSymbol(mips64el), 0};
            if (reloc.offset > data.bytes.size() || width > data.bytes.size() - reloc.offset)
                return fail(here(), "relocation is outside of its section");
            if (reloc.symbol >= in.symbols_.size())
                return fail(here(), strf("relocation names symbol %u, but there are %zu",
                                         reloc.symbol, in.symbols_.size()));
            if constexpr (rela)
                reloc.addend = entry.r_addend;
            else
                reloc.addend = addend_at(data.bytes.data() + reloc.offset, width, in.order_);
            out.push_back(reloc);
        }
        return {};
    }

    static int64_t addend_at(const std::byte *place, uint8_t width, ByteOrder order)
    {
        return width == 8 ? static_cast<int64_t>(load<uint64_t>(place, order))
                          : static_cast<int32_t>(load<uint32_t>(place, order));
    }
};

namespace
{

/// Calls visit.operator()<ElfType>() for the class and byte order of an ELF file.
template <typename Visit>
auto with_elf_type(bool is64, ByteOrder order, Visit visit)
{
    if (order == ByteOrder::little)
        return is64 ? visit.template operator()<object::ELF64LE>()
                    : visit.template operator()<object::ELF32LE>();
    return is64 ? visit.template operator()<object::ELF64BE>()
                : visit.template operator()<object::ELF32BE>();
}

} // namespace

bool is_archive(Bytes bytes)
{
    std::string_view all = view(text(bytes));
    return all.starts_with("!<arch>\n") || all.starts_with("!<thin>\n");
}

Result<ElfFile> ElfFile::parse(Bytes bytes, const Where &where)
{
    if (bytes.size() < elf::EI_NIDENT)
        return fail(where.at(0), "ELF file is cut off");
    auto elf_class = static_cast<uint8_t>(bytes[elf::EI_CLASS]);
    auto data = static_cast<uint8_t>(bytes[elf::EI_DATA]);
    if ((elf_class != elf::ELFCLASS32 && elf_class != elf::ELFCLASS64) ||
        (data != elf::ELFDATA2LSB && data != elf::ELFDATA2MSB))
        return fail(where.at(elf::EI_CLASS),
                    strf("unknown ELF class %u or byte order %u", elf_class, data));
    return with_elf_type(elf_class == elf::ELFCLASS64,
                         data == elf::ELFDATA2LSB ? ByteOrder::little : ByteOrder::big,
                         [&]<typename T> { return ElfReader<T>::read(bytes, where); });
}

Result<SectionContents> ElfFile::contents(uint32_t section) const
{
    return with_elf_type(address_size_ == 8, order_,
                         [&]<typename T> { return ElfReader<T>::contents(*this, section); });
}

Result<std::vector<Reloc>> ElfFile::relocations(uint32_t section, uint8_t width) const
{
    return with_elf_type(address_size_ == 8, order_, [&]<typename T> {
        return ElfReader<T>::relocations(*this, section, width);
    });
}

namespace
{

Result<ArchiveMember> read_member(const object::Archive::Child &child, bool is_thin,
                                  const Where &where)
{
    constexpr size_t most_name = 4096; // many members may name one text
    const auto name = TRY(ours(child.getName(), where));
    if (name.size() > most_name)
        return fail(where, strf("name of an archive member has %zu characters", name.size()));
    ArchiveMember member;
    member.name = name.str();
    if (is_thin) {
        member.path = TRY(ours(child.getFullName(), where));
        return member;
    }
    const auto data = TRY(ours(child.getBuffer(), where));
    member.bytes = std::as_bytes(std::span(data.data(), data.size()));
    return member;
}

} // namespace

Result<std::vector<ArchiveMember>> archive_members(Bytes bytes, const Where &where)
{
    const auto archive = TRY(
        ours(object::Archive::create(llvm::MemoryBufferRef(text(bytes), where.file)), where.at(0)));
    std::vector<ArchiveMember> members;
    uint64_t at = 0; // where a member begins
    llvm::Error error = llvm::Error::success();
    for (const object::Archive::Child &child : archive->children(error)) {
        at = child.getChildOffset();
        auto member = read_member(child, archive->isThin(), where.at(at));
        if (!member) {
            llvm::consumeError(std::move(error));
            return fail(std::move(member).error());
        }
        members.push_back(std::move(*member));
    }
    if (error)
        return llvm_fail(where.at(at), std::move(error));
    return members;
}

} // namespace btflink::merge
