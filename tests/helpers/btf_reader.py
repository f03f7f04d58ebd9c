# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""A small reader of BTF and ELF for tests, independent of the code under test."""
import struct

KINDS = ['', 'INT', 'PTR', 'ARRAY', 'STRUCT', 'UNION', 'ENUM', 'FWD', 'TYPEDEF', 'VOLATILE', 'CONST',
         'RESTRICT', 'FUNC', 'FUNC_PROTO', 'VAR', 'DATASEC', 'FLOAT', 'DECL_TAG', 'TYPE_TAG', 'ENUM64']
# Bytes after the first 12 of each type: a fixed number, and a number per element. The other kinds have none.
TAIL = {'INT': (4, 0), 'ARRAY': (12, 0), 'STRUCT': (0, 12), 'UNION': (0, 12), 'ENUM': (0, 8),
        'FUNC_PROTO': (0, 8), 'VAR': (4, 0), 'DATASEC': (0, 12), 'DECL_TAG': (4, 0), 'ENUM64': (0, 12)}

ET_REL = 1
SHT_PROGBITS, SHT_NOBITS, SHT_BTF = 1, 8, 0x80425446
SHF_EXCLUDE = 0x80000000


def types(blob):
    """Yields (kind, name, size or type, further words) of each type, in the order of ids. `blob` must be
    little-endian BTF with a header of 24 bytes, and without a link trailer."""
    magic, version, _, header, types_at, types_size, strings, strings_size = \
        struct.unpack_from('<HBBIIIII', blob)
    assert (magic, version, header) == (0xeb9f, 1, 24), 'not a BTF header'
    assert len(blob) == header + max(types_at + types_size, strings + strings_size), 'wrong length'
    at = header + types_at
    while at < header + types_at + types_size:
        name, info, size_or_type = struct.unpack_from('<III', blob, at)
        kind = KINDS[info >> 24 & 127]
        fixed, each = TAIL.get(kind, (0, 0))
        words = (fixed + each * (info & 0xffffff)) // 4
        begin = header + strings + name
        text = blob[begin:blob.index(b'\0', begin)].decode()
        yield kind, text, size_or_type, struct.unpack_from(f'<{words}I', blob, at + 12)
        at += 12 + words * 4


def type_heads(blob):
    """'KIND name' of each type."""
    return [f'{kind} {name}'.rstrip() for kind, name, *_ in types(blob)]


class Section:
    def __init__(self, fields, data):
        (self.name, self.type, self.flags, self.address, self.offset, self.size, self.link,
         self.info, self.align, self.entsize) = fields
        self.data = data


class Elf:
    """Sections of an ELF file."""

    def __init__(self, path):
        with open(path, 'rb') as file:
            data = file.read()
        assert data[:4] == b'\x7fELF', f'{path} is not ELF'
        self.bits = 32 * data[4]
        self.order = order = '<' if data[5] == 1 else '>'
        self.type, self.machine = struct.unpack_from(order + 'HH', data, 16)
        wide = self.bits == 64
        table, = struct.unpack_from(order + ('Q' if wide else 'I'), data, 40 if wide else 32)
        size, count, names = struct.unpack_from(order + 'HHH', data, 58 if wide else 46)
        header = order + ('IIQQQQIIQQ' if wide else 'IIIIIIIIII')
        headers = [struct.unpack_from(header, data, table + i * size)
                   for i in range(count or 1)] if table else []
        if headers and count == 0:  # more than the ELF header can count: the first section's size is the number
            count = headers[0][5]
            headers = [struct.unpack_from(header, data, table + i * size) for i in range(count)]
        if names == 0xffff:
            names = headers[0][6]
        self.sections = []
        for fields in headers:
            begin = headers[names][4] + fields[0]
            name = data[begin:data.index(b'\0', begin)].decode()
            body = b'' if fields[1] in (0, SHT_NOBITS) else data[fields[4]:fields[4] + fields[5]]
            self.sections.append(Section((name,) + fields[1:], body))

    def all(self, name):
        return [s for s in self.sections if s.name == name]

    def get(self, name):
        found = self.all(name)
        return found[0] if found else None

    def symbol_names(self):
        table = self.get('.symtab')
        if table is None:
            return
        names = self.sections[table.link].data
        for at in range(0, len(table.data), table.entsize):
            begin, = struct.unpack_from(self.order + 'I', table.data, at)
            yield names[begin:names.index(b'\0', begin)].decode()
