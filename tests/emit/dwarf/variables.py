# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Cases for variables: their locations, which ones are encoded, and with which section, type, size and name."""
from helpers.dwarf_parts import *  # pylint: disable=wildcard-import,unused-wildcard-import

ALL = ['--features=+global_var']
DATA = '''\t.data
\t.globl v
\t.type v,%object
v:\t.8byte 0
w:\t.8byte 0
\t.bss
b:\t.skip 8
\t.comm c,8,8
\t.section .data..percpu..read_mostly,"aw",%progbits
pad:\t.8byte 0
p:\t.8byte 0
\t.section .tdata,"awT",%progbits
t:\t.8byte 0
'''
DATA_LINE = 'DATASEC .data size 4; v@0+4'


def at(symbol, *operations):
    return expr(('addr', symbol), *operations)


def variable(name, symbol=None, **attributes):
    attributes = {'type': ref('int'), 'location': at(symbol or name), **attributes}
    names = {'name': name} if name is not None else {}
    return Die('variable', **names, **{k: v for k, v in attributes.items() if v is not None})


def case(name, dies, lines, skipped=None, emit=None, **more):
    return Case(name, unit(INT, *(dies if isinstance(dies, list) else [dies])),
                lines=[INT_LINE, *lines], skipped=skipped or {}, emit=emit or ALL,
                assembly=more.pop('assembly', DATA), **more)


def good(name, die, offset=0, size=4, what='v: int static', **more):
    """A case with one encoded variable, v, in .data."""
    external = ' external' if what.endswith('global') else ''
    return case(name, die, [f'VAR {what}', f'DATASEC .data size {offset + size}; v@{offset}+{size}',
                            f'VARIABLE v in .data size {size}{external}'], **more)


def none(name, die, skipped=None, **more):
    """A case in which no variable is encoded, only the type int."""
    return case(name, die, [], skipped, **more)


def refused(name, die, what):
    """A case without encode_force, in which a variable that BTF cannot express is an error. The message matches `what`.
    With encode_force, as in ALL, such a variable is left out and counted."""
    return Case(name, unit(INT, die), error=rf".debug_info\+{{bad}}: {what}", assembly=DATA,
                emit=['--features=global_var,float'])


CASES = [
    # Locations.
    good('address', variable('v'), machines=BOTH),
    good('external', variable('v', external=True), what='v: int global', machines=BOTH),
    good('external as a flag of 0 counts', variable('v', external=form('flag', 0)),
         what='v: int global'),
    good('address and plus_uconst', variable('v', location=at('v', ('plus_uconst', 8))), offset=8,
         machines=BOTH),
    good('address with an addend', variable('v', 'v + 12'), offset=12, machines=BOTH),
    good('address of a static', variable('v', 'w'), offset=8),
    good('addrx', variable('v', location=expr(('addrx', 'v'))), versions=(5,), machines=BOTH),
    case('addrx, the second entry',
         [variable('w', location=expr(('addrx', 'w'))), variable('v', location=expr(('addrx', 'v')))],
         ['VAR w: int static', 'VAR v: int static', 'DATASEC .data size 12; v@0+4; w@8+4',
          'VARIABLE v in .data size 4', 'VARIABLE w in .data size 4'], versions=(5,),
         machines=BOTH),
    good('addrx and plus_uconst', variable('v', location=expr(('addrx', 'v'), ('plus_uconst', 4))),
         offset=4, versions=(5,)),
    good('location by block1', variable('v', location=form('block1', at('v'))),
         versions=(2, 3, 4)),
    good('location by an indirect form', variable('v', location=form('indirect',
                                                                     form('exprloc', at('v'))))),
    none('address without a relocation', variable('v', '0x1000')),
    none('two addresses', variable('v', location=expr(('addr', 'v'), ('addr', 'w')))),
    good('addrx beyond the table', [variable('x', location=expr(('addrx', 1))),
                                    variable('y', location=expr(('addrx', 2 ** 40))),
                                    variable('v', location=expr(('addrx', 'v')))], versions=(5,)),
    none('addrx of a constant', variable('v', location=expr(('addrx', '0x1000'))), versions=(5,)),
    none('plus_uconst twice', variable('v', location=at('v', ('plus_uconst', 4),
                                                        ('plus_uconst', 4)))),
    none('address that is dereferenced', variable('v', location=at('v', 'deref'))),
    Case('place relative to the GOT',
         unit(INT, variable('v', location=at('v@GOTOFF', 'stack_value')), address_size=4),
         lines=[INT_LINE], emit=ALL, assembly=DATA, machines=('i386',)),
    none('register', variable('v', location=expr('reg3'))),
    none('constant', variable('v', location=expr(('constu', 4), 'stack_value'))),
    none('no location', variable('v', location=None)),
    none('constant value', variable('v', location=None, const_value=4)),
    none('empty location', variable('v', location=expr())),
    none('thread-local, GNU', variable('v', location=expr(('constu', 0), 'GNU_push_tls_address'))),
    none('thread-local, relocated', variable('v', location=expr(('addr', 't'),
                                                                'form_tls_address'))),
    none('location list', variable('v', location=loclist(('v', 'v + 4', expr(('addr', 'v')))))),
    none('location list by index',
         variable('v', location=form('loclistx', loclist(('v', 'v + 4', expr(('addr', 'v')))))),
         versions=(5,)),

    # Which variables are encoded.
    none('artificial', variable('v', artificial=True)),
    none('declaration', variable('v', declaration=True, location=None)),
    none('declaration with a location', variable('v', declaration=True)),
    none('inside a function', Die('subprogram', variable('v'), name='f', declaration=True)),
    none('inside a class', Die('class_type', variable('v'), declaration=True),
         {'unnamed-declaration': 1}),
    none('inside a block', Die('subprogram', Die('lexical_block', variable('v')), name='f',
                               declaration=True)),
    good('inside a namespace', Die('namespace', variable('v', external=True), name='n'),
         what='v: int global', machines=BOTH),
    good('inside namespaces without names', Die('namespace', Die('namespace', variable('v')))),
    good('inside a module of Fortran or D', Die('module', variable('v', external=True), name='m'),
         what='v: int global', machines=BOTH),
    none('declaration inside a namespace',
         Die('namespace', variable('v', declaration=True, location=None), name='n')),
    none('without global_var', variable('v'), emit=['--features=default']),
    none('with neither global_var nor var', variable('v'), emit=['--features=encode_force']),
    none('per-CPU with neither', variable('p'), emit=['--features=encode_force']),
    case('per-CPU by default', [variable('v'), variable('p')],
         ['VAR p: int static', 'DATASEC .data..percpu..read_mostly size 12; p@8+4',
          'VARIABLE p in .data..percpu..read_mostly size 4'], emit=['--features=default'],
         machines=BOTH),
    case('several sections', [variable('w'), variable('b'), variable('v'),
                              variable('p')],
         ['VAR w: int static', 'VAR b: int static', 'VAR v: int static', 'VAR p: int static',
          'DATASEC .data size 12; v@0+4; w@8+4', 'DATASEC .bss size 4; b@0+4',
          'DATASEC .data..percpu..read_mostly size 12; p@8+4',
          'VARIABLE w in .data size 4', 'VARIABLE b in .bss size 4', 'VARIABLE v in .data size 4',
          'VARIABLE p in .data..percpu..read_mostly size 4']),
    case('common symbol', variable('c', external=True),
         ['VAR c: int global', 'VARIABLE c in  size 4 external']),
    case('large common symbol', variable('c', external=True),
         ['VAR c: int global', 'VARIABLE c in  size 4 external'],
         assembly=DATA.replace('.comm', '.largecomm')),
    none('undefined symbol', variable('v', 'elsewhere'), {'variable-without-section': 1}),
    none('absolute symbol', variable('v', 'constant'), {'variable-without-section': 1},
         assembly=DATA + 'constant = 0x1000\n\t.globl constant\n'),
    case('in the pool', variable('v'), ['VAR v: int static', DATA_LINE,
                                        'VARIABLE v in .data size 4 pool'],
         emit=[*ALL, '--address-pool'], machines=BOTH),

    # Declarations before definitions.
    case('specification: the declaration has name, type and scope',
         [Die('variable', name='v', type=ref('int'), external=True, declaration=True, label='d'),
          Die('variable', specification=ref('d'), location=at('v'))],
         ['VAR v: int global', DATA_LINE, 'VARIABLE v in .data size 4 external'],
         versions=(2, 3, 4, 5)),
    case('specification: the definition knows the size of an array',
         [array('int', {}, label='open'), array('int', 2, label='two'),
          Die('variable', name='v', type=ref('open'), declaration=True, label='d'),
          Die('variable', specification=ref('d'), type=ref('two'), location=at('v'))],
         ['ARRAY: [0 by int]int', 'ARRAY: [2 by int]int', 'VAR v: [2 by int]int static',
          'DATASEC .data size 8; v@0+8', 'VARIABLE v in .data size 8']),
    case('specification of a declaration inside a function',
         [Die('subprogram', Die('lexical_block', Die('variable', name='v', type=ref('int'),
                                                     external=True, declaration=True, label='d')),
              name='f', declaration=True),
          Die('variable', specification=ref('d'), location=at('v'))],
         ['VAR v: int global', DATA_LINE, 'VARIABLE v in .data size 4 external']),
    case('specification of a declaration inside a namespace',
         [Die('namespace', Die('namespace', variable('v', declaration=True, location=None,
                                                     external=True, label='d'), name='n'), name='m'),
          Die('variable', specification=ref('d'), location=at('v'))],
         ['VAR v: int global', DATA_LINE, 'VARIABLE v in .data size 4 external']),
    case('specification of a static member',
         [Die('class_type', Die('member', name='v', type=ref('int'), external=True,
                                declaration=True, label='d'), name='k', byte_size=1),
          Die('variable', specification=ref('d'), location=at('v'))],
         ['STRUCT k size 1', 'VAR v: int global', DATA_LINE,
          'VARIABLE v in .data size 4 external']),

    # Types and sizes.
    none('void', variable('v', type=None), {'variable-of-type-void': 1}),
    none('type that BTF cannot express',
         [Die('string_type', byte_size=5, label='st'), variable('v', type=ref('st'))],
         {'variable-of-type-void': 1, 'string-type': 1}),
    refused('void without encode_force', variable('v', type=None, label='bad'),
            "variable 'v' has no type that BTF can express"),
    case('empty struct', [struct('e', 0), variable('v', type=ref('e'))], ['STRUCT e size 0'],
         {'variable-of-size-zero': 1}),
    case('struct of one byte without members', [struct('e', 1), variable('v', type=ref('e'))],
         ['STRUCT e size 1'], {'variable-of-size-zero': 1}),
    case('struct of one byte with an unnamed member',
         [base('char', 1, ATE.signed_char), struct('e', 1, member(None, 'char')), variable('v', type=ref('e'))],
         ['INT char size 1 bits 8 signed', 'STRUCT e size 1; char @0', 'VAR v: struct e static',
          'DATASEC .data size 1; v@0+1', 'VARIABLE v in .data size 1']),
    case('class of one byte with a base',
         [struct('b', 1), struct('d', 1, Die('inheritance', type=ref('b'), data_member_location=0)),
          variable('v', type=ref('d'))],
         ['STRUCT b size 1', 'STRUCT d size 1', 'VAR v: struct d static', 'DATASEC .data size 1; v@0+1',
          'VARIABLE v in .data size 1']),
    case('array of unknown length', [array('int', {}, label='a'), variable('v', type=ref('a'))],
         ['ARRAY: [0 by int]int'], {'variable-of-size-zero': 1}),
    case('sizes of types',
         [pointer('int', label='ptr'), array('ptr', 3, label='ptrs'), typedef('T', 'ptrs'),
          Die('const_type', type=ref('T'), label='c'),
          Die('enumeration_type', name='e', label='e'),
          Die('atomic_type', type=ref('int'), label='atomic'),
          variable('v', type=ref('c')), variable('w', 'v + 24', type=ref('e')),
          variable('x', 'v + 28', type=ref('atomic'))],
         ['PTR: *int', 'ARRAY: [3 by int]*int', 'TYPEDEF T = [3 by int]*int', 'CONST: const T',
          'ENUM e size 4', 'VAR v: const T static', 'VAR w: enum e static', 'VAR x: int static',
          'DATASEC .data size 32; v@0+24; w@24+4; x@28+4', 'VARIABLE v in .data size 24',
          'VARIABLE w in .data size 4', 'VARIABLE x in .data size 4'],
         {'atomic-qualifier-dropped': 1}),
    case('4 GB or more', [array('int', 0x40000000, label='a'), variable('v', type=ref('a'))],
         ['STRUCT size 0'], {'variable-too-large': 1, 'mended': 1},
         said=r"\.debug_info: unit\.c: type 2 \(ARRAY ''\): has 4 GB or more: it is written as a struct "
              'without members'),
    case('few large elements', [struct('big', 2 ** 20, label='big'), array('big', 4096, label='a'), pointer('a')],
         ['STRUCT big size 1048576', 'STRUCT size 0', 'PTR: *struct { }'], {'mended': 1},
         said=r"\.debug_info: unit\.c: type 3 \(ARRAY ''\): has 4 GB or more: it is written as a struct "
              'without members'),

    # Names.
    *[none(f'filtered name {name}', variable(name, 'v'))
      for name in ('__UNIQUE_ID_license1', '__tpstrtab_x', '__exitcall_x',
                   '__gendwarfksyms_ptr_x', '__func_stack_frame_non_standard_x')],
    *[none(f'invalid name {number}', variable(name, 'v'), {'variable-name': 1})
      for number, name in enumerate(('a$b', '1st', 'sp ace', 'x' * 129, ''), 1)],
    none('no name', variable(None, 'v'), {'variable-name': 1}),
    case('longest name', variable('x' * 128, 'v'),
         [f'VAR {"x" * 128}: int static', f'DATASEC .data size 4; {"x" * 128}@0+4',
          f'VARIABLE {"x" * 128} in .data size 4']),
    case('dots in a name', variable('.v.1', 'v'),
         ['VAR .v.1: int static', 'DATASEC .data size 4; .v.1@0+4',
          'VARIABLE .v.1 in .data size 4']),
    refused('invalid name without encode_force', variable('a$b', 'v', label='bad'),
            r"variable 'a\$b' has a name that BTF does not allow"),
    # Languages other than C.
    *[Case(f'name that is legal in another language {number}',
           unit(INT, variable(name, 'v'), language=0x04), skipped={'name-made-legal': 1},
           lines=[INT_LINE, f'VAR {legal}: int static', f'DATASEC .data size 4; {legal}@0+4',
                  f'VARIABLE {legal} in .data size 4'], assembly=DATA,
           emit=['--features=global_var,float'])
      for number, (name, legal) in enumerate((('box<int>::{v}', 'box_int____v_'), ('1st', '_1st'),
                                              ('x' * 129, 'x' * 128)), 1)],
    Case('variables of another language that are left out',
         unit(INT, variable(None, 'v'), variable('v', type=None), language=0x1c), lines=[INT_LINE],
         skipped={'variable-name': 1, 'variable-of-type-void': 1}, assembly=DATA,
         emit=['--features=global_var,float']),
    # Two variables of one name.
    case('two statics of one name', [variable('v'), variable('v', 'w')],
         ['VAR v: int static', 'VAR v: int static', 'DATASEC .data size 12; v@0+4; v@8+4',
          'VARIABLE v in .data size 4', 'VARIABLE v in .data size 4'], machines=BOTH),
]
