# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Reads the link trailers of object BTF (common/FORMAT.md, 3) without the code under test."""
import collections
import struct

from helpers import btf_reader

Function = collections.namedtuple('Function', 'name flags loose_hash pool_index')
# Flags of functions, from bit 0 on.
UNEXPECTED, OPTIMIZED, UNCERTAIN, REORDERED, CHANGED, ADDRESS, RANGES, INLINE = (1 << n for n in range(8))


class ObjectBtf:
    """The plain types, functions and variables of all contributions in an object's .BTF."""

    def __init__(self, path):
        self.types = collections.OrderedDict()   # stub hash -> 'KIND name'; only plain types
        self.functions = []
        self.variables = collections.Counter()   # (name, section, size, stub hash of the type)
        elf = btf_reader.Elf(path)
        section = elf.get('.BTF')
        self.data = section.data if section else b''
        self.order = elf.order
        # Names of functions that have an .isra or .constprop clone.
        self.cloned = {name.split('.')[0] for name in elf.symbol_names()
                       if '.isra' in name or '.constprop' in name}
        self.has_dwarf = any(s.name in ('.debug_info', '.zdebug_info') for s in elf.sections)
        at = 0
        while at < len(self.data):
            at = self._contribution(at)

    def _unpack(self, form, at):
        return struct.unpack_from(self.order + form, self.data, at)

    def _name(self, offset):
        begin = self.strings + offset
        return self.data[begin:self.data.index(b'\0', begin)].decode()

    def _table(self, trailer, field, entry):
        offset, count = self._unpack('II', trailer + field)
        return [trailer + offset + n * entry for n in range(count)]

    def _contribution(self, at):
        header, types_at, types_size, strings, strings_size = self._unpack('IIIII', at + 4)
        self.strings = at + header + strings
        end = at + header + max(types_at + types_size, strings + strings_size)
        trailer = (end + 7) // 8 * 8
        magic, _, _, length = self._unpack('IHHI', trailer)
        assert magic == 0x4c465442, 'no link trailer'
        plain_end, = self._unpack('I', trailer + 32)
        heads = list(self._heads(at + header + types_at, types_size))
        hashes = self._table(trailer, 40, 16)
        for number, place in enumerate(hashes[:plain_end - 1]):
            self.types[self.data[place:place + 16]] = heads[number][0]
        for place in self._table(trailer, 48, 32):
            name, flags, loose, pool = self._unpack('IIQI', place)
            self.functions.append(Function(self._name(name), flags, loose, pool))
        for place in self._table(trailer, 64, 24):
            var, section, _, size = self._unpack('IIII', place)
            head, target = heads[var - 1]
            place = hashes[target - 1]
            self.variables[head[4:], self._name(section), size, self.data[place:place + 16].hex()] += 1
        return trailer + length

    def _heads(self, at, size):
        end = at + size
        while at < end:
            name, info, target = self._unpack('III', at)
            kind = btf_reader.KINDS[info >> 24 & 127]
            fixed, each = btf_reader.TAIL.get(kind, (0, 0))
            yield f'{kind} {self._name(name)}', target
            at += 12 + fixed + each * (info & 0xffffff)
