# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Case, the class of all cases of hand-written DWARF, and functions for the DWARF that most cases need."""
import dataclasses

from helpers.dwarf_writer import Die, Raw, Unit, expr, form, loclist, ref, strp

__all__ = ['ATE', 'BOTH', 'Case', 'Die', 'INT', 'INT_LINE', 'Raw', 'Unit', 'array', 'base', 'expr',
           'form', 'loclist', 'member', 'pointer', 'ref', 'strp', 'struct', 'typedef', 'unit']

BOTH = ('x86_64', 'aarch64')
INT_LINE = 'INT int size 4 bits 32 signed'


class ATE:
    address, boolean, complex_float, float, signed, signed_char, unsigned, unsigned_char = range(1, 9)
    UTF = 0x10


@dataclasses.dataclass
class Case:
    name: str
    units: list
    lines: list = None  # all lines that btf-lines must print; []: nothing is emitted
    some: list = dataclasses.field(default_factory=list)  # lines that btf-lines must print, among others
    count: dict = dataclasses.field(default_factory=dict)  # pattern -> number of lines that match
    order: list = None  # 'KIND name' of all types, by id
    skipped: dict = dataclasses.field(default_factory=dict)  # reason -> count: all that --stats shows as skipped
    error: str = None  # pattern of the expected error, without the file name; {LABEL}: the offset of DIE LABEL
    said: str = ''  # the same for a warning
    assembly: str = ''  # assembler text of variables and functions
    emit: list = dataclasses.field(default_factory=list)  # options of btf-emit
    versions: tuple = (4, 5)
    machines: tuple = ('x86_64',)


def unit(*children, **attributes):
    return [Unit(children, **attributes)]


def base(name, size, encoding, **more):
    more.setdefault('label', name)
    return Die('base_type', name=name, byte_size=size, encoding=encoding, **more)


INT = base('int', 4, ATE.signed)


def pointer(to=None, *children, **more):
    return Die('pointer_type', *children, **more, **({'type': ref(to)} if to else {}))


def typedef(name, to=None, *children, **more):
    more.setdefault('label', name)
    return Die('typedef', *children, name=name, **more, **({'type': ref(to)} if to else {}))


def struct(name, size, *children, **more):
    more.setdefault('label', name)
    names = {'name': name} if name else {}
    return Die('structure_type', *children, byte_size=size, **names, **more)


def member(name, type, location=0, *children, **more):
    names = {'name': name} if name else {}
    return Die('member', *children, type=ref(type), data_member_location=location, **names, **more)


def array(of, *dimensions, **more):
    """An array type. Each dimension is a number of elements, or a dict of its subrange's attributes."""
    return Die('array_type', *[Die('subrange_type', **(d if isinstance(d, dict) else {'count': d}))
                               for d in dimensions], type=ref(of), **more)
