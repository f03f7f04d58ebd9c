// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Splits `.BTF` sections into contributions, and reads and writes their link trailers. A section is
// a sequence of contributions, usually one per object that was linked. A contribution is a blob,
// followed by a link trailer unless the blob is final BTF or BTF of another tool. The link trailer
// has the data that btf-merge needs from an object in addition to the blob. common/FORMAT.md
// specifies the bytes; the structures below are the decoded form. String offsets and type ids refer
// to the blob.
#pragma once

#include "common/btf/btf.h"
#include "common/object_btf/features.h"
#include "common/object_btf/type_hash.h"

#include <optional>
#include <string_view>
#include <vector>

namespace btflink
{

/// The position and bytes of a contribution.
struct Contribution {
    uint64_t offset; // of the blob, in the section
    Bytes blob;
    Bytes trailer;           // empty if there is none, as in final BTF and BTF of another tool
    uint64_t trailer_offset; // in the section; 0 if there is no trailer
};

/// Splits a `.BTF` section or a raw BTF file into contributions. A trailer is recognised by its
/// magic. `where`: the position of the section. Errors: a malformed header of a blob; a blob or a
/// trailer that claims more bytes than exist; a trailer that claims too few.
Result<std::vector<Contribution>> split_contributions(Bytes section, const Where &where);

constexpr uint32_t trailer_magic = 0x4c465442; // bytes "BTFL" in little-endian files
constexpr uint16_t trailer_version = 1;
constexpr size_t least_trailer_length = 96; // bytes of the shortest header

/// Bits of LinkFunction::flags.
enum FunctionFlag : uint32_t {
    fn_unexpected_reg = 1u << 0,    // a parameter is in an unexpected register
    fn_optimized_param = 1u << 1,   // a parameter was optimised out or has no location
    fn_uncertain_loc = 1u << 2,     // a packed struct is passed on the stack
    fn_reordered = 1u << 3,         // parameters in another order than in the source
    fn_signature_changed = 1u << 4, // clang changed the signature (DW_CC_nocall)
    fn_has_address = 1u << 5,       // code in one piece
    fn_has_ranges = 1u << 6,        // code in several pieces (hot/cold split)
    fn_inline = 1u << 7,            // DW_AT_inline: abstract instance
    fn_external = 1u << 8,          // DW_AT_external
    fn_clang = 1u << 9,             // compiled by clang
};

/// Does the suffix of a function's symbol mark a part that a compiler split off the function? Such
/// a part is not a function.
constexpr bool is_split_part(std::string_view suffix)
{
    return suffix.find(".cold") != suffix.npos || suffix.find(".part") != suffix.npos;
}

/// An instance of a function: a candidate for a FUNC. Equal instances share a record if at most one
/// of them has code (common/FORMAT.md, 3, has the exact rule).
struct LinkFunction {
    StrOff name{};
    uint32_t flags = 0;
    uint64_t loose_hash = 0;
    uint32_t pool_index = 0; // index into the address pool; 0: none
    TypeId func{};           // the FUNC in the blob; void: see proto
    uint32_t proto = 0;      // if func is void: index in proto_words of {result, count,
                             // count x (name, type)}
    uint32_t instance = 0;   // of a true signature: index of its instance in LinkTrailer::functions
};

/// Bits of LinkVariable::flags.
enum VariableFlag : uint32_t {
    var_external = 1u << 0, // DW_AT_external
    var_declared = 1u << 1, // has a separate declaration (DW_AT_specification)
    var_weak = 1u << 2,     // the definition is a weak symbol
};

/// A variable that has a VAR in the blob.
struct LinkVariable {
    TypeId var{};            // the VAR in the blob
    StrOff section{};        // name of its section in the encoded file; "" if not known (common
                             // symbols)
    uint32_t pool_index = 0; // index into the address pool; 0: none
    uint32_t size = 0;       // bytes, by its type
    uint32_t flags = 0;
};

/// Bits of LinkTrailer::flags.
enum TrailerFlag : uint32_t {
    trailer_final_addresses = 1u << 0, // made from a linked image: `addresses` is set
    trailer_has_pool = 1u << 1,        // an address pool was written for the object
    trailer_by_compiler = 1u << 2,     // written by the gcc plugin, not made from DWARF
    trailer_no_dwarf = 1u << 3,        // the object does not have the DWARF of these types
};

struct LinkTrailer {
    uint32_t flags = 0;
    FeatureSet features;         // that the object was emitted with
    uint32_t emitter = 0;        // version of btflink: major * 10000 + minor * 100 + patch
    uint64_t object_id = 0;      // connects blob and pool; set by encode_trailer()
    StrOff source{};             // DW_AT_name of the unit, or of the first if LTO joined several
    TypeId plain_end{};          // lower ids: plain types; other ids: VAR, FUNC, DATASEC, and
                                 // the prototypes and tags that only they need
    uint32_t pool_entries = 0;   // entries of the pool after the object id; indices are 1..entries
    std::vector<Hash128> hashes; // stub hash of each type
    // In the order in which their DIEs end; a shared record is at the place of its first instance.
    std::vector<LinkFunction> functions;
    // With the feature true_signature: a second record of each instance with fn_reordered or
    // fn_signature_changed, with the parameters that are really passed.
    std::vector<LinkFunction> true_signatures;
    std::vector<uint32_t> proto_words;
    std::vector<LinkVariable> variables;
    std::vector<StrOff> ambiguous;   // struct/union names with several definitions in the object
    std::vector<uint64_t> addresses; // [pool_entries] if trailer_final_addresses
};

/// An upper bound of the bytes that follow a blob: padding and trailer. If trailer.hashes is not
/// complete yet, the result may be too small.
size_t trailer_room(const LinkTrailer &trailer);

/// The trailer's bytes, to be appended to `blob` after zeros up to a multiple of 8. Sets
/// trailer.object_id, a hash of blob and trailer.
std::vector<std::byte> encode_trailer(LinkTrailer &trailer, Bytes blob, ByteOrder order);

/// Decodes a trailer and checks it against its blob. `where`: the position of the trailer. Without
/// `keep_hashes`, LinkTrailer::hashes stays empty; trailer_hashes() returns the hashes undecoded.
Result<LinkTrailer> decode_trailer(Bytes bytes, const Btf &blob, const Where &where,
                                   bool keep_hashes = true);

/// The object id in a trailer that is not decoded yet; nothing if the trailer ends before the id.
std::optional<uint64_t> stated_object_id(Bytes trailer, ByteOrder order);
/// Computes the object id over blob and trailer, with the id field and the flag trailer_no_dwarf
/// zeroed.
uint64_t computed_object_id(Bytes trailer, Bytes blob);

/// The stub hashes in a trailer that decode_trailer() accepted: 16 bytes each, little-endian.
Bytes trailer_hashes(Bytes trailer, ByteOrder order);

/// What Btf::sampled() needs from a trailer, read before the trailer is decoded.
struct TrailerSamples {
    std::span<const uint32_t> samples;
    uint32_t types = 0, plain_end = 0; // number of types; LinkTrailer::plain_end
};
/// Returns no samples and zeros if the trailer has no table of samples, is cut off, is in another
/// byte order than the host's, or is misaligned.
TrailerSamples trailer_samples(Bytes trailer);

} // namespace btflink
