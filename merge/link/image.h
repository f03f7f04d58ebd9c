// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What the link decided. Sections, function symbols, address pools and kfunc sets of the
// linked image; without one, of the inputs taken together as `ld -r` would combine them.
#pragma once

#include "common/object_btf/address_pool.h"
#include "merge/input/load_objects.h"

#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

namespace btflink::merge
{

/// Where something is after the link. In a linked image `value` is the final address and `section`
/// is 0: addresses alone tell things apart. In a relocatable one it is an offset in a section.
struct Address {
    uint32_t section = 0;
    uint64_t value = 0;
    bool operator==(const Address &) const = default;
};
constexpr uint32_t absolute_section = UINT32_MAX; // relocatable: SHN_ABS

enum class ImageKind : uint8_t {
    linked,      // ET_EXEC, ET_DYN: addresses are final
    relocatable, // ET_REL given as image: sections and offsets of that file
    combined,    // no image: the inputs one behind the other
};

struct OutputSection {
    std::string_view name;
    uint32_t type = 0;
    uint64_t flags = 0;
    uint64_t address = 0;
    uint64_t size = 0;
    bool is_datasec = false; // nothing but DATASECs of raw BTF is known of it
};

struct FunctionSymbol {
    std::string_view base; // name without what compilers append, which begins with a dot
    std::string_view name;
    Address address;
};

struct Image {
    ImageKind kind = ImageKind::combined;
    std::string name;             // of the image file; empty: none
    const ElfFile *elf = nullptr; // linked, relocatable
    bool has_symbols = false;     // linked, relocatable: there is a symbol table
    /// linked, relocatable: by section index. combined: one per name, in order of appearance;
    /// several where raw BTF has several DATASECs of it.
    std::vector<OutputSection> sections;
    /// STT_FUNC symbols that are defined, in symbol table order.
    std::vector<FunctionSymbol> functions;
    /// Flags of kfuncs by function name.
    std::unordered_map<std::string_view, uint32_t> kfuncs;

    /// linked: pools by object id, in link order.
    std::unordered_map<uint64_t, std::deque<PoolPart>> pools;
    /// relocatable: the same, as places in `elf`.
    std::unordered_map<uint64_t, std::deque<PlacedPool>> placed;
    /// linked: STT_OBJECT symbols at address 0, with their sections.
    std::vector<std::pair<std::string_view, uint32_t>> objects_at_zero;

    /// combined: where each input's sections begin, by input and section.
    std::vector<std::vector<std::optional<Address>>> bases;
    /// combined: which input's symbol (input, symbol) a global name stands for.
    std::unordered_map<std::string_view, std::pair<uint32_t, uint32_t>> globals;
    /// combined, by object; of raw inputs: where its DATASECs begin.
    std::vector<std::optional<std::unordered_map<TypeId, Address>>> datasecs;

    std::vector<SectionContents> kept; // what pools point into

    /// The symbol that defines what `symbol` of `input` names (combined). `input` becomes the input
    /// that it is in.
    Symbol definition(const std::vector<Input> &inputs, uint32_t &input, uint32_t symbol) const;
};

/// `image`: the file given as image, or null.
Result<Image> read_image(const Input *image, const std::vector<Input> &inputs,
                         const std::vector<Object> &objects);

} // namespace btflink::merge
