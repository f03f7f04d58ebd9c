// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A text form of BTF, similar to the output of `bpftool btf dump format raw`, and its parser. Tests
// use this text for inputs and expected results. The text has all types of a blob with their names,
// but not the blob's header, byte order, layout section, or order of strings. It can also express
// BTF that kernels would refuse.
//
//     [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
//     [2] PTR '(anon)' type_id=1
//     [3] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=4
//     [4] STRUCT 's' size=16 vlen=2 kflag=1
//     	'flags' type_id=1 bits_offset=0 bitfield_size=3
//     	'next' type_id=5 bits_offset=64
//     [5] PTR '(anon)' type_id=4
//     [6] ENUM 'e' size=4 encoding=UNSIGNED vlen=1
//     	'A' val=1
//     [7] FWD 'f' fwd_kind=union
//     [8] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1
//     	'p' type_id=2
//     [9] FUNC 'run' type_id=8 linkage=static
//     [10] VAR 'v' type_id=1 linkage=global
//     [11] DATASEC '.data' size=4 vlen=1
//     	type_id=10 offset=0 size=4
//     [12] DECL_TAG 'tag' type_id=4 component_idx=-1
//
// TYPEDEF, CONST, VOLATILE, RESTRICT and TYPE_TAG look like PTR, UNION looks like STRUCT, ENUM64
// like ENUM; FLOAT has only a size. The encoding of ENUM and ENUM64 and the fwd_kind of FWD are the
// kflag; the linkage of FUNC is its vlen. Printed only if they are not 0: kflag=, bitfield_size=,
// and, for kinds for which they have no meaning, vlen= and size= (the third word of ARRAY and FWD).
// An encoding or linkage without a name is a number. '(anon)' is the empty name, and so is '' in a
// text that is parsed. In names, \' stands for a quote, \\ for a backslash, and \xHH for a control
// character or any other byte except NUL.
#pragma once

#include "common/btf/btf.h"

#include <string>
#include <string_view>
#include <vector>

namespace btflink
{

/// The types of `btf` without its base. Each type is a line, and each of its elements a further
/// line.
std::string btf_to_text(const Btf &btf);

/// The type `id`, which may be in the base, in the form of btf_to_text().
std::string type_to_text(const Btf &btf, TypeId id);

/// The blob that the text describes. Types in the text must be numbered in order, from 1, or from
/// the first id after `base`. References are not checked (Btf::parse() does that). Fields can be in
/// any order. Without vlen=, vlen is the number of elements that follow. '#' outside quotes begins
/// a comment. Leading white space is ignored. In errors, the offset is the number of the line,
/// from 1.
Result<std::vector<std::byte>> text_to_btf(std::string_view text, const Where &where,
                                           ByteOrder order = host_order, const Btf *base = nullptr);

} // namespace btflink
