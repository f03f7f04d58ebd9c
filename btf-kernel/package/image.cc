// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads modules, vmlinux and boot images. Removes wrappings and compression one after the other.
// Then picks the sections and symbols that concern BTF from an ELF file, or searches flat memory
// for BTF.
#include "btf-kernel/package/steps.h"

#include "common/btf/id_symbols.h"
#include "common/elf/elf_image.h"
#include "common/object_btf/link_trailer.h"

#include <algorithm>
#include <set>

namespace btflink::kernel
{

namespace
{

constexpr size_t most_of_banner = 1000;

std::vector<std::byte> copy(Bytes bytes)
{
    return {bytes.begin(), bytes.end()};
}

uint64_t offset_in(Bytes whole, Bytes part)
{
    return static_cast<uint64_t>(part.data() - whole.data());
}

bool is_btf(Bytes file)
{
    return order_of_btf(file) && has(file, 2, "\x01"); // the magic alone may begin a flat kernel
}

/// The largest BTF in a flat image; empty: not found. Every place in a hostile image may look like
/// the header of BTF that reaches to the end, so at most 16 times the image's size is parsed.
Bytes find_btf(Bytes flat)
{
    uint64_t left = uint64_t{flat.size()} * 16; // bytes that may still be parsed
    const std::string_view text = as_text(flat);
    Bytes largest;
    for (std::string_view magic :
         {std::string_view("\x9f\xeb\x01\0", 4), std::string_view("\xeb\x9f\x01\0", 4)})
        for (size_t at = text.find(magic); at != std::string_view::npos;
             at = text.find(magic, at + 1)) {
            const Bytes rest = flat.subspan(at);
            auto size = btf_blob_size(rest, {});
            if (!size || *size > rest.size() || *size <= largest.size())
                continue;
            if (*size > left)
                return largest;
            left -= *size;
            if (Btf::parse(rest.first(*size), {}))
                largest = rest.first(*size);
        }
    return largest;
}

/// Searches a flat image for .BTF_ids; empty: not found. Small words that follow the section in the
/// image become part of the result. `btf`: the result of find_btf(flat).
//
// The kernel's linker script (BTF in include/asm-generic/vmlinux.lds.h) puts .BTF_ids after .BTF,
// at the next word or page, with zeros between. All words of .BTF_ids (ids, counts, flags) are
// small. So the section is taken to begin at the first word after .BTF that is not zero, and to end
// at the first large word, or at most_of_ids.
Bytes find_btf_ids(Bytes flat, Bytes btf)
{
    constexpr size_t largest_page = 64 * 1024;
    if (btf.empty())
        return {};
    const ByteOrder order = *order_of_btf(btf);
    auto word_at = [&](size_t at) { return load<uint32_t>(flat.data() + at, order); };
    const auto end_of_btf = static_cast<size_t>(btf.data() + btf.size() - flat.data());
    size_t begin = (end_of_btf + 3) / 4 * 4;
    while (begin + 4 <= flat.size() && begin - end_of_btf < largest_page && word_at(begin) == 0)
        begin += 4;
    size_t end = begin;
    while (end + 4 <= flat.size() && end - begin < most_of_ids && word_at(end) <= btf::max_type_id)
        end += 4;
    return flat.subspan(std::min(begin, flat.size()), end - begin);
}

/// Searches memory for the banner: the text after "Linux version ", which begins with the release;
/// empty: not found.
std::string find_banner(Bytes memory)
{
    constexpr std::string_view begin = "Linux version ";
    const std::string_view text = as_text(memory);
    for (size_t at = text.find(begin); at != std::string_view::npos; at = text.find(begin, at + 1))
        if (std::string_view rest = text.substr(at + begin.size(), most_of_banner);
            !rest.empty() && rest[0] >= '0' && rest[0] <= '9')
            return std::string(rest.substr(0, rest.find_first_of(std::string_view("\n\0", 2))));
    return {};
}

/// Searches memory for the configuration that CONFIG_IKCONFIG puts there; empty: not found, or it
/// cannot be unpacked.
std::string find_config(Bytes memory, const Where &where)
{
    const std::string_view text = as_text(memory);
    const size_t begin = text.find("IKCFG_ST\x1f\x8b");
    if (begin == std::string_view::npos)
        return {};
    const size_t end = text.find("IKCFG_ED", begin);
    if (end == std::string_view::npos)
        return {};
    auto config = unpack(memory.subspan(begin + 8, end - begin - 8), most_of_text, where);
    return config ? std::string(as_text(*config)) : std::string();
}

/// Unpacks data that begin somewhere after code; nothing if none of the first 100 magic numbers
/// begins the right data, or if `left` does not suffice. The code may contain the bytes of a magic
/// number by chance; only the right data unpack to the size in the last four bytes. `left`: how
/// many bytes may be unpacked; failed attempts reduce it.
std::optional<std::vector<std::byte>> unpack_after_code(Bytes bytes, uint64_t &left,
                                                        const Where &where)
{
    constexpr size_t most_tries = 100;
    const Bytes tail = bytes.last(4);
    const auto size = load<uint32_t>(tail.data(), ByteOrder::little);
    size_t tries = 0;
    for (size_t at = 0; at + 8 < bytes.size() && tries < most_tries; ++at) {
        Bytes rest = bytes.subspan(at);
        if (!is_compressed(rest))
            continue;
        ++tries;
        if (!has(rest, 0, "\x1f\x8b"))
            rest = rest.first(rest.size() - 4);
        uint64_t unpacked = 0;
        auto out = unpack(rest, std::min<uint64_t>(size, left), where, &unpacked);
        if (out && out->size() == size)
            return *std::move(out);
        left -= std::min(left, unpacked);
    }
    return std::nullopt;
}

/// As unpack_after_code(), but zeros may follow the size, which can itself end in zeros.
Result<std::vector<std::byte>> unpack_before_zeros(Bytes bytes, uint64_t &left, const Where &where)
{
    constexpr size_t most_in_size = 2; // a size of 256 or more ends in at most two zero bytes
    const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
    const auto zeros = static_cast<size_t>(std::find_if_not(bytes.rbegin(), bytes.rend(), is_zero) -
                                           bytes.rbegin());
    for (size_t in_size = 0; in_size <= std::min(zeros, most_in_size); ++in_size) {
        const Bytes rest = bytes.first(bytes.size() - zeros + in_size);
        if (rest.size() < 4)
            continue;
        if (auto out = unpack_after_code(rest, left, where))
            return *std::move(out);
    }
    return fail(where, "has no compressed kernel after its code, or a damaged or too large one");
}

/// Unpacks data that may end with four bytes which Kbuild appends: the unpacked size. The length in
/// the header of a wrapping includes these bytes in some kernels, but not in others. `left`: as for
/// unpack_after_code().
Result<std::vector<std::byte>> unpack_sized(Bytes bytes, uint64_t &left, const Where &where)
{
    if (bytes.size() >= 8 && !has(bytes, 0, "\x1f\x8b")) { // gzip data end with the size anyway
        uint64_t unpacked = 0;
        auto shorter = unpack(bytes.first(bytes.size() - 4), left, where, &unpacked);
        const Bytes tail = bytes.last(4);
        if (shorter && shorter->size() == load<uint32_t>(tail.data(), ByteOrder::little))
            return shorter;
        left -= std::min(left, unpacked);
    }
    return unpack(bytes, left, where);
}

/// A kernel without wrappings and compression: ELF, BTF, or memory as it is when the kernel starts.
struct BareImage {
    Bytes bytes;
    std::shared_ptr<const void> owner; // keeps `bytes` alive
    std::string release = {};          // from the header of a wrapping
};

/// The place of an image's `bytes`. Offsets in unpacked bytes are not offsets in the file.
Where place_in(Bytes file, Bytes bytes, const Where &where)
{
    return bytes.data() == file.data() ? where : where.in("unpacked image");
}

/// Removes wrappings and compression. `owner` keeps the bytes of `file` alive. Errors: the contents
/// are damaged, exceed the limits, are of an unknown kind, or have no kernel.
Result<BareImage> bare_image(Bytes file, std::shared_ptr<const void> owner, const Where &where)
{
    BareImage image{file, std::move(owner)};
    uint64_t left = most_of_image;
    bool wrapped = false;
    for (unsigned depth = 0; depth <= most_nested; ++depth) {
        if (is_elf(image.bytes) || is_btf(image.bytes))
            return image;
        Payload payload{image.bytes};
        if (const Wrapping *wrapping = find_wrapping(image.bytes)) {
            if (!wrapping->open)
                return image;
            if (image.bytes.size() < wrapping->header)
                return fail(where, std::string(wrapping->name) + ": its header is cut off");
            payload = TRY(wrapping->open(image.bytes, place_in(file, image.bytes, where)));
            wrapped = true;
        } else if (!is_compressed(image.bytes)) {
            // In a uImage, for example, the kernel of some machines has no header of its own.
            if (wrapped && !find_banner(image.bytes).empty())
                return image;
            return fail(where, "is not a kernel image of a known form");
        }
        if (image.release.empty())
            image.release = std::move(payload.release);
        image.bytes = payload.bytes;
        if (!payload.after_code && !is_compressed(payload.bytes))
            continue;
        auto unpacked = payload.after_code ? unpack_before_zeros(payload.bytes, left, where)
                                           : unpack_sized(payload.bytes, left, where);
        if (!unpacked && payload.after_code && !find_banner(image.bytes).empty())
            return image; // the kernel follows the code without compression
        if (!unpacked)
            return fail(std::move(unpacked).error());
        auto kept = std::make_shared<const std::vector<std::byte>>(*std::move(unpacked));
        left -= kept->size();
        image.bytes = *kept;
        image.owner = kept;
    }
    return fail(where,
                strf("has more than %u compressions and wrappings around each other", most_nested));
}

/// Copies the sections and symbols that concern BTF from an ELF file.
class BinaryReader
{
public:
    explicit BinaryReader(const ElfImage &elf) : elf_(elf) {}

    Result<Binary> run()
    {
        out_.path = elf_.where.file;
        out_.bytes = elf_.file.size();
        out_.address_size = elf_.is64 ? 8 : 4;
        out_.order = elf_.order;
        for (uint32_t i = 1; i < elf_.sections.size(); ++i)
            TRY(pick_section(i));
        TRY(pick_symbols());
        auto by_offset = [](const SectionSymbol &a, const SectionSymbol &b) {
            return std::tie(a.offset, a.name) < std::tie(b.offset, b.name);
        };
        std::ranges::sort(out_.id_symbols, by_offset);
        std::ranges::sort(out_.percpu, by_offset);
        std::ranges::sort(out_.id_functions);
        return std::move(out_);
    }

private:
    Result<void> pick_section(uint32_t index)
    {
        const ElfSection &section = elf_.sections[index];
        Where where = elf_.where.in(section.name).at(0);
        if (section.head.sh_flags & SHF_COMPRESSED && section.name.starts_with(".BTF"))
            return fail(where, "is compressed, which no kernel reads");
        if (section.name == ".BTF") {
            if (is_object_btf(section.data))
                return fail(where, "is object BTF, which no kernel reads; btf-pahole or btf-module "
                                   "must make final BTF from it");
            // A file with only debug information has the section header, but not the contents.
            out_.has_btf = section.in_file();
            out_.btf = copy(section.data);
            out_.btf_where = where;
        } else if (section.name == ".BTF.base") {
            out_.base = copy(section.data);
            out_.base_where = where;
        } else if (section.name == ".BTF_ids") {
            out_.btf_ids = copy(section.data);
            ids_ = index;
        } else if (section.name == ".data..percpu") {
            out_.has_percpu = true;
            percpu_ = index;
        } else if (section.name == ".modinfo") {
            read_modinfo(section.data);
        }
        return {};
    }

    static bool is_object_btf(Bytes bytes)
    {
        auto parts = split_contributions(bytes, {});
        return parts && std::ranges::any_of(
                            *parts, [](const Contribution &part) { return !part.trailer.empty(); });
    }

    void read_modinfo(Bytes bytes)
    {
        constexpr std::string_view key = "vermagic=";
        const std::string_view text = as_text(bytes);
        for (size_t at = 0; at < text.size();) {
            const std::string_view entry = text.substr(at, text.find('\0', at) - at);
            if (entry.starts_with(key))
                out_.release = entry.substr(key.size(), entry.find(' ') - key.size());
            at += entry.size() + 1;
        }
    }

    Result<void> pick_symbols()
    {
        const uint32_t symtab = TRY(elf_.find_symtab());
        if (!symtab)
            return {};
        const SymbolTable symbols = TRY(SymbolTable::open(elf_, symtab));
        out_.has_symbols = symbols.size() > 1;
        // Bytes that may still be copied. Any number of symbols may share one long name.
        uint64_t names_left = 64 << 20;
        auto name_of = [&](const Symbol &symbol) {
            const std::string_view name = symbol.name();
            names_left -= std::min<uint64_t>(names_left, name.size());
            return std::string(names_left ? name : "");
        };
        std::set<std::string_view> functions; // named in .BTF_ids
        for (size_t i = 1; i < symbols.size(); ++i) {
            const Symbol symbol = symbols[i];
            const bool of_ids = ids_ && symbol.section == ids_;
            if (!of_ids && !(percpu_ && symbol.section == percpu_ && symbol.type == STT_OBJECT))
                continue;
            if (const IdSymbol id = parse_id_symbol(symbol.name()); of_ids && id.kind == "func")
                functions.insert(id.name);
            const uint64_t start = elf_.sections[symbol.section].head.sh_addr; // 0 in modules
            (of_ids ? out_.id_symbols : out_.percpu)
                .push_back({name_of(symbol), symbol.value - start, symbol.size});
        }
        for (size_t i = 1; i < symbols.size() && !functions.empty(); ++i)
            if (const Symbol symbol = symbols[i];
                symbol.type == STT_FUNC && symbol.home != Home::undefined &&
                functions.contains(symbol.name().substr(0, symbol.name().find('.'))))
                out_.id_functions.push_back(name_of(symbol));
        if (!names_left)
            return fail(elf_.place(symtab), "the names of symbols add up to more than 64 MB");
        return {};
    }

    const ElfImage &elf_;
    Binary out_;
    uint32_t ids_ = 0, percpu_ = 0; // indexes of sections; 0: none
};

/// An image without section headers.
Binary flat_binary(Bytes memory, const Where &where)
{
    Binary binary;
    binary.form = Binary::Form::flat;
    binary.bytes = memory.size();
    const Bytes btf = find_btf(memory);
    if (const auto order = order_of_btf(btf))
        binary.order = *order;
    binary.has_btf = !btf.empty();
    binary.btf = copy(btf);
    binary.btf_where = btf.empty() ? where : where.at(offset_in(memory, btf));
    binary.btf_ids = copy(find_btf_ids(memory, btf));
    return binary;
}

Binary raw_binary(Bytes file, const Where &where)
{
    Binary binary;
    binary.path = where.file;
    binary.form = Binary::Form::raw_btf;
    binary.bytes = file.size();
    binary.order = *order_of_btf(file);
    binary.has_btf = true;
    binary.btf = copy(file);
    binary.btf_where = where.at(0);
    return binary;
}

/// The sections that may have the banner and the configuration.
std::vector<Bytes> loaded_data(const ElfImage &elf)
{
    std::vector<Bytes> out;
    for (const ElfSection &section : elf.sections)
        if (section.head.sh_flags & SHF_ALLOC && !(section.head.sh_flags & SHF_EXECINSTR) &&
            section.name != ".BTF")
            out.push_back(section.data);
    return out;
}

} // namespace

bool is_binary(Bytes file)
{
    return is_elf(file) || is_btf(file) || find_wrapping(file);
}

std::string release_of(Bytes file)
{
    auto elf = read_elf(file, {});
    if (elf)
        for (Bytes bytes : loaded_data(*elf))
            if (std::string banner = find_banner(bytes); !banner.empty())
                return banner.substr(0, banner.find(' '));
    return {};
}

Result<Binary> read_module(Bytes file, const Where &where)
{
    if (is_btf(file))
        return raw_binary(file, where);
    std::vector<std::byte> unpacked;
    Where place = where;
    if (!is_elf(file)) {
        file = unpacked = TRY(unpack(file, most_of_module, where));
        place = where.in("unpacked module"); // offsets in it are not offsets in the file
    }
    auto elf = TRY(read_elf(file, place));
    return BinaryReader(elf).run();
}

Result<ImageFacts> read_image(Bytes file, std::shared_ptr<const void> owner, const Where &where)
{
    auto image = TRY(bare_image(file, std::move(owner), where));
    const Where bare = place_in(file, image.bytes, where);
    ImageFacts facts;
    std::vector<Bytes> memory = {image.bytes};
    if (is_btf(image.bytes)) {
        facts.binary = raw_binary(image.bytes, bare);
        memory.clear();
    } else if (is_elf(image.bytes)) {
        auto elf = TRY(read_elf(image.bytes, bare));
        if (elf.sections.size() >= 2) {
            facts.binary = TRY(BinaryReader(elf).run());
            memory = loaded_data(elf);
        } else { // section headers were stripped: search the whole file
            facts.binary = flat_binary(image.bytes, bare);
        }
    } else {
        facts.binary = flat_binary(image.bytes, bare);
    }
    facts.binary.path = where.file;
    facts.binary.name = "vmlinux";
    facts.release = std::move(image.release);
    for (Bytes bytes : memory) {
        if (facts.banner.empty())
            facts.banner = find_banner(bytes);
        if (facts.config.empty())
            facts.config = find_config(bytes, where);
    }
    if (facts.release.empty())
        facts.release = facts.banner.substr(0, facts.banner.find(' '));
    return facts;
}

} // namespace btflink::kernel
