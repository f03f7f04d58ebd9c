// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What the linker decided: the sections, function symbols, address pools and kfunc sets of the
// image, or, without an image, of the inputs as combined by `ld -r`. Also what follows from
// these: where each object's variables and functions are, and which objects are missing.
#pragma once

#include "common/object_btf/address_pool.h"
#include "merge/input/load_objects.h"

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace btflink::merge
{

/// A place after the link. In a linked image `value` is the final address and `section` is 0. In a
/// relocatable image, and in combined inputs, `value` is an offset in `section`.
struct Address {
    uint32_t section = 0;
    uint64_t value = 0;
    bool operator==(const Address &) const = default;
};
/// Address::section of an absolute symbol; in combined inputs, also of a symbol in a section that
/// is not allocated.
constexpr uint32_t absolute_section = UINT32_MAX;

enum class ImageKind : uint8_t {
    linked,      // ET_EXEC, ET_DYN: addresses are final
    relocatable, // ET_REL given as image: sections and offsets of that file
    combined,    // no image: the inputs, laid out as by `ld -r`
};

struct FunctionSymbol {
    std::string_view base; // name without the suffix that compilers append (".isra.0")
    std::string_view name;
    Address address;
};

/// If only some kinds of images have a member, its comment begins with these kinds.
struct Image {
    ImageKind kind = ImageKind::combined;
    std::string name;             // of the image file; empty: none
    const ElfFile *elf = nullptr; // linked, relocatable
    bool has_symbols = false;     // linked, relocatable: there is a symbol table
    /// linked, relocatable: by section index. combined: one per name, in order of appearance;
    /// several if a raw blob has several DATASECs of one name.
    std::vector<ElfSection> sections;
    /// combined: sections from this one on are known only from DATASECs of raw BTF.
    size_t first_datasec = SIZE_MAX;
    /// Defined STT_FUNC symbols, in symbol table order, without parts that a compiler split off
    /// (".cold", ".part"). combined: in input order; of a global name, only the symbol that
    /// defines it.
    std::vector<FunctionSymbol> functions;
    /// Flags of kfuncs by function name.
    std::unordered_map<std::string_view, uint32_t> kfuncs;

    /// linked: pools by object id, in link order.
    std::unordered_map<uint64_t, std::deque<PoolPart>> pools;
    /// relocatable: pools by object id, in link order. Their symbols are those of `elf`.
    std::unordered_map<uint64_t, std::deque<RelocatablePool>> relocatable_pools;
    /// linked: names and sections of STT_OBJECT symbols at address 0; sorted.
    std::vector<std::pair<std::string_view, uint32_t>> objects_at_zero;

    /// combined: where each input's sections begin, by input and section; nothing if not allocated.
    std::vector<std::vector<std::optional<Address>>> bases;
    /// combined: the {input, symbol} that defines each global name.
    std::unordered_map<std::string_view, std::pair<uint32_t, uint32_t>> globals;
    /// combined: where the DATASECs of objects from raw inputs begin, by object.
    std::vector<std::optional<std::unordered_map<TypeId, Address>>> datasecs;

    std::vector<SectionContents> kept; // linked: what `pools` points into

    /// combined: the symbol that defines `symbol` of `input`; `symbol` itself if it is local or
    /// defined nowhere. Sets `input` to the input with the result.
    Symbol definition(const std::vector<Input> &inputs, uint32_t &input, uint32_t symbol) const;
};

/// `image`: the image file, or null. Error: a section with address pools or kfunc sets, or the
/// relocations of pools, cannot be read.
Result<Image> read_image(const Input *image, const std::vector<Input> &inputs,
                         const std::vector<Object> &objects);

// resolve_addresses.cc: the positions of each object's variables and functions in the image.

struct Location {
    enum State : uint8_t {
        unknown,
        discarded, // by the linker, or in no allocated section
        undefined, // declared but defined nowhere
        common,    // gets its address at the final link
        known,     // 0 in a linked image may mean "discarded"; the caller must decide
    };
    State state = unknown;
    Address address; // if known
};

struct Locations {
    std::vector<std::vector<Location>> pool;      // [object][pool index - 1]
    std::vector<std::vector<Location>> variables; // [object][variable]
    // By object: its pool is not in the image, which has pools of other objects. For example, the
    // object is an archive member that was not needed.
    std::vector<bool> not_linked;
    uint32_t objects_without_pool = 0; // with an image: linked objects that no pool locates
    /// Objects of other tools, and objects from raw object BTF, whose variables are located by
    /// symbols, because symbols contradict the offsets in their DATASECs.
    std::vector<size_t> other_offsets;
};

Locations locate(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                 const Image &image);

// missing_objects.cc

/// Does the image have an address pool of any object?
bool has_pools(const Image &image);

// Objects that were linked into the image but are not among the inputs. Their address pools in the
// image show them.

struct MissingObjects {
    uint32_t count = 0;
    /// Symbols of some functions and variables of one such object; in a linked image, of the first
    /// one in link order.
    std::vector<std::string> names;
    std::string_view source; // of the same object, if a local symbol shows it
};

MissingObjects find_missing(const std::vector<Object> &objects, const Image &image);

} // namespace btflink::merge
