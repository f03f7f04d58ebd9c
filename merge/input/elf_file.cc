// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The only file of merge/, with reloc_kind.cc, that includes LLVM. LLVM checks what it reads
// (tables inside the file, names inside string tables) and reports errors as values; they become
// our Errors here.
#include "merge/input/elf_file.h"

#include "common/elf/arch.h"
#include "common/elf/compressed_section.h"
#include "merge/input/reloc_kind.h"

#include <algorithm>
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

} // namespace

template <typename ElfType>
class ElfReader
{
public:
    using File = object::ELFFile<ElfType>;
    // LLVM has this as well, by a name that changed with version 19.
    static constexpr bool little =
        std::is_same_v<ElfType, object::ELF32LE> || std::is_same_v<ElfType, object::ELF64LE>;

    static Result<ElfFile> read(Bytes bytes, const Where &where)
    {
        auto file = File::create(text(bytes));
        if (!file)
            return llvm_fail(where.at(0), file.takeError());
        ElfFile out;
        const auto &header = file->getHeader();
        out.where_ = where;
        out.bytes_ = bytes;
        out.machine_ = header.e_machine;
        out.type_ = header.e_type;
        out.flags_ = header.e_flags;
        out.address_size_ = ElfType::Is64Bits ? 8 : 4;
        out.order_ = little ? ByteOrder::little : ByteOrder::big;
        TRY(read_sections(*file, out));
        TRY(read_symbols(*file, out));
        return out;
    }

    static Result<SectionContents> contents(const ElfFile &in, uint32_t index)
    {
        const Section &section = in.sections_[index];
        Where where = in.where_.in(section.name);
        auto file = File::create(text(in.bytes_));
        auto header = file->getSection(index);
        if (!header)
            return llvm_fail(where, header.takeError());
        if (section.type == elf::SHT_NOBITS)
            return SectionContents{};
        auto data = file->getSectionContents(**header);
        if (!data)
            return llvm_fail(where, data.takeError());
        SectionContents out;
        out.bytes = std::as_bytes(std::span(data->data(), data->size()));
        if (!is_compressed(section.name, section.flags, out.bytes))
            return out;
        auto plain = TRY(decompress(out.bytes, section.flags, ElfType::Is64Bits, in.order_, where));
        auto owned = std::make_shared<std::vector<std::byte>>(std::move(plain));
        return SectionContents{*owned, owned};
    }

    static Result<std::vector<Reloc>> relocations(const ElfFile &in, uint32_t target, uint8_t width)
    {
        std::vector<Reloc> relocs;
        auto file = File::create(text(in.bytes_));
        auto sections = file->sections();
        if (!sections)
            return llvm_fail(in.where_, sections.takeError());
        for (const auto &header : *sections) {
            if (header.sh_info != target ||
                (header.sh_type != elf::SHT_REL && header.sh_type != elf::SHT_RELA))
                continue;
            auto index = static_cast<uint32_t>(&header - sections->begin());
            Where where = in.where_.in(in.sections_[index].name);
            if (header.sh_type == elf::SHT_RELA) {
                auto relas = file->relas(header);
                if (!relas)
                    return llvm_fail(where, relas.takeError());
                TRY(add(in, target, width, *relas, where, relocs));
            } else {
                auto rels = file->rels(header);
                if (!rels)
                    return llvm_fail(where, rels.takeError());
                TRY(add(in, target, width, *rels, where, relocs));
            }
        }
        auto before = [](const Reloc &a, const Reloc &b) { return a.offset < b.offset; };
        if (!std::is_sorted(relocs.begin(), relocs.end(), before)) // they seldom are not
            std::stable_sort(relocs.begin(), relocs.end(), before);
        return relocs;
    }

private:
    static Result<void> read_sections(const File &file, ElfFile &out)
    {
        auto sections = file.sections();
        const uint64_t table = file.getHeader().e_shoff;
        if (!sections)
            return llvm_fail(out.where_.at(table), sections.takeError());
        if (sections->empty())
            return {};
        auto names = file.getSectionStringTable(*sections);
        if (!names)
            return llvm_fail(out.where_.at(table), names.takeError());
        out.sections_.reserve(sections->size());
        for (const auto &header : *sections) {
            auto name = file.getSectionName(header, *names);
            if (!name)
                return llvm_fail(out.where_.at(table + out.sections_.size() * sizeof header),
                                 name.takeError());
            out.sections_.push_back({view(*name), header.sh_type, header.sh_flags, header.sh_addr,
                                     header.sh_size, header.sh_addralign, header.sh_link,
                                     header.sh_info});
        }
        return {};
    }

    static Result<void> read_symbols(const File &file, ElfFile &out)
    {
        auto sections = file.sections();
        if (!sections)
            return llvm_fail(out.where_, sections.takeError());
        const typename ElfType::Shdr *table = nullptr;
        llvm::ArrayRef<typename ElfType::Word> extended;
        for (const auto &header : *sections)
            if (header.sh_type == elf::SHT_SYMTAB) {
                table = &header;
                break;
            }
        if (!table)
            return {};
        auto table_index = static_cast<uint32_t>(table - sections->begin());
        Where where = out.where_.in(out.sections_[table_index].name);
        for (const auto &header : *sections)
            if (header.sh_type == elf::SHT_SYMTAB_SHNDX && header.sh_link == table_index) {
                auto words = file.getSHNDXTable(header);
                if (!words)
                    return llvm_fail(where, words.takeError());
                extended = *words;
            }
        auto symbols = file.symbols(table);
        if (!symbols)
            return llvm_fail(where, symbols.takeError());
        auto names = file.getStringTableForSymtab(*table);
        if (!names)
            return llvm_fail(where, names.takeError());
        SymbolTable &all = out.symbols_;
        all.size_ = symbols->size();
        all.records_ = symbols->data();
        all.extended_ = extended.data();
        all.extended_size_ = extended.size();
        all.names_ = view(*names);
        all.sections_ = out.sections_.size();
        all.is_arm_ = out.machine_ == elf::EM_ARM;
        all.read_ = read_symbol;
        for (const auto &symbol : *symbols) {
            auto here = [&] {
                return where.at(static_cast<uint64_t>(&symbol - symbols->begin()) * sizeof symbol);
            };
            if (symbol.st_name >= names->size())
                return llvm_fail(here(), symbol.getName(*names).takeError());
            if (symbol.st_shndx < std::min<size_t>(all.sections_, elf::SHN_LORESERVE))
                continue; // nearly all
            auto [home, section] = home_of(all, symbol, extended);
            const auto number = static_cast<size_t>(&symbol - symbols->begin());
            if (symbol.st_shndx == elf::SHN_XINDEX && number >= extended.size())
                return fail(here(), "symbol without an extended section index");
            if (home == Home::section && section >= all.sections_)
                return fail(here(), strf("symbol is in section %u, but there are %zu", section,
                                         all.sections_));
        }
        return {};
    }

    using Record = typename ElfType::Sym;

    /// Of SHN_XINDEX without an extended index: a section that there is not.
    static std::pair<Home, uint32_t> home_of(const SymbolTable &table, const Record &symbol,
                                             llvm::ArrayRef<typename ElfType::Word> extended)
    {
        const uint32_t section = symbol.st_shndx;
        if (section == elf::SHN_XINDEX) {
            const auto number =
                static_cast<size_t>(&symbol - static_cast<const Record *>(table.records_));
            return {Home::section,
                    number < extended.size() ? uint32_t{extended[number]} : UINT32_MAX};
        }
        if (section == elf::SHN_UNDEF)
            return {Home::undefined, section};
        if (section == elf::SHN_COMMON)
            return {Home::common, section};
        return {section >= elf::SHN_LORESERVE ? Home::absolute : Home::section, section};
    }

    /// The file may have been changed since it was checked: then what it says is wrong, but
    /// harmless.
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
            s.value &= ~uint64_t{1}; // Thumb code; debug information has the address itself
        std::tie(s.home, s.section) = home_of(
            table, symbol,
            {static_cast<const typename ElfType::Word *>(table.extended_), table.extended_size_});
        if (s.home == Home::section && s.section >= table.sections_)
            s.home = Home::undefined;
        return s;
    }

    template <typename Range>
    static Result<void> add(const ElfFile &in, uint32_t target, uint8_t width, Range range,
                            const Where &where, std::vector<Reloc> &out)
    {
        constexpr bool rela =
            std::is_same_v<std::decay_t<decltype(*range.begin())>, typename ElfType::Rela>;
        if (range.empty())
            return {};
        auto data = TRY(in.contents(target));
        const Arch *arch = find_arch(in.machine_, in.address_size_);
        RelocClassifier classify(view(text(in.bytes_)), rela,
                                 {arch ? arch->reloc_abs32 : 0, arch ? arch->reloc_pointer : 0});
        bool mips64el = in.machine_ == elf::EM_MIPS && ElfType::Is64Bits && little;
        out.reserve(out.size() + range.size());
        for (const auto &entry : range) {
            auto here = [&] {
                return where.at(static_cast<size_t>(&entry - range.begin()) * sizeof entry);
            };
            RelocKind kind = classify(entry.getType(mips64el));
            if (kind == RelocKind::none)
                continue;
            if (kind == RelocKind::other)
                return fail(here(), strf("relocation of type %u is not an absolute address",
                                         uint32_t{entry.getType(mips64el)}));
            Reloc reloc;
            reloc.offset = entry.r_offset;
            reloc.symbol = entry.getSymbol(mips64el);
            if (reloc.offset > data.bytes.size() || width > data.bytes.size() - reloc.offset)
                return fail(here(), "relocation is outside of its section");
            if (reloc.symbol >= in.symbols_.size())
                return fail(here(), strf("relocation names symbol %u, but there are %zu",
                                         reloc.symbol, in.symbols_.size()));
            if constexpr (rela)
                reloc.addend = entry.r_addend;
            else if (width == 8)
                reloc.addend = static_cast<int64_t>(
                    load<uint64_t>(data.bytes.data() + reloc.offset, in.order_));
            else
                reloc.addend = static_cast<int32_t>(
                    load<uint32_t>(data.bytes.data() + reloc.offset, in.order_));
            out.push_back(reloc);
        }
        return {};
    }
};

namespace
{

/// Call visit.operator()<ElfType>() for the class and byte order of an ELF file.
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

bool is_elf(Bytes bytes)
{
    return view(text(bytes)).starts_with("\177ELF");
}

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

Result<std::vector<ArchiveMember>> archive_members(Bytes bytes, const Where &where)
{
    auto archive = object::Archive::create(llvm::MemoryBufferRef(text(bytes), where.file));
    if (!archive)
        return llvm_fail(where.at(0), archive.takeError());
    std::vector<ArchiveMember> members;
    uint64_t at = 0; // where a member begins
    llvm::Error error = llvm::Error::success();
    std::optional<Error> ours;
    for (const object::Archive::Child &child : (*archive)->children(error)) {
        ArchiveMember member;
        at = child.getChildOffset();
        auto name = child.getName();
        if (!name) {
            ours = Error{where.at(at), llvm::toString(name.takeError())};
            break;
        }
        member.name = name->str();
        if ((*archive)->isThin()) {
            auto path = child.getFullName();
            if (!path) {
                ours = Error{where.at(at), llvm::toString(path.takeError())};
                break;
            }
            member.path = *path;
        } else {
            auto data = child.getBuffer();
            if (!data) {
                ours = Error{where.at(at), llvm::toString(data.takeError())};
                break;
            }
            member.bytes = std::as_bytes(std::span(data->data(), data->size()));
        }
        members.push_back(std::move(member));
    }
    if (error)
        return llvm_fail(where.at(at), std::move(error));
    if (ours)
        return fail(std::move(*ours));
    return members;
}

} // namespace btflink::merge
