# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Cases for functions: which ones become FUNCs, their prototypes and linkage names, and the flags that the places of
their parameters cause."""
from helpers.dwarf_parts import *  # pylint: disable=wildcard-import,unused-wildcard-import

TEXT = '\t.text\n\t.globl f\n\t.type f,%function\nf:\tnop\n\tnop\ng:\tnop\nend:\n'
# The registers in which x86-64 passes parameters, in order, as operations of DWARF.
RDI, RSI, RDX, RCX, R8, R9 = 'reg5', 'reg4', 'reg1', 'reg2', 'reg8', 'reg9'
REGISTERS = (RDI, RSI, RDX, RCX, R8, R9)
STACK = expr(('fbreg', 16))
CLANG = 'clang version 14.0.6'


def parameter(name, location=None, type='int', **more):
    if isinstance(location, str):
        location = expr(location)
    more = {**({'name': name} if name else {}), **({'type': ref(type)} if type else {}),
            **({'location': location} if location else {}), **more}
    return Die('formal_parameter', **more)


def function(*children, name='f', symbol='f', **more):
    more = {**({'name': name} if name else {}),
            **({'low_pc': form('addr', symbol)} if symbol else {}), **more}
    return Die('subprogram', *children, **more)


def case(name, dies, lines, producer='GNU C17 12.2.0', funcs=None, **more):
    """A case whose output has these `lines`, no other FUNCTION (a record in the link trailer), and `funcs` FUNCs, by
    default as many as `lines` has."""
    dies = dies if isinstance(dies, list) else [dies]
    if funcs is None:
        funcs = sum(line.startswith('FUNC ') for line in lines)
    return Case(name, unit(INT, *dies, producer=producer), some=[INT_LINE, *lines],
                count={'^FUNC ': funcs,
                       '^FUNCTION ': sum(line.startswith('FUNCTION ') for line in lines)},
                assembly=TEXT, **more)


def judged(name, parameters, flags, types=(), **more):
    """A case with a function f that has these parameters and must get these flags."""
    return case(name, [*types, function(*parameters)],
                [' '.join(filter(None, ['FUNCTION f', flags, 'address']))], funcs=1, **more)


def first(name, location, flags, **more):
    """A case with a function f that has one parameter, at this location, and must get these flags."""
    return judged(name, [parameter('a', location)], flags, **more)


ENTRY_VALUE = expr(('entry_value', expr(RDI)), 'stack_value')


def loc(*expressions):
    """A location list with one entry per expression, at consecutive addresses."""
    return loclist(*[('f' if i == 0 else f'f + {i}', f'f + {i + 1}', e)
                     for i, e in enumerate(expressions)])


PAIR = struct('pair', 16, member('p', 'int'), member('q', 'int', 8))
TRIPLE = struct('triple', 24, member('p', 'int'))
BIG_UNION = Die('union_type', member('m', 'int'), name='u', byte_size=24, label='u')
SMALL_UNION = Die('union_type', member('m', 'int'), name='u2', byte_size=16, label='u2')
PIECES = expr(RDI, ('piece', 8), RSI, ('piece', 8))
INLINE = 1
ARM64 = ('aarch64',)


def incomplete(name, *dies, language=0x04, **more):
    """A case in C++ with a function that is left out, because the type of its parameter or result is only declared."""
    return Case(name, unit(INT, Die('structure_type', name='far', declaration=True, label='far'),
                           *dies, language=language),
                some=[INT_LINE], count={'^FUNC ': 0, '^FUNCTION ': 0}, assembly=TEXT,
                skipped={'function-of-incomplete-type': 1}, **more)


CPP14, RUST, FORTRAN95 = 0x21, 0x1c, 0x0e
LINKAGE = ['--features=+linkage_names']


def mangled(name, dies, tags, language=CPP14, emit=tuple(LINKAGE), **more):
    """A case for the feature linkage_names, which writes a function's symbol into a DECL_TAG if the symbol is not the
    function's name. `tags` are all expected DECL_TAGs."""
    return Case(name, unit(INT, *dies, language=language), some=[f'DECL_TAG {tag}' for tag in tags],
                count={'DECL_TAG ': len(tags), **more.pop('count', {})}, assembly=TEXT, emit=list(emit),
                **more)


def symbol(linkage_name, *children, **more):
    return function(*children, linkage_name=linkage_name, **more)


CASES = [
    mangled('a symbol of another name', [symbol('_Z1fi', parameter('a', RDI))],
            ['c++14:linkage:_Z1fi on FUNC f'], machines=BOTH),
    mangled('a symbol of another name, as attributes had it before DWARF 4',
            [function(parameter('a', RDI), MIPS_linkage_name=strp('_Z1fi'))],
            ['c++14:linkage:_Z1fi on FUNC f']),
    mangled('Rust', [symbol('_RNvC1r1f', parameter('a', RDI))], ['rust:linkage:_RNvC1r1f on FUNC f'],
            language=RUST),
    mangled('a name that BTF does not allow', [symbol('_RNC', name='{closure#0}')],
            ['rust:linkage:_RNC on FUNC _closure_0_'], language=RUST, skipped={'name-made-legal': 1}),
    mangled('Fortran', [symbol('__m_MOD_f')], ['fortran95:linkage:__m_MOD_f on FUNC f'],
            language=FORTRAN95),
    mangled('the name is the symbol', [symbol('f')], [], language=RUST, count={'^FUNC f': 1}),
    mangled('C: a linkage name does not count', [symbol('other')], [], language=0x1d, count={'^FUNC f': 1}),
    mangled('an unknown language', [symbol('other')], [], language=0x7fff,
            count={'^FUNC f': 1}),
    mangled('not asked for', [symbol('_Z1fi')], [], emit=[], count={'^FUNC f': 1}),
    mangled('without the feature decl_tag', [symbol('_Z1fi')], [], emit=['--features=var,linkage_names'],
            count={'^FUNC f': 1}),
    mangled('two of one name and prototype', [symbol('_ZN1a1fEv'), symbol('_ZN1b1fEv', low_pc=form('addr', 'g'))],
            ['c++14:linkage:_ZN1a1fEv on FUNC f', 'c++14:linkage:_ZN1b1fEv on FUNC f'],
            count={'^FUNC f': 2, '^FUNCTION f': 2}),
    mangled('a method: name, symbol and result are those of the declaration',
            [Die('structure_type',
                 Die('subprogram', name='f', linkage_name='_ZN1s1fEi', type=ref('int'),
                     declaration=True, label='d'), name='s', byte_size=4),
             Die('subprogram', parameter('a', RDI), specification=ref('d'), low_pc=form('addr', 'f'))],
            ['c++14:linkage:_ZN1s1fEi on FUNC f'], count={r'^FUNC f: int \(int a\)': 1}),
    mangled('a method, inlined and not: the abstract instance refers to a declaration',
            [Die('structure_type',
                 Die('subprogram', name='f', linkage_name='_ZN1s1fEi', type=ref('int'),
                     declaration=True, label='d'), name='s', byte_size=4),
             Die('subprogram', parameter('a', label='a'), specification=ref('d'), inline=INLINE,
                 label='abstract'),
             Die('subprogram', Die('formal_parameter', abstract_origin=ref('a'), location=expr(RDI)),
                 abstract_origin=ref('abstract'), low_pc=form('addr', 'f'))],
            ['c++14:linkage:_ZN1s1fEi on FUNC f'], count={r'^FUNC f: int \(int a\)': 1}),
    mangled('a constructor: the copy has a symbol of its own',
            [Die('subprogram', name='f', linkage_name='_ZN1sC4Ev', inline=INLINE, label='abstract'),
             Die('subprogram', linkage_name='_ZN1sC2Ev', abstract_origin=ref('abstract'),
                 low_pc=form('addr', 'f'))],
            ['c++14:linkage:_ZN1sC4Ev on FUNC f', 'c++14:linkage:_ZN1sC2Ev on FUNC f']),
    Case('a unit that refers to one of another language',
         [Unit([INT, function(name='f', linkage_name='_Z1fv')], language=CPP14),
          Unit([function(type=form('ref_addr', 'int'), name='g', symbol='g',
                         linkage_name='_RNvC1r1g')],
               language=RUST)],
         some=['DECL_TAG c++14:linkage:_Z1fv on FUNC f', 'DECL_TAG rust:linkage:_RNvC1r1g on FUNC g'],
         assembly=TEXT, emit=LINKAGE),
    incomplete('a parameter that is only declared', function(parameter('a', RDI, 'far'))),
    incomplete('a result that is only declared', function(type=ref('far'))),
    incomplete('the abstract instance has a result whose type is only declared',
               Die('subprogram', name='f', type=ref('far'), inline=INLINE, declaration=True,
                   label='abstract'),
               function(name=None, abstract_origin=ref('abstract'))),
    case('C: a function is kept although the type of a parameter is only declared',
         [Die('structure_type', name='far', declaration=True, label='far'),
          function(parameter('a', RDI, 'far'))],
         ['FUNC f: void (struct far a)', 'FUNCTION f address']),
    # Which functions become FUNCs, and with which prototype.
    case('definition', function(parameter('a', RDI), type=ref('int'), external=True),
         ['FUNC f: int (int a)', 'FUNCTION f address external']),
    case('static definition without parameters', function(prototyped=True),
         ['FUNC f: void ()', 'FUNCTION f address']),
    case('declaration', function(parameter('a'), symbol=None, declaration=True), []),
    case('unnamed parameter', function(parameter(None, RDI)), []),
    case('no name', function(name=None), []),
    case('no address, not inline, not a declaration', function(symbol=None), ['FUNCTION f void ()']),
    case('inline only', function(parameter('a'), symbol=None, inline=INLINE),
         ['FUNCTION f void (int a) optimized inline']),
    case('not inlined', function(parameter('a', RDI), inline=0),
         ['FUNC f: void (int a)', 'FUNCTION f address']),
    case('variadic', function(parameter('a', RDI), Die('unspecified_parameters')),
         ['FUNC f: void (int a, ...)', 'FUNCTION f address']),
    case('unspecified type as result', [Die('unspecified_type', name='auto', label='u'),
                                        function(type=ref('u'))],
         ['FUNC f: void ()', 'FUNCTION f address']),
    case('ranges instead of an address', function(symbol=None, ranges=form('sec_offset', 0)),
         ['FUNC f: void ()', 'FUNCTION f ranges']),
    case('ranges and an address', function(ranges=form('sec_offset', 0)),
         ['FUNC f: void ()', 'FUNCTION f address']),
    case('address in the pool', function(), ['FUNC f: void ()', 'FUNCTION f address pool'],
         emit=['--address-pool'], machines=BOTH),
    case('address by index', [function(symbol=None, low_pc=form('addrx', 'g'), name='g'),
                              function(symbol=None, low_pc=form('addrx1', 'f'))],
         ['FUNCTION f address pool', 'FUNCTION g address pool', 'FUNC f: void ()',
          'FUNC g: void ()'], emit=['--address-pool'], versions=(5,), machines=BOTH),
    case('address without a relocation', function(symbol=None, low_pc=form('addr', 0)),
         ['FUNC f: void ()', 'FUNCTION f address'], emit=['--address-pool']),
    case('nested in a struct', [Die('class_type', function(parameter('a', RDI), name='method'),
                                    name='k', byte_size=1)],
         ['FUNC method: void (int a)', 'FUNCTION method address']),
    case('nested in a function, in a block', function(
        Die('lexical_block', function(parameter('a', RDI), name='nested'))),
         ['FUNC f: void ()', 'FUNC nested: void (int a)', 'FUNCTION f address',
          'FUNCTION nested address']),
    case('without linkage_names: name from the specification, but not the result',
         [Die('class_type', function(name='method', symbol=None, declaration=True, label='d',
                                     type=ref('int'), external=True), name='k', byte_size=1),
          function(parameter('a', RDI), name=None, specification=ref('d'))],
         ['FUNC method: void (int a)', 'FUNCTION method address']),
    case('two functions of one name',
         [function(parameter('a', RDI)), function(parameter('b', RDI), symbol='g')],
         ['FUNC f: void (int a)', 'FUNC f: void (int b)', 'FUNCTION f address',
          'FUNCTION f address']),
    case('equal prototypes are there once',
         [Die('subroutine_type', parameter('a'), label='p'), pointer('p'),
          function(parameter('a', RDI)), function(parameter('a', RDI), name='g', symbol='g')],
         ['FUNC f: void (int a)', 'FUNC g: void (int a)', 'FUNCTION f address',
          'FUNCTION g address'],
         order=['INT int', 'FUNC_PROTO', 'PTR', 'FUNC f', 'FUNC g']),

    # Abstract and concrete instances.
    case('concrete behind abstract',
         [function(parameter('a', label='f.a'), parameter('b', label='f.b'), symbol=None,
                   inline=INLINE, type=ref('int'), external=True, label='f'),
          function(parameter(None, RDI, None, abstract_origin=ref('f.a')),
                   parameter(None, RSI, None, abstract_origin=ref('f.b')), name=None,
                   abstract_origin=ref('f'))],
         ['FUNC f: int (int a, int b)', 'FUNCTION f address']),
    case('concrete before abstract',
         [function(parameter(None, RDI, None, abstract_origin=ref('f.a')), name=None,
                   abstract_origin=ref('f')),
          function(parameter('a', label='f.a'), symbol=None, inline=INLINE, type=ref('int'),
                   label='f')],
         ['FUNC f: int (int a)', 'FUNCTION f address']),
    case('abstract instance and copy share a record, with the flags of the copy',
         [function(parameter('a', label='f.a'), symbol=None, inline=INLINE, label='f'),
          function(parameter(None, RDX, None, abstract_origin=ref('f.a')), name=None,
                   abstract_origin=ref('f'))],
         ['FUNC f: void (int a)', 'FUNCTION f unexpected-register address']),
    case('reordered parameters',
         [function(parameter('a', label='f.a'), parameter('b', label='f.b'), symbol=None,
                   inline=INLINE, label='f'),
          function(parameter(None, RDI, None, abstract_origin=ref('f.b')),
                   parameter(None, None, None, abstract_origin=ref('f.a')), name=None,
                   abstract_origin=ref('f'))],
         ['FUNC f: void (int b, int a)', 'FUNCTION f optimized reordered address',
          'FUNCTION f void (int a, int b) unexpected-register optimized inline']),
    case('a parameter of the origin is missing in the copy',
         [function(parameter('a', label='f.a'), parameter('b', label='f.b'), symbol=None,
                   inline=INLINE, label='f'),
          function(parameter(None, RDI, None, abstract_origin=ref('f.a')), name=None,
                   abstract_origin=ref('f'))],
         ['FUNC f: void (int a)', 'FUNCTION f address',
          'FUNCTION f void (int a, int b) optimized inline']),
    case('origin is nowhere', [function(name=None, abstract_origin=ref(0x7fff)),
                               function(parameter(None, RDI, abstract_origin=ref(3)))], [],
         skipped={'unresolved-reference': 1}),

    # One parameter.
    first('expected register', RDI, ''),
    first('another register', RSI, 'unexpected-register'),
    first('no location', None, 'optimized'),
    first('empty location', expr(), 'optimized'),
    judged('constant', [parameter('a', const_value=5)], 'optimized'),
    judged('constant and a location', [parameter('a', RDI, const_value=5)], ''),
    first('on the stack', STACK, 'optimized'),
    first('literal', expr('lit4', 'stack_value'), 'optimized'),
    first('register plus constant as value', expr(('breg5', 8), 'stack_value'), ''),
    first('another register plus constant as value', expr(('breg4', 0), 'stack_value'),
          'unexpected-register'),
    first('memory at a register', expr(('breg5', 8)), 'optimized'),
    first('value computed from a register', expr(('breg5', 0), 'lit1', 'plus', 'stack_value'), ''),
    first('location list', loc(expr(RDI), expr(RDX)), ''),
    first('only the first entry counts', loc(expr(RSI), expr(RDI)), 'unexpected-register'),
    first('entry value', expr(('entry_value', expr(RDI)), 'stack_value'), ''),
    first('entry value in the second entry',
          loc(STACK, expr(('entry_value', expr(RDI)), 'stack_value')), ''),
    first('entry value of another register in the second entry',
          loc(STACK, expr(('entry_value', expr(RSI)), 'stack_value')), 'unexpected-register'),
    first('entry value of GNU', loc(STACK, expr(('GNU_entry_value', expr(RDI)), 'stack_value')), '',
          versions=(2, 3, 4)),
    first('entry value of an expression', loc(STACK, expr(('entry_value', expr(('breg5', 0))),
                                                          'stack_value')), 'optimized'),
    first('register in the second entry only', loc(STACK, expr(RDI)), 'optimized'),
    # After an expression that it cannot read, btf-emit ignores the rest of a location list. If btf-emit assumed a wrong
    # length for the operation, it would miss the entry value in the next entry, and set the flag `optimized`.
    *[first(f'{name} has its length', loc(expr(Raw('\t.byte ' + operation)), ENTRY_VALUE), '')
      for name, operation in (
          ('const1u', '8, 1'), ('const2s', '0xb, 1, 2'), ('const4u', '0xc, 1, 2, 3, 4'),
          ('const8s', '0xf, 1, 2, 3, 4, 5, 6, 7, 8'), ('deref_size', '0x94, 4'), ('bregx', '0x92, 0x81, 1, 0x7f'),
          ('bra', '0x28, 0, 0'), ('call4', '0x99, 1, 2, 3, 4'), ('call_ref', '0x9a, 1, 2, 3, 4'),
          ('implicit_pointer', '0xa0, 1, 2, 3, 4, 0xff, 0'), ('const_type', '0xa4, 0x81, 0, 2, 1, 2'),
          ('regval_type', '0xa5, 5, 0xff, 0'), ('deref_type', '0xa6, 4, 0xff, 0'),
          ('convert', '0xa8, 0xff, 0'), ('GNU_variable_value', '0xfd, 1, 2, 3, 4'))],
    first('implicit_pointer before DWARF 3: an address', versions=(2,), flags='',
          location=loc(expr(Raw('\t.byte 0xa0, 1, 2, 3, 4, 5, 6, 7, 8, 0')), ENTRY_VALUE)),
    first('an unknown operation ends the list', loc(expr(Raw('\t.byte 2')), ENTRY_VALUE), 'optimized'),
    first('an operation that is cut off ends the list', loc(expr(Raw('\t.byte 8')), ENTRY_VALUE), 'optimized'),
    first('a base address is not a location', loclist(('-1', 'f', None), (0, 1, expr(RSI))),
          'unexpected-register', versions=(2, 3, 4)),
    first('views of a location, by gcc -gvariable-location-views=incompat5',
          loclist(Raw('\t.byte 9, 1, 0x81, 0'), ('f', 'f + 1', expr(RSI))), 'unexpected-register', versions=(5,)),
    first('location is text', form('string', 'none'), 'optimized'),
    first('list by index beyond the table', form('loclistx', Raw('\t.uleb128 9')), 'optimized', versions=(5,)),
    first('list by index', form('loclistx', loc(expr(RSI))), 'unexpected-register', versions=(5,)),
    first('list out of its section', form('sec_offset', 0x10000), 'optimized'),
    first('floating-point register', 'reg17', 'unexpected-register'),

    # Several parameters.
    judged('all registers in order',
           [parameter(f'p{i}', reg) for i, reg in enumerate((*REGISTERS, STACK))], ''),
    judged('two registers exchanged', [parameter('a', RSI), parameter('b', RDI)],
           'unexpected-register'),
    judged('one optimized out, the others in their place',
           [parameter('a'), parameter('b', RSI), parameter('c', RDX)], 'optimized'),
    judged('behind the last register anything goes',
           [parameter(f'p{i}', reg) for i, reg in enumerate((*REGISTERS, RDI))], ''),
    judged('aggregate in two registers, the next behind it',
           [parameter('s', PIECES, 'pair'), parameter('b', RDX)], '', types=[PAIR]),
    judged('aggregate in pieces of the wrong register',
           [parameter('s', expr(RSI, ('piece', 8), RDI, ('piece', 8)), 'u2')],
           'unexpected-register', types=[SMALL_UNION]),
    judged('union in pieces, the next behind it',
           [parameter('s', PIECES, 'u2'), parameter('b', RDX)], '', types=[SMALL_UNION]),
    judged('union in pieces, the next in its second register',
           [parameter('s', PIECES, 'u2'), parameter('b', RSI)], 'unexpected-register',
           types=[SMALL_UNION]),
    judged('a struct by value excuses others', [parameter('s', PIECES, 'pair'),
                                                parameter('b', RSI)], '', types=[PAIR]),
    judged('a typedef of a const struct excuses others, too',
           [parameter('s', PIECES, 't'), parameter('b', RSI)], '',
           types=[PAIR, Die('const_type', type=ref('pair'), label='c'), typedef('t', 'c')]),
    judged('a pointer to a struct does not excuse others',
           [parameter('s', RDI, 'p'), parameter('b', RDX)], 'unexpected-register',
           types=[PAIR, pointer('pair', label='p')]),
    judged('a union in memory counts as one register, as in pahole', [
        parameter('s', STACK, 'u'), parameter('b', RDI)], 'unexpected-register optimized',
           types=[BIG_UNION]),
    judged('a struct in memory', [parameter('s', STACK, 'triple'), parameter('b', RDI)],
           'optimized', types=[TRIPLE]),
    judged('packed struct on the stack',
           [*[parameter(f'p{i}', reg) for i, reg in enumerate(REGISTERS)],
            parameter('s', STACK, 'packed')], 'uncertain',
           types=[struct('packed', 5, Die('member', name='c', type=ref('char'),
                                          data_member_location=0), member('i', 'int', 1)),
                  base('char', 1, ATE.signed_char)]),
    judged('struct on the stack that is not packed',
           [*[parameter(f'p{i}', reg) for i, reg in enumerate(REGISTERS)],
            parameter('s', STACK, 'plain')], '',
           types=[struct('plain', 8, Die('member', name='c', type=ref('char'),
                                         data_member_location=0), member('i', 'int', 4)),
                  base('char', 1, ATE.signed_char)]),

    # arm64 passes parameters in the registers 0 to 7.
    judged('arm64: all registers', [parameter(f'p{i}', f'reg{i}') for i in range(8)], '',
           machines=ARM64),
    judged('arm64: the first register is another', [parameter('a', 'reg5')],
           'unexpected-register', machines=ARM64),
    judged('arm64: behind the last register anything goes',
           [*[parameter(f'p{i}', f'reg{i}') for i in range(8)], parameter('p8', 'reg2')], '',
           machines=ARM64),
    judged('arm64: union in pieces, the next behind it',
           [parameter('s', expr('reg0', ('piece', 8), 'reg1', ('piece', 8)), 'u2'),
            parameter('b', 'reg2')], '', types=[SMALL_UNION], machines=ARM64),
    judged('arm64: union in pieces, the next in its second register',
           [parameter('s', expr('reg0', ('piece', 8), 'reg1', ('piece', 8)), 'u2'),
            parameter('b', 'reg1')], 'unexpected-register', types=[SMALL_UNION], machines=ARM64),

    # clang; pointers to members, also by gcc.
    judged('clang: expected register', [parameter('a', RDI)], '', producer=CLANG),
    judged('clang: another register', [parameter('a', RSI)], 'unexpected-register',
           producer=CLANG),
    judged('clang: second register of an aggregate', [
        parameter('s', expr(RSI, ('piece', 8)), 'pair'), parameter('b', RDX)], '', types=[PAIR],
           producer=CLANG),
    *[judged(f'clang: one register for a {tag} to a struct of two words',
             [parameter('s', RDI, 'r'), parameter('b', RSI)], '', producer=CLANG, skipped={'reference-as-pointer': 1},
             types=[PAIR, Die('const_type', type=ref('pair'), label='c'), Die(f'{tag}_type', type=ref('c'), label='r')])
      for tag in ('reference', 'rvalue_reference')],
    *[judged(f'{compiler}: a pointer to a member function takes two registers',
             [parameter('p', PIECES, 'm'), parameter('b', RDX)], '', producer=producer,
             skipped={'pointer-to-member-as-int': 1},
             types=[Die('subroutine_type', label='t'), Die('ptr_to_member_type', type=ref('t'), label='m')])
      for compiler, producer in (('gcc', 'GNU C++17 12.2.0'), ('clang', CLANG))],
    judged('a pointer to a member of two words takes one register',
           [parameter('p', RDI, 'm'), parameter('b', RSI)], '', skipped={'pointer-to-member-as-int': 1},
           types=[PAIR, Die('ptr_to_member_type', type=ref('pair'), label='m')]),
    judged('clang: a location that is not a register', [parameter('a', STACK)], '', producer=CLANG),
    judged('clang: aggregates in memory take no register', [
        parameter('s', STACK, 'u'), parameter('b', RDI)], '', types=[BIG_UNION], producer=CLANG),
    case('clang: nocall', function(parameter('a', RDI), calling_convention=3),
         ['FUNCTION f changed address', 'FUNC f: void (int a)'], producer=CLANG),
    case('clang: nocall, parameter dropped', function(parameter('a'), parameter('b', RDI),
                                                      calling_convention=form('data1', 3)),
         ['FUNCTION f unexpected-register optimized changed address',
          'FUNC f: void (int a, int b)'], producer=CLANG),
    case('clang: nocall at the origin',
         [function(parameter('a', label='f.a'), symbol=None, label='f', calling_convention=3,
                   inline=INLINE),
          function(parameter(None, RDI, None, abstract_origin=ref('f.a')), name=None,
                   abstract_origin=ref('f'))],
         ['FUNCTION f changed address', 'FUNC f: void (int a)'], producer=CLANG),
    case('gcc: nocall means nothing', function(parameter('a', RDI), calling_convention=3),
         ['FUNCTION f address', 'FUNC f: void (int a)']),
    case('producer by index', function(parameter('a', STACK)),
         ['FUNCTION f address', 'FUNC f: void (int a)'], producer=form('strx', CLANG),
         versions=(5,)),

    # For riscv64 and ppc64le, btf-emit knows only the number of parameter registers, so it accepts any register.
    *[judged(f'{compiler} for {machine}: registers', [parameter('a', 'reg12'), parameter('b', 'reg11')], '',
             producer=producer, machines=(machine,))
      for machine in ('riscv64', 'ppc64le')
      for compiler, producer in (('clang', CLANG), ('gcc', 'GNU C17 12.2.0'))],
]
