# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Writes DWARF by hand: turns entries described in Python into assembler text, which `gcc -c` assembles.

    from helpers.dwarf_writer import Die, Unit, assembly, expr, ref

    INT = Die('base_type', name='int', byte_size=4, encoding=5, label='int')
    text = assembly([Unit([INT, Die('pointer_type', type=ref('int'))])], version=5)

A Die has a tag, attributes and children. Tags and attributes are given by name, without DW_TAG_ and
DW_AT_, or by number. The value of an attribute decides its form:

    'text'           string, in place             True             flag_present
    5                udata                        -5               sdata
    ref('label')     ref4, to a Die(label=...)    expr(...)        exprloc
    loclist(...)     sec_offset                   form('data2', 5) data2, and any other of FORMS

Before DWARF 4, flag, block1 and data4 replace flag_present, exprloc and sec_offset.
A repeated attribute, or one with a number, goes into `extra`: Die(tag, extra=[(0x2139, ref('a'))]).
A label is valid in the whole file. A reference to a label of another unit is form('ref_addr', label).
An expression is a list of operations: expr('reg5'), expr(('addr', 'symbol'), ('plus_uconst', 8)).
A location list is loclist((begin, end, expression), ...), with addresses as assembler expressions. Before DWARF 5,
the entry ('-1', address, None) selects a base address.

A unit that uses forms such as strx, addrx or loclistx gets a table in .debug_str_offsets, .debug_addr or
.debug_loclists. From DWARF 5 on, it also gets the attribute DW_AT_str_offsets_base, DW_AT_addr_base or
DW_AT_loclists_base.

The writer checks only that labels exist, so that tests can write wrong DWARF. To do so, they use
Unit(length=...), Unit(version=...), Unit(abbrev_offset=...), numbers in place of labels, and assembler text,
Raw('\\t.byte 0x7f'), as a child, an operation, an entry of a location list, or a value: form('data4', Raw(...)).
"""
import copy
import re

TAGS = {
    'array_type': 0x01, 'class_type': 0x02, 'enumeration_type': 0x04, 'formal_parameter': 0x05,
    'lexical_block': 0x0b, 'member': 0x0d, 'pointer_type': 0x0f, 'reference_type': 0x10,
    'compile_unit': 0x11, 'string_type': 0x12, 'structure_type': 0x13, 'subroutine_type': 0x15,
    'typedef': 0x16, 'template_alias': 0x43, 'union_type': 0x17, 'unspecified_parameters': 0x18, 'inheritance': 0x1c,
    'inlined_subroutine': 0x1d, 'ptr_to_member_type': 0x1f, 'subrange_type': 0x21,
    'base_type': 0x24, 'const_type': 0x26, 'enumerator': 0x28, 'subprogram': 0x2e,
    'variable': 0x34, 'volatile_type': 0x35, 'restrict_type': 0x37, 'interface_type': 0x38,
    'module': 0x1e, 'namespace': 0x39, 'unspecified_type': 0x3b, 'partial_unit': 0x3c, 'imported_unit': 0x3d,
    'type_unit': 0x41, 'rvalue_reference_type': 0x42, 'call_site': 0x48, 'atomic_type': 0x47,
    'skeleton_unit': 0x4a, 'LLVM_annotation': 0x6000, 'GNU_annotation': 0x6001,
}

ATTRIBUTES = {
    'sibling': 0x01, 'location': 0x02, 'name': 0x03, 'byte_size': 0x0b, 'bit_offset': 0x0c,
    'bit_size': 0x0d, 'low_pc': 0x11, 'high_pc': 0x12, 'language': 0x13, 'comp_dir': 0x1b,
    'const_value': 0x1c, 'containing_type': 0x1d, 'inline': 0x20, 'producer': 0x25,
    'prototyped': 0x27, 'upper_bound': 0x2f, 'abstract_origin': 0x31, 'artificial': 0x34,
    'calling_convention': 0x36, 'lower_bound': 0x22, 'count': 0x37,
    'data_member_location': 0x38, 'declaration': 0x3c,
    'encoding': 0x3e, 'external': 0x3f, 'specification': 0x47, 'type': 0x49, 'ranges': 0x55,
    'signature': 0x69, 'data_bit_offset': 0x6b, 'linkage_name': 0x6e, 'str_offsets_base': 0x72, 'addr_base': 0x73,
    'dwo_name': 0x76, 'loclists_base': 0x8c, 'MIPS_linkage_name': 0x2007, 'GNU_annotation': 0x2139,
}

FORMS = {
    'addr': 0x01, 'block1': 0x0a, 'data1': 0x0b, 'data2': 0x05, 'data4': 0x06, 'data8': 0x07,
    'string': 0x08, 'flag': 0x0c, 'sdata': 0x0d, 'strp': 0x0e, 'udata': 0x0f, 'ref_addr': 0x10,
    'ref1': 0x11, 'ref2': 0x12, 'ref4': 0x13, 'ref8': 0x14, 'ref_udata': 0x15, 'indirect': 0x16,
    'sec_offset': 0x17, 'exprloc': 0x18, 'flag_present': 0x19, 'strx': 0x1a, 'addrx': 0x1b,
    'line_strp': 0x1f, 'ref_sig8': 0x20, 'implicit_const': 0x21, 'loclistx': 0x22, 'strx1': 0x25,
    'addrx1': 0x29,
    # Values of these forms can only be Raw.
    'block2': 0x03, 'block4': 0x04, 'block': 0x09, 'ref_sup4': 0x1c, 'strp_sup': 0x1d,
    'data16': 0x1e, 'rnglistx': 0x23, 'ref_sup8': 0x24, 'strx2': 0x26, 'strx3': 0x27,
    'strx4': 0x28, 'addrx2': 0x2a, 'addrx3': 0x2b, 'addrx4': 0x2c, 'GNU_addr_index': 0x1f01,
    'GNU_str_index': 0x1f02, 'GNU_ref_alt': 0x1f20, 'GNU_strp_alt': 0x1f21,
}

OPERATIONS = {
    'addr': 0x03, 'constu': 0x10, 'consts': 0x11, 'fbreg': 0x91, 'piece': 0x93,
    'call_frame_cfa': 0x9c, 'implicit_value': 0x9e, 'stack_value': 0x9f, 'addrx': 0xa1,
    'entry_value': 0xa3, 'plus_uconst': 0x23, 'form_tls_address': 0x9b, 'bit_piece': 0x9d,
    'GNU_push_tls_address': 0xe0, 'GNU_entry_value': 0xf3, 'deref': 0x06, 'plus': 0x22,
    **{f'lit{n}': 0x30 + n for n in range(32)}, **{f'reg{n}': 0x50 + n for n in range(32)},
    **{f'breg{n}': 0x70 + n for n in range(32)},
}
SIGNED_OPERAND = {'consts', 'fbreg'} | {f'breg{n}' for n in range(32)}

UNIT_TYPES = {'compile': 1, 'type': 2, 'partial': 3, 'skeleton': 4}
DATA = {1: '.byte', 2: '.2byte', 4: '.4byte', 8: '.8byte'}


def code(table, name):
    return name if isinstance(name, int) else table[name]


class form:
    """A value and its form."""

    def __init__(self, name, value=None):
        self.name, self.value = name, value


class expr(list):
    """A DWARF expression. Each operation is a name, (name, operand), or Raw."""

    def __init__(self, *operations):
        super().__init__(operations)


class loclist(list):
    """A location list. Each entry is (begin, end, expression), or Raw."""

    def __init__(self, *entries):
        super().__init__(entries)


def ref(label):
    return form('ref4', label)


def strp(text):
    return form('strp', text)


class Raw:
    """Assembler text in place of a Die, a value, an operation, or an entry of a location list."""

    def __init__(self, text):
        self.text = text


class Die:
    def __init__(self, tag, *children, label=None, extra=(), **attributes):
        self.tag = code(TAGS, tag)
        self.children = children
        self.label = label
        self.attributes = list(attributes.items()) + list(extra)


class Unit:
    """A unit. Its own entry has the `children` and `attributes`."""

    def __init__(self, children, version=None, kind='compile', tag=None, length=None,
                 abbrev_offset=None, address_size=8, signature=1, type_label=None, end=True,
                 **attributes):
        self.version, self.kind, self.length = version, kind, length
        self.abbrev_offset, self.address_size = abbrev_offset, address_size
        self.signature, self.type_label = signature, type_label
        self.end = end  # False: no zero byte after the last child
        attributes = {'name': 'unit.c', 'language': 0x1d, **attributes}
        self.root = Die(tag or kind + '_unit', *children, **attributes)


class Table:
    """Numbers distinct values in order of appearance."""

    def __init__(self):
        self.numbers = {}

    def number(self, key):
        return self.numbers.setdefault(key, len(self.numbers))

    def __iter__(self):
        return iter(self.numbers)

    def __len__(self):
        return len(self.numbers)


class Writer:
    """Writes one file. Each unit has its own abbreviation table."""

    def __init__(self):
        self.info, self.sections = [], []  # lines of .debug_info; of other sections, without strings
        self.strings = {'.debug_str': Table(), '.debug_line_str': Table()}
        self.labels = 0
        self.used = set()  # labels to which values refer

    def fresh(self):
        self.labels += 1
        return f'.L{self.labels}'

    # Values. They are appended to `out` or `info`; their forms are in the abbreviation.

    def string_ref(self, section, text):
        return f'.Lstr{section[7:]}_{self.strings[section].number(text)}'

    def counted(self, directive, out, body):
        begin, end = self.fresh(), self.fresh()
        out.append(f'\t{directive} {end} - {begin}')
        out.append(f'{begin}:')
        body()
        out.append(f'{end}:')

    def operations(self, out, operations):
        for op in operations:
            if isinstance(op, Raw):
                out.append(op.text)
                continue
            name, operand = op if isinstance(op, tuple) else (op, None)
            out.append(f'\t.byte {OPERATIONS[name]:#x}')
            if name == 'addr':
                out.append(f'\t{DATA[self.unit.address_size]} {operand}')
            elif name == 'addrx':
                index = operand if isinstance(operand, int) else self.addresses.number(operand)
                out.append(f'\t.uleb128 {index}')
            elif name in ('entry_value', 'GNU_entry_value'):
                self.counted('.uleb128', out, lambda: self.operations(out, operand))
            elif name == 'implicit_value':
                out.append(f'\t.uleb128 {len(operand)}')
                out.extend(f'\t.byte {byte}' for byte in operand)
            elif operand is not None:
                out.append(f'\t.{"s" if name in SIGNED_OPERAND else "u"}leb128 {operand}')

    def default_form(self, value):
        if isinstance(value, form):
            return value
        if value is True:
            return form('flag_present') if self.version >= 4 else form('flag', 1)
        if isinstance(value, str):
            return form('string', value)
        if isinstance(value, expr):
            return form('exprloc' if self.version >= 4 else 'block1', value)
        if isinstance(value, loclist):
            return form('sec_offset' if self.version >= 4 else 'data4', value)
        return form('sdata' if value < 0 else 'udata', value)

    def value(self, name, value):
        out = self.info
        if isinstance(value, Raw):
            out.append(value.text)
            return
        if name.startswith('ref') and isinstance(value, str):
            self.used.add(value)
            target = f'{label(value)} - {self.start}'
        else:
            target = value
        if name == 'indirect':
            out.append(f'\t.uleb128 {FORMS[value.name]:#x}')
            self.value(value.name, value.value)
        elif name in ('flag_present', 'implicit_const'):
            pass
        elif name in ('udata', 'sdata'):
            out.append(f'\t.{name[0]}leb128 {value}')
        elif name.startswith('data') or name == 'flag':
            value = self.loclist(value) if isinstance(value, loclist) else value
            out.append(f'\t{DATA[1 if name == "flag" else int(name[4:])]} {value}')
        elif name == 'addr':
            out.append(f'\t{DATA[self.unit.address_size]} {value}')
        elif name == 'string':
            out.append(f'\t.asciz {quoted(value)}')
        elif name in ('strp', 'line_strp'):
            section = '.debug_str' if name == 'strp' else '.debug_line_str'
            at = value if isinstance(value, int) else self.string_ref(section, value)
            out.append(f'\t.4byte {at}')
        elif name in ('strx', 'strx1'):
            index = value if isinstance(value, int) else self.str_offsets.number(value)
            out.append(f'\t{".byte" if name == "strx1" else ".uleb128"} {index}')
        elif name in ('addrx', 'addrx1'):
            index = value if isinstance(value, int) else self.addresses.number(value)
            out.append(f'\t{".byte" if name == "addrx1" else ".uleb128"} {index}')
        elif name == 'ref_addr':
            directive = DATA[self.unit.address_size if self.version == 2 else 4]
            out.append(f'\t{directive} {value if isinstance(value, int) else label(value)}')
        elif name == 'ref_udata':
            out.append(f'\t.uleb128 {target}')
        elif name == 'ref_sig8':
            out.append(f'\t.8byte {value}')
        elif name.startswith('ref'):
            out.append(f'\t{DATA[int(name[3:])]} {target}')
        elif name == 'sec_offset':
            at = self.loclist(value) if isinstance(value, loclist) else value
            out.append(f'\t.4byte {at}')
        elif name == 'loclistx':
            self.loclist(value)
            out.append(f'\t.uleb128 {len(self.loclists) - 1}')
        elif name in ('exprloc', 'block1'):
            directive = '.uleb128' if name == 'exprloc' else '.byte'
            self.counted(directive, out, lambda: self.operations(out, value))
        else:
            raise ValueError(f'{name}: the value is not Raw')

    def loclist(self, entries):
        """Writes a location list; returns its label."""
        at, out = self.fresh(), []
        self.loclists.append((at, out))
        out.append(f'{at}:')
        for entry in entries:
            if isinstance(entry, Raw):
                out.append(entry.text)
                continue
            begin, end, operations = entry
            if self.version >= 5:
                out.append('\t.byte 7')  # DW_LLE_start_end
            out.append(f'\t{DATA[self.unit.address_size]} {begin}, {end}')
            if operations is None:
                continue
            directive = '.uleb128' if self.version >= 5 else '.2byte'
            self.counted(directive, out, lambda ops=operations: self.operations(out, ops))
        if self.version >= 5:
            out.append('\t.byte 0')
        else:
            out.append(f'\t{DATA[self.unit.address_size]} 0, 0')
        return at

    # Entries.

    def die(self, die, has_end=True):
        if isinstance(die, Raw):
            self.info.append(die.text)
            return
        attributes = [(code(ATTRIBUTES, name), self.default_form(value))
                      for name, value in die.attributes]
        shape = (die.tag, bool(die.children),
                 tuple((name, value.name, value.value if value.name == 'implicit_const' else None)
                       for name, value in attributes))
        if die.label:
            self.info.append(f'{label(die.label)}:')
        self.info.append(f'\t.uleb128 {self.abbrevs.number(shape) + 1}')
        for _, value in attributes:
            self.value(value.name, value.value)
        for child in die.children:
            self.die(child)
        if die.children and has_end:
            self.info.append('\t.byte 0')

    def add_unit(self, unit, number, version):
        self.version = version if unit.version is None else unit.version
        self.unit = unit
        self.start = f'.Lunit{number}'
        self.abbrevs, self.str_offsets, self.addresses = Table(), Table(), Table()
        self.loclists = []  # (label, lines)
        bases = [('str_offsets_base', 'str_offsets', {'strx', 'strx1'}),
                 ('addr_base', 'addr', {'addrx', 'addrx1'}),
                 ('loclists_base', 'loclists', {'loclistx'})]
        used = set(forms_used(unit.root)) if self.version >= 5 else set()
        root = copy.copy(unit.root)
        root.attributes = root.attributes + [
            (attribute, form('sec_offset', f'.L{table}{number}'))
            for attribute, table, forms in bases if forms & used]

        end = self.fresh()
        length = f'{end} - {self.start} - 4' if unit.length is None else unit.length
        abbrevs = f'.Labbrevs{number}' if unit.abbrev_offset is None else unit.abbrev_offset
        self.info += [f'{self.start}:', f'\t.4byte {length}', f'\t.2byte {self.version}']
        if self.version >= 5:
            self.info += [f'\t.byte {UNIT_TYPES.get(unit.kind, unit.kind)}',
                          f'\t.byte {unit.address_size}', f'\t.4byte {abbrevs}']
            if unit.kind in ('type', 'skeleton'):
                self.info.append(f'\t.8byte {unit.signature}')
            if unit.kind == 'type':
                self.info.append(f'\t.4byte {label(unit.type_label)} - {self.start}')
        else:
            self.info += [f'\t.4byte {abbrevs}', f'\t.byte {unit.address_size}']
        self.die(root, unit.end)
        self.info.append(f'{end}:')
        self.tables(unit, number)

    def tables(self, unit, number):
        out = self.sections
        out += [section('.debug_abbrev'), f'.Labbrevs{number}:']
        for index, (tag, children, attributes) in enumerate(self.abbrevs):
            out += [f'\t.uleb128 {index + 1}, {tag:#x}', f'\t.byte {int(children)}']
            for name, form_name, constant in attributes:
                out.append(f'\t.uleb128 {name:#x}, {code(FORMS, form_name):#x}')
                if constant is not None:
                    out.append(f'\t.sleb128 {constant}')
            out.append('\t.byte 0, 0')
        out.append('\t.byte 0')
        if self.str_offsets:
            self.contribution('.debug_str_offsets', f'.Lstr_offsets{number}', '\t.2byte 5, 0',
                              [f'\t.4byte {self.string_ref(".debug_str", text)}'
                               for text in self.str_offsets])
        if self.addresses:
            self.contribution('.debug_addr', f'.Laddr{number}',
                              f'\t.2byte 5\n\t.byte {unit.address_size}, 0',
                              [f'\t{DATA[unit.address_size]} {symbol}'
                               for symbol in self.addresses])
        if self.loclists and self.version >= 5:
            base = f'.Lloclists{number}'
            lines = [f'\t.4byte {at} - {base}' for at, _ in self.loclists]
            for _, text in self.loclists:
                lines += text
            self.contribution('.debug_loclists', base, f'\t.2byte 5\n\t.byte {unit.address_size}, '
                              f'0\n\t.4byte {len(self.loclists)}', lines)
        elif self.loclists:
            out.append(section('.debug_loc'))
            for _, text in self.loclists:
                out += text

    def contribution(self, name, base, header, lines):
        """Writes a table that begins with its length. The label `base` is after the header."""
        begin, end = self.fresh(), self.fresh()
        self.sections += [section(name), f'\t.4byte {end} - {begin}', f'{begin}:', header,
                          f'{base}:', *lines, f'{end}:']

    def text(self):
        # Raw text may define labels, too.
        defined = set(re.findall(r'(?:^|\.set )(die\.\w+)[:,]', '\n'.join(self.info), re.M))
        missing = {name for name in self.used if label(name) not in defined}
        assert not missing, f'labels that are nowhere: {missing}'
        lines = [section('.debug_info'), *self.info, *self.sections]
        for name, table in self.strings.items():
            if table:
                lines.append(section(name, ',"MS",%progbits,1'))
            for text in table:
                lines += [f'{self.string_ref(name, text)}:', f'\t.asciz {quoted(text)}']
        return '\n'.join(lines) + '\n'


def label(name):
    """The symbol of an entry. It is an ordinary symbol, so that `nm` prints the entry's offset."""
    return 'die.' + re.sub(r'\W', '_', name)


def section(name, rest=',"",%progbits'):
    return f'\t.section {name}{rest}'


def quoted(text):
    return '"' + ''.join(c if c.isalnum() or c in ' _.-+:,/()$*' else
                         ''.join(f'\\{byte:03o}' for byte in c.encode()) for c in text) + '"'


def forms_used(die):
    """Yields the name of each form() in an entry and its descendants, and 'addrx' for the operation of this name."""
    stack = [die]
    while stack:
        item = stack.pop()
        if isinstance(item, Die):
            stack += [value for _, value in item.attributes] + list(item.children)
        elif isinstance(item, form):
            yield item.name
            stack.append(item.value)
        elif isinstance(item, (expr, loclist, list)):
            stack += item
        elif isinstance(item, tuple):
            if item[0] == 'addrx':
                yield 'addrx'
            stack += [part for part in item if isinstance(part, list)]


def assembly(units, version=5):
    """Assembler text of a file's debug sections. `version` is the default version of the units."""
    writer = Writer()
    for number, unit in enumerate(units):
        writer.add_unit(unit, number, version)
    return writer.text()
