# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Cases for units: kinds, versions, languages, files with several units, references between units."""
from helpers.dwarf_parts import *  # pylint: disable=wildcard-import,unused-wildcard-import

C11, RUST, ASM, CXX, GO = 0x1d, 0x1c, 0x8001, 0x04, 0x16
# Patterns of the warnings about units that are not read.
PARTIAL = '1 partial-unit is not read, so types are void: use --reader=auto'
TYPE = ('1 type-unit is not read, so types are lost: use --reader=auto\n'
        r'btf-emit: WARNING: case\.o: 1 type-unit-reference is not read, so types are void: .*')
SPLIT = ('1 split-dwarf-unit is not read, so types, functions and variables are missing: '
         'no .dwo or .dwp file has them')
UNKNOWN = ('1 unknown-unit is not read, so types, functions and variables are missing: '
           "a unit type, or the tag of a unit's first entry, is unknown")
INT2 = base('int', 4, ATE.signed, label='int2')  # for a second unit with an int, as labels are valid in the whole file
LONG = base('long', 8, ATE.signed)
LONG_LINE = 'INT long size 8 bits 64 signed'
FAST = ['--reader=fast']


def note(value):
    """Assembler text of the kernel's ELF note about link-time optimisation: `value` is 1 if the kernel was
    built with this optimisation, otherwise 0."""
    return ('\t.section .note.Linux,"a",%note\n\t.balign 4\n\t.4byte 6, 4, 0x101\n'
            f'\t.asciz "Linux"\n\t.balign 4\n\t.4byte {value}\n')


def raw_unit(section, *rest):
    """Assembler text of a unit of DWARF 4 in this section. The unit has `rest` after its header."""
    return '\n\t'.join([f'\t.section {section},"",%progbits', '.4byte 1f - 0f', '0: .2byte 4', '.4byte 0', '.byte 8',
                        *rest]) + '\n1:\n'


# Two type units without entries: the headers continue with the signature and the type's offset.
TYPE_UNITS = ''.join(raw_unit('.debug_types', f'.8byte {i}', '.4byte 23') for i in (1, 2))


def pointer_across_units(label, **more):
    """A pointer whose type may be in another unit: ref_addr allows this."""
    return Die('pointer_type', type=form('ref_addr', label), **more)


def two_units(name, value, *lines, order):
    """A case with a unit that refers to a later unit, and with note(value)."""
    return Case(name, [Unit([pointer_across_units('int'), LONG]), Unit([INT, Die('pointer_type',
                                                                    type=ref('int'))])],
                lines=list(lines), assembly=note(value), order=order)


# Assembler text of a value of each form, for attributes that are not read. implicit_const is missing: its value is in
# the abbreviation.
VALUES = {
    'addr': '.8byte 0', 'block1': '.byte 2, 9, 9', 'block2': '.byte 2, 0, 9, 9',
    'block4': '.byte 2, 0, 0, 0, 9, 9', 'block': '.byte 2, 9, 9', 'data1': '.byte 9',
    'data2': '.2byte 9', 'data4': '.4byte 9', 'data8': '.8byte 9', 'data16': '.8byte 9, 9',
    'string': '.asciz "text"', 'flag': '.byte 1', 'sdata': '.byte 0xff, 0x7f',
    'strp': '.4byte 0xffffffff', 'udata': '.byte 0xff, 0xff, 0x01', 'ref_addr': '.4byte 9',
    'ref1': '.byte 9', 'ref2': '.2byte 9', 'ref4': '.4byte 9', 'ref8': '.8byte 9',
    'ref_udata': '.byte 0x89, 0', 'indirect': '.byte 0x08, 65, 0', 'sec_offset': '.4byte 9',
    'exprloc': '.byte 0x82, 0, 9, 9', 'flag_present': '', 'strx': '.byte 0x89, 0',
    'addrx': '.byte 0x89, 0', 'ref_sup4': '.4byte 9', 'strp_sup': '.4byte 9',
    'line_strp': '.4byte 0xffffffff', 'ref_sig8': '.8byte 9', 'loclistx': '.byte 0x89, 0',
    'rnglistx': '.byte 0x89, 0', 'ref_sup8': '.8byte 9', 'strx1': '.byte 9', 'strx2': '.2byte 9',
    'strx3': '.byte 9, 9, 9', 'strx4': '.4byte 9', 'addrx1': '.byte 9', 'addrx2': '.2byte 9',
    'addrx3': '.byte 9, 9, 9', 'addrx4': '.4byte 9', 'GNU_addr_index': '.byte 0x89, 0',
    'GNU_str_index': '.byte 0x89, 0', 'GNU_ref_alt': '.4byte 9', 'GNU_strp_alt': '.4byte 9',
}


def passed_over(name):
    """A case with an unknown attribute of this form in the entries of a typedef, of two calls (GNU_call_site) and of
    the unit."""
    extra = [(0x3fff, form(name, Raw('\t' + VALUES[name])))]
    return Case(f'form {name} is passed over',
                [Unit([INT, Die('typedef', extra=[*extra, (0x03, 'before'), *extra],
                                type=ref('int')),
                       Die(0x4109, Die(0x4109, extra=extra), extra=extra),
                       typedef('last', 'int')], extra=extra)],
                lines=[INT_LINE, 'TYPEDEF before = int', 'TYPEDEF last = int'], versions=(5,))


MERGED = ['PTR: *int', LONG_LINE, INT_LINE]

CASES = [
    # Several units.
    Case('units are contributions of their own', [Unit([INT]), Unit([INT2, pointer('int2')])],
         lines=[INT_LINE, INT_LINE, 'PTR: *int']),
    Case('units of two versions', [Unit([INT], version=4), Unit([LONG], version=5),
                                   Unit([base('char', 1, ATE.signed_char)], version=3)],
         lines=[INT_LINE, LONG_LINE, 'INT char size 1 bits 8 signed'], versions=(5,)),
    Case('references between units make them one',
         [Unit([pointer_across_units('int'), LONG]), Unit([INT, Die('pointer_type', type=ref('int'))])],
         lines=MERGED, order=['PTR', 'INT long', 'INT int'], versions=(2, 3, 4, 5), machines=BOTH),
    Case('reference to a unit before',
         [Unit([INT]), Unit([pointer_across_units('int')])], lines=[INT_LINE, 'PTR: *int'],
         order=['INT int', 'PTR']),
    two_units('references with LTO note 1', 1, *MERGED, order=['PTR', 'INT long', 'INT int']),
    two_units('references make units one, whatever the note says', 0, *MERGED, order=None),
    Case('LTO note 1 without references', [Unit([INT]), Unit([INT2, pointer('int2')])],
         lines=[INT_LINE, 'PTR: *int'], assembly=note(1)),
    Case('ref_addr makes units one, even if it refers to its own unit',
         [Unit([INT, pointer_across_units('int')]), Unit([INT2])], lines=[INT_LINE, 'PTR: *int'],
         assembly=note(0)),
    Case('ref_addr to its own unit, in the last of many units',
         [*[Unit([base('int', 4, ATE.signed, label=f'int_{i}')]) for i in range(20)],
          Unit([INT, pointer_across_units('int')])],
         lines=[INT_LINE, 'PTR: *int'], assembly=note(0)),
    Case('note of another owner', [Unit([INT]), Unit([INT2])], lines=[INT_LINE, INT_LINE],
         assembly=note(1).replace('Linux"', 'Other"')),
    Case('function whose abstract instance is in another unit',
         [Unit([Die('subprogram', Die('formal_parameter', type=ref('int'), name='a', label='f.a'),
                    name='f', type=ref('int'), inline=1, label='f'), INT]),
          Unit([Die('subprogram',
                    Die('formal_parameter', abstract_origin=form('ref_addr', 'f.a'),
                        location=expr('reg5')),
                    abstract_origin=form('ref_addr', 'f'), low_pc=form('addr', 'f'))])],
         lines=[INT_LINE, 'FUNC_PROTO: int (int a)', 'FUNC f: int (int a)', 'FUNCTION f address'],
         assembly='\t.text\nf:\tnop\n'),

    # Kinds of units, and attributes and entries that are passed over.
    Case('partial unit is skipped', [Unit([INT, LONG], kind='partial'), Unit([INT2])],
         lines=[INT_LINE], skipped={'partial-unit': 1}, said=PARTIAL, emit=FAST),
    Case('reference into a partial unit is void',
         [Unit([INT], kind='partial'), Unit([pointer_across_units('int'), LONG])],
         lines=['PTR: *void', LONG_LINE], skipped={'partial-unit': 1}, said=PARTIAL, emit=FAST),
    Case('partial unit that is not imported', [Unit([INT, LONG], kind='partial'), Unit([INT2])],
         lines=[INT_LINE]),
    Case('partial unit that is imported',
         [Unit([LONG, typedef('unused', 'long')], kind='partial', label='common'),
          Unit([INT2, Die('imported_unit', extra=[(0x18, form('ref_addr', 'common'))])])],
         lines=[LONG_LINE, 'TYPEDEF unused = long', INT_LINE]),
    Case('reference into a partial unit, and from there on',
         [Unit([LONG], kind='partial'),
          Unit([struct('s', 8, Die('member', name='m', type=form('ref_addr', 'long'),
                                 data_member_location=0), label='s')],
               kind='partial'),
          Unit([pointer_across_units('s'), INT2])],
         lines=[LONG_LINE, 'STRUCT s size 8; long m@0', 'PTR: *struct s', INT_LINE]),
    Case('type unit is skipped, its types are void',
         [Unit([struct('s', 0, label='s')], kind='type', signature=0x1234567890, type_label='s'),
          Unit([Die('structure_type', declaration=True, signature=form('ref_sig8', 0x1234567890),
                    label='stub'), pointer('stub'),
                Die('pointer_type', type=form('ref_sig8', 0x1234567890)), INT])],
         lines=['PTR: *void', INT_LINE],
         skipped={'type-unit': 1, 'type-unit-reference': 1, 'unnamed-declaration': 1},
         said=TYPE, versions=(5,), emit=FAST),
    Case('type unit',
         [Unit([struct('s', 8, Die('member', name='m', type=form('ref_sig8', 2),
                                   data_member_location=0), label='s')],
               kind='type', signature=1, type_label='s'),
          Unit([Die('structure_type', declaration=True, signature=form('ref_sig8', 1),
                    label='stub'), pointer('stub'), INT]),
          Unit([typedef('t', 'long', label='t'), LONG], kind='type', signature=2, type_label='t')],
         lines=['PTR: *struct s', INT_LINE, 'STRUCT s size 8; t m@0', 'TYPEDEF t = long', LONG_LINE],
         versions=(5,)),
    Case('signature that no unit has',
         [Unit([struct('s', 0, label='s')], kind='type', signature=1, type_label='s'),
          Unit([Die('pointer_type', type=form('ref_sig8', 2)), INT])],
         lines=['PTR: *void', INT_LINE, 'STRUCT s size 0'], skipped={'type-unit-reference': 1},
         said='1 type-unit-reference is not read, so types are void: .*', versions=(5,)),
    Case('skeleton unit is skipped',
         [Unit([], kind='skeleton', tag='skeleton_unit', dwo_name='unit.dwo'), Unit([INT])],
         lines=[INT_LINE], skipped={'split-dwarf-unit': 1}, said=SPLIT, versions=(5,), emit=FAST),
    Case('skeleton unit whose file is not there',
         [Unit([], kind='skeleton', tag='skeleton_unit', dwo_name='unit.dwo'), Unit([INT])],
         lines=[INT_LINE], skipped={'split-dwarf-unit': 1}, said=SPLIT, versions=(5,)),
    Case('only a skeleton unit', [Unit([], kind='skeleton', tag='skeleton_unit',
                                       dwo_name='unit.dwo')],
         lines=[], skipped={'split-dwarf-unit': 1}, said=SPLIT, versions=(5,)),
    Case('compile unit with split-off DWARF', unit(INT, extra=[(0x2130, 'unit.dwo')]),
         lines=[], skipped={'split-dwarf-unit': 1}, said=SPLIT, versions=(4,)),
    Case('DWARF that is elsewhere is not dropped',
         unit(INT, extra=[(0x2130, 'unit.dwo')]) + unit(LONG), emit=['--strip-dwarf'],
         error=r'\.debug_info: a unit is not read \(split-dwarf-unit\), so the DWARF is not dropped',
         versions=(4,)),
    Case('type units are not dropped',
         [Unit([struct('s', 0, label='s')], kind='type', signature=0x1234567890, type_label='s'),
          Unit([INT])], emit=['--strip-dwarf', *FAST],
         error=r'\.debug_info: a unit is not read \(type-unit\), so the DWARF is not dropped',
         versions=(5,)),
    Case('type units of DWARF 4 are skipped', unit(INT), lines=[INT_LINE], assembly=TYPE_UNITS,
         skipped={'type-unit': 2}, versions=(4,), emit=FAST,
         said='2 type-units are not read, so types are lost: use --reader=auto'),
    Case('type units of DWARF 4 are not dropped', unit(INT), assembly=TYPE_UNITS,
         emit=['--strip-dwarf', *FAST], versions=(4,),
         error=r'\.debug_info: a unit is not read \(type-unit\), so the DWARF is not dropped'),
    *[Case(f'unit without entries, {reader}', unit(INT), lines=[INT_LINE],
           assembly=raw_unit('.debug_info', '.byte 0'), emit=[f'--reader={reader}'])
      for reader in ('fast', 'libdw')],
    Case('unit type of a vendor', [Unit([INT], kind=0x80, tag='compile_unit'), Unit([LONG])],
         lines=[LONG_LINE], skipped={'unknown-unit': 1}, said=UNKNOWN, versions=(5,)),
    *[Case(f'addresses in a unit after one of a vendor, {reader}',
           [Unit([INT2], kind=0x80, tag='compile_unit'),
            Unit([INT, Die('variable', name='v', type=ref('int'), location=expr(('addr', 'v'))),
                  Die('subprogram', name='f', low_pc=form('addr', 'f'))])],
           lines=[INT_LINE, 'VAR v: int static', 'DATASEC .data size 4; v@0+4',
                  'VARIABLE v in .data size 4', 'FUNC_PROTO: void ()', 'FUNC f: void ()',
                  'FUNCTION f address'],
           assembly='\t.text\nf:\tnop\n\t.data\nv:\t.4byte 0\n', skipped={'unknown-unit': 1},
           said=UNKNOWN, emit=[f'--reader={reader}', '--features=+global_var'], versions=(5,))
      for reader in ('fast', 'libdw')],
    Case('unit whose entry is not a unit', [Unit([INT], tag='namespace'), Unit([LONG])],
         lines=[LONG_LINE], skipped={'unknown-unit': 1}, said=UNKNOWN),
    Case('unit without children', [Unit([]), Unit([INT])], lines=[INT_LINE]),
    Case('nothing but an empty unit', unit(), lines=[]),
    Case('last terminator is missing', unit(INT, pointer('int'), end=False),
         lines=[INT_LINE, 'PTR: *int']),
    Case('padding behind the last entry', unit(INT, Raw('\t.byte 0, 0, 0')), lines=[INT_LINE]),
    Case('strings of the unit by index, base behind them',
         unit(INT, name=form('strx1', 'unit.c'), producer=form('strx', 'GNU C17'),
              comp_dir=form('line_strp', '/')), lines=[INT_LINE], versions=(5,)),
    Case('imported unit is not a type', unit(INT, Die('imported_unit', extra=[(0x18, ref('int'))])),
         lines=[INT_LINE]),
    *[passed_over(name) for name in VALUES],
    # Index 1 is the name `one`.
    *[Case(f'name by strx{size}', unit(
        INT, typedef('t', 'int', label='t'), Die('typedef', name=form('strx1', 'zero'),
                                                 type=ref('int')),
        Die('typedef', name=form(f'strx{size}', Raw('\t.byte ' + ', '.join('1' + '0' * (size - 1)))),
            type=ref('t')), Die('typedef', name=form('strx1', 'one'), type=ref('int'))),
           lines=[INT_LINE, *[f'TYPEDEF {name} = int' for name in ('t', 'zero', 'one')], 'TYPEDEF one = t'],
           versions=(5,)) for size in (2, 3, 4)],
    Case('unknown tags and attributes',
         unit(INT, Die(0x4109, Die('base_type', name='hidden', byte_size=4), name='GNU_call_site'),
              Die(0x5000, Die('typedef', name='below', type=ref('int'))),
              Die('pointer_type', type=ref('int'), extra=[(0x3fff, form('block1', expr('lit3'))),
                                                         (0x2117, form('data8', 1))])),
         lines=[INT_LINE, 'PTR: *int']),
    Case('sibling attributes',
         unit(INT, Die(0x4109, Die('typedef', name='hidden', type=ref('int')),
                       sibling=ref('next')),
              struct('s', 4, member('m', 'int'), sibling=ref('last'), label='next'),
              pointer('next', label='last')),
         lines=[INT_LINE, 'STRUCT s size 4; int m@0', 'PTR: *struct s']),

    # Languages.
    Case('excluded language', [Unit([INT], language=RUST), Unit([LONG], language=C11)],
         lines=[LONG_LINE], skipped={'excluded-language': 1}, emit=['--lang-exclude=rust']),
    Case('excluded languages, added up',
         [Unit([INT], language=RUST), Unit([LONG], language=form('data2', ASM)),
          Unit([INT2, pointer('int2')], language=form('data1', CXX))],
         lines=[INT_LINE, 'PTR: *int'], skipped={'excluded-language': 2},
         emit=['--lang-exclude=go,rust', '--lang-exclude=asm']),
    Case('all languages are excluded', unit(INT), lines=[], skipped={'excluded-language': 1},
         emit=['--lang-exclude=c11']),
    *[Case(f'{option} excludes language {code:#x}', [Unit([INT], language=code), Unit([LONG], language=GO)],
           lines=[LONG_LINE], skipped={'excluded-language': 1}, emit=[f'--lang-exclude={option}'])
      for option, code in (('c++', 0x04), ('c++', 0x21), ('c++', 0x3a), ('C++', 0x1a),
                           ('C++17', 0x2a), ('c', 0x02), ('c', 0x2c), ('C', 0x0c), ('ada', 0x2f),
                           ('Rust', RUST), ('ASM', ASM), ('asm', 0x31), ('Fortran90', 0x08))],
    *[Case(f'{option} does not exclude language {code:#x}', unit(INT, language=code),
           lines=[INT_LINE], emit=[f'--lang-exclude={option}'])
      for option, code in (('c', CXX), ('c++14', 0x2b), ('c++', C11), ('objc', 0x11))],
    Case('language that is not excluded', unit(INT, language=RUST), lines=[INT_LINE]),
    Case('excluded language among units that are one',
         [Unit([pointer_across_units('long'), LONG], language=C11), Unit([INT], language=RUST)],
         lines=['PTR: *long', LONG_LINE], skipped={'excluded-language': 1}, assembly=note(1),
         emit=['--lang-exclude=rust']),
    Case('assembler: functions without parameters',
         unit(Die('unspecified_type', label='u'),
              Die('subprogram', name='start', external=True, low_pc=form('addr', 'start'),
                  type=ref('u')),
              Die('subprogram', name='stop', low_pc=form('addr', 'stop')), language=ASM),
         lines=['FUNC_PROTO: void ()', 'FUNC start: void ()', 'FUNC stop: void ()',
                'FUNCTION start address external', 'FUNCTION stop address'],
         assembly='\t.text\nstart:\tnop\nstop:\tnop\n'),
    Case('name of the unit in .debug_str', unit(INT, name=form('strp', 'drivers/net/x.c')), lines=[INT_LINE]),
    # For RISC-V, clang 14 writes a length as two relocations, because the linker may change the distance between two
    # labels.
    Case('length by two relocations',
         unit(INT, Die('variable', name='v', type=ref('int'), location=expr(('addr', 'v'))),
              typedef('t', 'int'), pointer('t', label='p'), pointer('p')),
         lines=[INT_LINE, 'TYPEDEF t = int', 'PTR: *t', 'PTR: **t', 'VAR v: int static',
                'DATASEC .data size 4; v@0+4', 'VARIABLE v in .data size 4'],
         assembly='\t.data\nv:\t.4byte 0\n', emit=['--features=+global_var'],
         machines=('x86_64', 'riscv64')),
]
