// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Opens the inputs, and finds each object's contribution, relocations and address pool in them.
#pragma once

#include "common/elf/elf_image.h"
#include "common/object_btf/address_pool.h"
#include "common/object_btf/link_trailer.h"

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace btflink::merge
{

// archive.cc

bool is_archive(Bytes bytes);

/// A member of an archive.
struct ArchiveMember {
    std::string name;
    Bytes bytes;      // inside the archive's bytes
    std::string path; // thin archives: the member's file; `bytes` is empty
};

/// In archive order. Errors: a malformed archive; a name of more than 4096 characters.
Result<std::vector<ArchiveMember>> archive_members(Bytes bytes, const Where &where);

// open.cc: opens the files on the command line, and expands response files and archives. The inputs
// are in link order.

/// An ELF file with its symbols.
struct ElfFile : ElfImage {
    SymbolTable symbols; // .symtab; empty if there is none

    /// `bytes` must outlive the result.
    static Result<ElfFile> parse(Bytes bytes, const Where &where);
    /// Made by a compiler, assembler or `ld -r`: no addresses yet.
    bool is_relocatable() const { return head.e_type == ET_REL; }
};

struct Input {
    Where where;                         // file, or "archive(member)"
    std::shared_ptr<const void> storage; // keeps `bytes` alive
    Bytes bytes;
    std::optional<ElfFile> elf; // unset for raw BTF
    bool is_member = false;     // of an archive; the link takes only members that it needs
};

struct Inputs {
    std::vector<Input> list;
    std::vector<std::string> files;   // opened: inputs, archives, members of thin archives
    std::vector<std::string> lists;   // response files that named them
    std::vector<std::string> ignored; // archive members that are neither ELF nor BTF
};

/// Opens one ELF or raw BTF file; other files, such as archives, are an error.
Result<Input> open_input(const std::string &path);

/// Opens all of `names`. "@file" stands for the names in that file, separated by white space;
/// quotes ('...', "...") and backslashes protect white space. An archive stands for its members;
/// those that are neither ELF nor BTF nor archives are ignored. Errors: those of
/// unfold_response_files(); a file that cannot be read; malformed ELF or archives; a file of
/// `names` that is neither ELF nor BTF nor an archive; archives that are nested too deeply, or that
/// open a file too often.
Result<Inputs> open_inputs(const std::vector<std::string> &names, unsigned threads);

// find_contributions.cc: address pools. In a linked file they contain addresses; in a relocatable
// file, each entry has a relocation.

/// A section with a name for pools (is_pool_section()), and the pools in it, if any.
struct PoolSection {
    uint32_t section;
    SectionContents contents; // what `parts` point into
    std::vector<PoolPart> parts;
};
/// Error: such a section cannot be decompressed.
Result<std::vector<PoolSection>> pool_sections(const ElfFile &elf);

/// An address as an input states it.
struct UnresolvedAddress {
    enum Kind : uint8_t {
        none,    // unknown
        symbol,  // a symbol of the input plus addend
        named,   // an offset in the section that the DATASEC is named after
        address, // the lower 32 bits of a final address
    };
    Kind kind = none;
    uint32_t symbol_index = 0;
    int64_t addend = 0; // or the offset or address

    bool operator==(const UnresolvedAddress &) const = default;
};

/// An address pool of a relocatable file. Entry i is addresses[i - 1].
struct RelocatablePool {
    uint64_t object_id;
    std::vector<UnresolvedAddress> addresses;
};

/// All address pools of a relocatable file, in section order. Errors: those of pool_sections() and
/// AbsoluteRelocs.
Result<std::vector<RelocatablePool>> relocatable_pools(const ElfFile &elf);

// find_contributions.cc: the position of each object's BTF, and its relocations and address pool.

/// One object's part of an input, before it is parsed.
struct InputPart {
    uint32_t input; // index into Inputs::list
    Where where;    // of the blob
    Contribution bytes;
    bool has_relocs = false;             // the file is relocatable, and the section has some
    std::span<const Reloc> relocs;       // those of the blob, sorted by offset in the section
    std::vector<UnresolvedAddress> pool; // by entry; empty: none, or the file is not relocatable
};

/// All objects of one input, and what they point into.
struct InputParts {
    std::vector<InputPart> list;
    std::vector<SectionContents> contents;
    std::deque<std::vector<Reloc>> relocs;
};

/// The objects of each input. Error: the first malformed input, in link order.
Result<std::vector<InputParts>> find_contributions(const std::vector<Input> &inputs,
                                                   unsigned threads);

} // namespace btflink::merge
