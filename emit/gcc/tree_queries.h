// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a tree of gcc says in one word. To be included behind gcc's headers.
#pragma once

#include <cstdint>

namespace btflink::emit::gcc
{

inline bool is_base(tree type)
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

inline const char *text_of(tree identifier)
{
    return identifier ? IDENTIFIER_POINTER(identifier) : nullptr;
}

/// The name of a decl or a type, where it has one.
inline const char *name_of(tree decl)
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

/// Constant, or -1.
inline int64_t constant(tree value)
{
    return value && TREE_CODE(value) == INTEGER_CST && tree_fits_shwi_p(value) ? tree_to_shwi(value)
                                                                               : -1;
}

/// 0 if it is known at run time only.
inline uint64_t bytes_of(tree type)
{
    const HOST_WIDE_INT size = int_size_in_bytes(type);
    return size > 0 ? static_cast<uint64_t>(size) : 0;
}

/// What the declaration of `decl` adds to its type.
inline int quals_of_decl(tree decl)
{
    return (TREE_READONLY(decl) && TREE_CODE(TREE_TYPE(decl)) != REFERENCE_TYPE ? TYPE_QUAL_CONST
                                                                                : 0) |
           (TREE_THIS_VOLATILE(decl) ? TYPE_QUAL_VOLATILE : 0);
}

} // namespace btflink::emit::gcc
