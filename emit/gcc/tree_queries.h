// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Small questions about gcc's trees. Include gcc_headers.h first.
#pragma once

#include <cstdint>

namespace btflink::emit::gcc
{

/// Does DW_TAG_base_type describe it?
inline bool is_base_type(tree type)
{
    switch (TREE_CODE(type)) {
    case INTEGER_TYPE:
    case REAL_TYPE:
    case FIXED_POINT_TYPE:
    case COMPLEX_TYPE:
    case BOOLEAN_TYPE:
#if GCCPLUGIN_VERSION_MAJOR >= 14
    case BITINT_TYPE:
#endif
        return true;
    default:
        return false;
    }
}

// Names may be null.

inline const char *text_of(tree identifier)
{
    return identifier ? IDENTIFIER_POINTER(identifier) : nullptr;
}
inline const char *decl_name(tree decl)
{
    return text_of(DECL_NAME(decl));
}
inline const char *type_name(tree type)
{
    tree name = TYPE_NAME(type);
    if (name && TREE_CODE(name) == TYPE_DECL)
        name = DECL_NAME(name);
    return text_of(name);
}

/// -1 if `value` is not a constant, or does not fit.
inline int64_t constant_value(tree value)
{
    return value && TREE_CODE(value) == INTEGER_CST && tree_fits_shwi_p(value) ? tree_to_shwi(value)
                                                                               : -1;
}

/// 0 if the size is known only at run time.
inline uint64_t size_in_bytes_of(tree type)
{
    const HOST_WIDE_INT size = int_size_in_bytes(type);
    return size > 0 ? static_cast<uint64_t>(size) : 0;
}

/// The declared type of a bitfield; DECL_BIT_FIELD_TYPE is null for all other fields.
inline tree field_type(tree field)
{
    return DECL_BIT_FIELD_TYPE(field) ? DECL_BIT_FIELD_TYPE(field) : TREE_TYPE(field);
}

/// Qualifiers of `decl` itself, to be added to those of its type.
inline int decl_quals(tree decl)
{
    const bool is_const = TREE_READONLY(decl) && TREE_CODE(TREE_TYPE(decl)) != REFERENCE_TYPE;
    return (is_const ? TYPE_QUAL_CONST : 0) | (TREE_THIS_VOLATILE(decl) ? TYPE_QUAL_VOLATILE : 0);
}

} // namespace btflink::emit::gcc
