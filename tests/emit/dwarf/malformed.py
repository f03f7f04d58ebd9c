# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Cases with wrong DWARF, and with deep nesting and long chains. Each gives one error that names the place, or a
result."""
from helpers.dwarf_parts import *  # pylint: disable=wildcard-import,unused-wildcard-import

ANY = '0x[0-9a-f]+'
INFO = rf'\.debug_info\+{ANY}: .+'
FUNCTION = '\t.text\nf:\tnop\n'
DATA = '\t.data\nv:\t.4byte 0\n'
LAST = [typedef('last', 'int')]
LAST_LINES = [INT_LINE, 'TYPEDEF last = int']


def error(name, units, pattern=INFO, **more):
    return Case(name, units if isinstance(units, list) else [units], error=pattern, **more)


def by_libdw(name, units, pattern=INFO):
    return error(name + ', by libdw', units, pattern, emit=['--reader=libdw'])


def void(name, value, skipped=None, **more):
    """A case with a pointer whose type, `value`, does not refer to an entry. The result is a pointer to void."""
    return Case(name, unit(INT, Die('pointer_type', type=value), *LAST),
                lines=[*LAST_LINES, 'PTR: *void'], skipped=skipped or {}, **more)


def survives(name, *dies, lines=(), **more):
    """A case with malformed or deeply nested `dies`. The result has at least the types of INT and LAST, and `lines`."""
    return Case(name, unit(INT, *dies, *LAST), some=[*LAST_LINES, *lines], **more)


def nested(tag, depth, inner, **attributes):
    for _ in range(depth):
        inner = Die(tag, inner, **attributes)
    return inner


CHAIN = 100000

CASES = [
    # Units and abbreviations.
    error('unit is longer than its section', Unit([INT], length=0x1000),
          r'\.debug_info\+0x0: .+'),
    error('unit of 4 GB', Unit([INT], length=0xfffffff0), r'\.debug_info\+0x0: .+'),
    error('unit ends inside its header', Unit([], length=3)),
    error('unit ends inside its entry', Unit([], length=12)),
    error('second unit is cut off', [Unit([INT]), Unit([], length=0x100)]),
    error('DWARF version 6', Unit([INT], version=6), r'\.debug_info\+0x0: .*version 6.*'),
    error('DWARF version 1', Unit([INT], version=1), r'\.debug_info\+0x0: .*version 1.*'),
    error('DWARF version 0', Unit([INT], version=0), r'\.debug_info\+0x0: .*version 0.*'),
    *[error(f'DWARF version {version}, by libdw', Unit([INT], version=version),
            rf'\.debug_info\+0x0: DWARF version {version} is not supported \(2 to 5 are\)', emit=['--reader=libdw'])
      for version in (1, 6)],
    error('addresses of 4 bytes in a 64-bit file', Unit([INT], address_size=4)),
    error('unit of no bytes', Unit([], length=0)),
    error('abbreviations beyond their section', Unit([INT], abbrev_offset=0x10000),
          rf'\.debug_(abbrev|info)\+{ANY}: .+'),
    error('abbreviations before their section', Unit([INT], abbrev_offset='.debug_abbrev - 1'),
          rf'\.debug_(abbrev|info)\+{ANY}: .+'),
    error('abbreviation with too many attributes', unit(Die('base_type', name='int', extra=[(0x3f, True)] * 1001)),
          rf'\.debug_abbrev\+{ANY}: abbreviation with more than 1000 attributes'),
    error('abbreviations at the last byte', Unit([INT], abbrev_offset='.Llast'),
          rf'\.debug_(abbrev|info)\+{ANY}: .+',
          assembly='\t.section .debug_abbrev\n.Llast:\t.byte 0x80\n'),
    error('abbreviations that do not end', Unit([INT], abbrev_offset='.Lopen'),
          rf'\.debug_(abbrev|info)\+{ANY}: .+',
          assembly='\t.section .debug_abbrev\n.Lopen:\t.byte 1, 0x11, 1, 0x03, 0x08\n'),
    error('unknown abbreviation code', unit(INT, Raw('die.bad:\t.uleb128 77'), *LAST),
          r'\.debug_info\+{bad}: .+'),
    error('unknown abbreviation code of many bytes',
          unit(INT, Raw('die.bad:\t.byte 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f'))),
    error('unknown abbreviation code inside an entry that does not matter',
          unit(INT, Die(0x4109, Raw('\t.uleb128 77'), label='bad'))),
    error('code that does not end', unit(INT, Raw('\t.byte 0x80'), end=False)),
    error('unknown form', unit(INT, Die('pointer_type', extra=[(0x3fff, form(0x7f, Raw('')))],
                                        label='bad')),
          rf'\.debug_(info\+{{bad}}|abbrev\+{ANY}): .+'),
    error('indirect indirect form',
          unit(INT, Die('pointer_type', extra=[(0x49, form('indirect', form('indirect',
                                                                          form('data1', 1))))]))),
    # A file of split DWARF may be the file of the skeleton itself.
    error('own entry of a type unit of split DWARF is cut off', Unit([], kind='skeleton', dwo_name='case.o'),
          r"\.debug_info\+0x2d: the unit's entry is cut off", versions=(5,),
          assembly='\t.section .debug_abbrev.dwo,"",%progbits\n'
          '\t.byte 1, 0x11, 0, 0, 0\n\t.byte 2, 0x41, 0, 0x13, 0x05, 0, 0, 0\n'
          '\t.section .debug_info.dwo,"",%progbits\n'
          '\t.4byte 2f - 1f\n1:\t.2byte 5\n\t.byte 5, 8\n\t.4byte 0\n\t.8byte 1\n\t.byte 1\n2:\n'
          '\t.4byte 2f - 1f\n1:\t.2byte 5\n\t.byte 6, 8\n\t.4byte 0\n\t.8byte 2\n\t.4byte 24\n'
          '\t.byte 2, 0\n2:\n'),

    # Errors of the reader that uses libdw.
    by_libdw('second unit of version 6', [Unit([INT]), Unit([], version=6)]),
    by_libdw('unknown abbreviation code', unit(INT, Raw('die.bad:\t.uleb128 77'), *LAST)),
    by_libdw('3,000 nested structs', unit(nested('structure_type', 3000, INT, byte_size=4)),
             rf'\.debug_info\+{ANY}: .*nest.*'),
    by_libdw('name beyond .debug_str', unit(INT, Die('typedef', name=form('strp', 0x100000), label='bad'),
                                            Die('typedef', name=strp('x'))), r'\.debug_info\+{bad}: .+'),
    by_libdw('sibling that points back',
             unit(INT, struct('s', 4, member('m', 'int'), sibling=ref('int')), *LAST)),
    # libdw sees the type unit by the tag, then reads its own entry at offset 23, as if it were in .debug_types.
    error('type unit of DWARF 4 in .debug_info',
          [Unit([]), Unit([Raw('\t.byte 0, 0, 0, 1, 0, 0x1d'), *[Die('base_type')] * 10], tag='type_unit')],
          r'\.debug_info: a type unit of DWARF 4 is not in \.debug_types, or a length is wrong', versions=(4,),
          assembly='\t.section .debug_types,"",%progbits\n'
          '\t.4byte 2f - 1f\n1:\t.2byte 4\n\t.4byte .Labbrevs1\n\t.byte 8\n\t.8byte 1\n\t.4byte 26\n'
          '\t.byte 1, 0, 0x1d\n\t.fill 100000, 1, 2\n\t.byte 0\n2:\n'),

    # Attributes.
    *[error(f'{name} runs off the end of the {where}',
            [Unit([INT, Die('typedef', type=ref('int'), extra=[(0x3fff, value)], label='bad')],
                  end=False), *more], r'\.debug_info\+{bad}: .+')
      for where, more in (('section', []), ('unit', [Unit([base('long', 8, ATE.signed)])]))
      for name, value in (
          ('data4', form('data4', Raw('\t.byte 1, 2'))),
          ('data8', form('data8', Raw(''))),
          ('leb128', form('udata', Raw('\t.byte 0x80, 0x80'))),
          ('block', form('block1', Raw('\t.byte 200, 1, 2'))),
          ('string', form('string', Raw('\t.ascii "abc"'))),
          ('indirect form', form('indirect', Raw('\t.byte 0x06, 1'))),
      )],
    *[error(f'{name} that is read runs off the end',
            [Unit([INT, Die('structure_type', byte_size=4, extra=[(attribute, value)],
                            label='bad')], end=False), Unit([])], r'\.debug_info\+{bad}: .+')
      for name, attribute, value in (
          ('name', 0x03, form('string', Raw('\t.ascii "abc"'))),
          ('name in .debug_str', 0x03, form('strp', Raw('\t.byte 0'))),
          ('size', 0x0b, form('data8', Raw('\t.byte 4, 0, 0'))),
          ('size of many bytes', 0x0b, form('udata', Raw('\t.byte 0x80, 0x80'))),
          ('reference', 0x49, form('ref4', Raw('\t.byte 1, 2'))),
          ('flag', 0x3c, form('flag', Raw(''))),
      )],
    error('block of 4 GB', unit(INT, struct('s', 4, Die(
        'member', name='m', type=ref('int'), label='bad',
        data_member_location=form('exprloc', Raw('\t.uleb128 0xffffffff'))))),
          r'\.debug_info\+{bad}: .+'),
    error('block of almost 2^64 bytes',
          unit(INT, Die('variable', name='v', type=ref('int'), label='bad',
                        location=form('exprloc', Raw('\t.uleb128 0xffffffffffffffff')))),
          r'\.debug_info\+{bad}: .+', emit=['--features=+global_var']),
    survives('operation runs off the end of its expression',
             Die('variable', name='v', type=ref('int'),
                 location=form('exprloc', Raw('\t.byte 4, 0x03, 0, 0, 0'))),
             struct('s', 4, Die('member', name='m', type=ref('int'), data_member_location=form(
                 'exprloc', Raw('\t.byte 3, 0x23, 0x80, 0x80')))),
             Die('subprogram', Die('formal_parameter', name='p', type=ref('int'), location=form(
                 'exprloc', Raw('\t.byte 3, 0xa3, 0x7f, 0x55'))), name='f',
                 low_pc=form('addr', 'f')),
             lines=['STRUCT s size 4; int m@0', 'FUNCTION f optimized address'],
             skipped={'member-location-not-constant': 1}, assembly=FUNCTION,
             emit=['--features=+global_var']),
    survives('address of a variable beyond 63 bits',
             Die('variable', name='v', type=ref('int'),
                 location=expr(('addr', 'elsewhere + 0x7fffffffffffffff'), ('plus_uconst', 1))),
             skipped={'variable-without-section': 1}, emit=['--features=+global_var']),
    survives('unknown operation',
             Die('variable', name='v', type=ref('int'),
                 location=form('exprloc', Raw('\t.byte 1, 0x02'))),
             Die('subprogram', Die('formal_parameter', name='p', type=ref('int'), location=form(
                 'exprloc', Raw('\t.byte 2, 0xfe, 0x55'))), name='f', low_pc=form('addr', 'f')),
             lines=['FUNCTION f optimized address'], assembly=FUNCTION,
             emit=['--features=+global_var']),
    survives('entry values in entry values, the innermost empty',
             Die('subprogram', Die('formal_parameter', name='p', type=ref('int'), location=form(
                 'exprloc', Raw('\t.byte 6, 0xa3, 4, 0xa3, 2, 0xa3, 0'))), name='f',
                 low_pc=form('addr', 'f')), lines=['FUNCTION f optimized address'],
             assembly=FUNCTION),
    survives('location lists that are cut off',
             *[Die('subprogram', Die('formal_parameter', name='p', type=ref('int'),
                                     location=form('sec_offset', label)), name='f',
                   low_pc=form('addr', 'f')) for label in ('.Lcut', '.Lcut + 1', '.Lcut + 3')],
             lines=['FUNCTION f optimized address'],
             assembly=FUNCTION + '\t.section .debug_loc,"",%progbits\n\t.byte 0\n'
             '\t.section .debug_loclists,"",%progbits\n.Lcut:\t.byte 7, 8, 0x55, 7\n',
             versions=(5,)),
    error('name beyond .debug_str', unit(INT, Die('typedef', name=form('strp', 0x100000),
                                                  label='bad'), Die('typedef', name=strp('x'))),
          rf'\.debug_(info\+{{bad}}|str\+0x100000): .+'),
    error('name beyond .debug_line_str', unit(INT, Die('typedef', name=form('line_strp', 0x100000),
                                                       label='bad'),
                                              Die('typedef', name=form('line_strp', 'x'))),
          rf'\.debug_(info\+{{bad}}|line_str\+0x100000): .+', versions=(5,)),
    error('name in a section that is not there',
          unit(INT, Die('typedef', name=form('strp', 0), label='bad')),
          rf'\.debug_(info\+{{bad}}|str\+0x0): .+'),
    error('name index beyond the table',
          unit(INT, Die('typedef', name=form('strx1', 200), label='bad'),
               Die('typedef', name=form('strx1', 'x'))),
          rf'\.debug_(info\+{{bad}}|str_offsets(\+{ANY})?): .+', versions=(5,)),
    error('name of the unit beyond .debug_str', unit(INT, name=form('strp', 0x100000))),

    # References.
    void('reference to the unit header', ref(2)),
    void('reference beyond the unit', ref(0x7fffffff), {'unresolved-reference': 1}),
    void('reference of 8 bytes beyond all', form('ref8', 2 ** 63), {'unresolved-reference': 1}),
    void('reference of 8 bytes that wraps around', form('ref8', 2 ** 64 - 4),
         {'unresolved-reference': 1}),
    void('reference beyond the section', form('ref_addr', 0x7fffffff),
         {'unresolved-reference': 1}),
    void('signature of no type', form('ref_sig8', 1), {'type-unit-reference': 1},
         said='1 type-unit-reference is not read, so types are void: .*'),
    void('reference that is a number', form('data4', 5), {'unresolved-reference': 1}),
    void('reference that is a string', form('string', 'int'), {'unresolved-reference': 1}),
    survives('references into the middle of entries',
             Die('pointer_type', type=ref('middle')),
             Die('subprogram', name='f', abstract_origin=ref('middle'),
                 specification=ref('middle'), low_pc=form('addr', 'f')),
             Raw('\t.set die.middle, die.int + 1'), lines=['PTR: *void', 'FUNC f: void ()'],
             assembly=FUNCTION),
    survives('types that are not types', Die('subprogram', name='f', low_pc=form('addr', 'f'),
                                            label='f'),
             pointer('f'), struct('s', 4, member('m', 'int', label='m')), pointer('m'),
             lines=['PTR: *void'], assembly=FUNCTION),

    # Cycles, and entries with both a text and a bit offset, for which Die has only one place.
    survives('typedef of itself', typedef('t', 't'), pointer('t')),
    survives('typedefs in a circle', typedef('a', 'b'), typedef('b', 'c'), typedef('c', 'a'),
             struct('s', 4, member('m', 'a'), member('n', 'b'))),
    survives('qualifiers in a circle', Die('const_type', type=ref('v'), label='c'),
             Die('volatile_type', type=ref('c'), label='v'), pointer('c')),
    survives('atomic of itself', Die('atomic_type', type=ref('a'), label='a'), pointer('a'),
             skipped={'atomic-qualifier-dropped': 1}),
    survives('array of itself', array('a', 2, label='a'), pointer('a')),
    survives('struct inside itself', struct('s', 8, member('m', 's'), member('n', 'int', 4))),
    survives('structs inside each other', struct('s', 8, member('m', 't')),
             struct('t', 8, member('m', 's'))),
    survives('pointer to itself', pointer('p', label='p')),
    survives('enum of itself', Die('enumeration_type', Die('enumerator', name='E', const_value=1),
                                   name='e', byte_size=8, type=ref('e'), label='e')),
    survives('prototype that returns itself', Die('subroutine_type', type=ref('p'), label='p')),
    survives('prototype that takes itself',
             Die('subroutine_type', Die('formal_parameter', type=ref('p')), label='p')),
    survives('unnamed struct that points to itself', struct(None, 8, member('m', 'p'), label='s'),
             pointer('s', label='p')),
    survives('annotation of itself', Die('GNU_annotation', name='btf_type_tag', const_value='x',
                                         GNU_annotation=ref('x'), label='x'),
             pointer('int', GNU_annotation=ref('x'))),
    survives('entries with text that have a bit offset as well',
             Die('GNU_annotation', name='btf_type_tag', const_value='x', data_bit_offset=8, label='x'),
             pointer('int', Die('LLVM_annotation', name='btf_type_tag', const_value='y',
                                data_bit_offset=8), GNU_annotation=ref('x'))),
    Case('a symbol that is not a string, and a symbol in an entry with a bit offset',
         unit(INT, Die('subprogram', name='f', linkage_name=5, low_pc=form('addr', 'f')),
              Die('subprogram', name='f', linkage_name='_Z1f', data_bit_offset=8,
                  low_pc=form('addr', 'f')), *LAST, language=0x21),
         some=[*LAST_LINES, 'DECL_TAG c++14:linkage:_Z1f on FUNC f'],
         emit=['--features=+linkage_names'], assembly='\t.text\nf:\tnop\n'),
    survives('variable of a type in a circle', typedef('a', 'b'), typedef('b', 'a'),
             Die('variable', name='v', type=ref('a'), location=expr(('addr', 'v'))),
             array('arr', 2, label='arr'),
             Die('variable', name='w', type=ref('arr'), location=expr(('addr', 'v'))),
             emit=['--features=+global_var'], assembly=DATA, skipped={'variable-of-size-zero': 2}),
    survives('variable specified by itself',
             Die('variable', name='v', type=ref('int'), specification=ref('v'),
                 location=expr(('addr', 'v')), label='v'), lines=['VAR v: int static'],
             emit=['--features=+global_var'], assembly=DATA),
    survives('abstract origin of itself',
             Die('subprogram', Die('formal_parameter', abstract_origin=ref('p'), label='p'),
                 abstract_origin=ref('f'), low_pc=form('addr', 'f'), label='f'),
             assembly=FUNCTION),
    survives('abstract origins in a circle',
             Die('subprogram', Die('formal_parameter', abstract_origin=ref('q'), label='p'),
                 name='f', abstract_origin=ref('g'), low_pc=form('addr', 'f'), label='f'),
             Die('subprogram', Die('formal_parameter', abstract_origin=ref('p'), label='q'),
                 name='g', abstract_origin=ref('f'), low_pc=form('addr', 'f'), label='g'),
             assembly=FUNCTION),
    survives('specification of itself',
             Die('subprogram', specification=ref('f'), low_pc=form('addr', 'f'), label='f'),
             struct(None, 4, member('m', 'int'), specification=ref('s'), label='s'),
             assembly=FUNCTION),
    survives('parameter of a struct in itself',
             struct('s', 40, member('m', 's'), member('a', 'arr')), array('s', 1, label='arr'),
             Die('subprogram', *[Die('formal_parameter', name=f'p{i}', type=ref('s'),
                                     location=expr(('fbreg', 8 * i))) for i in range(9)],
                 name='f', low_pc=form('addr', 'f')), assembly=FUNCTION),

    # Siblings.
    survives('sibling that points back',
             Die(0x4109, Die('typedef', name='hidden', type=ref('int')), sibling=ref('int'))),
    survives('sibling beyond the unit',
             Die(0x4109, Die('typedef', name='hidden', type=ref('int')), sibling=ref(0x7fffffff))),

    # Depth and size.
    error('3,000 nested structs', unit(nested('structure_type', 3000, INT, byte_size=4)),
          rf'\.debug_info\+{ANY}: .*nest.*'),
    error('3,000 nested blocks', unit(Die('subprogram', nested('lexical_block', 3000, INT),
                                          name='f')), rf'\.debug_info\+{ANY}: .*nest.*'),
    survives('1,000 nested blocks', Die('subprogram', nested('lexical_block', 1000,
                                                             typedef('deep', 'int')), name='f'),
             lines=['TYPEDEF deep = int']),
    Case('a chain of 100,000 pointers',
         unit(INT, *[pointer(f'p{i + 1}' if i + 1 < CHAIN else 'int', label=f'p{i}')
                     for i in range(CHAIN)]),
         some=[INT_LINE, 'PTR: *int'], count={'^PTR': CHAIN}, versions=(5,)),
    Case('a chain of 100,000 typedefs, forward',
         unit(INT, *[typedef(f't{i}', f't{i + 1}' if i + 1 < CHAIN else 'int')
                     for i in range(CHAIN)]),
         some=['TYPEDEF t99999 = int', 'TYPEDEF t0 = t1'], versions=(5,)),
    Case('2,000 arrays of arrays and a variable',
         unit(INT, *[array(f'a{i + 1}' if i < 1999 else 'int', 1, label=f'a{i}')
                     for i in range(2000)],
              Die('variable', name='v', type=ref('a0'), location=expr(('addr', 'v')))),
         some=[INT_LINE], emit=['--features=+global_var'], assembly=DATA, versions=(5,),
         skipped={'variable-of-size-zero': 1}),
]
