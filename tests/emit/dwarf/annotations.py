# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Cases for type tags and decl tags. In clang's DWARF, tags are children of the tagged entry. In gcc 16's, the tagged
entry refers to the first tag of a chain, and each tag refers to the next."""
import copy

from helpers.dwarf_parts import *  # pylint: disable=wildcard-import,unused-wildcard-import

ASSEMBLY = '\t.data\nv:\t.4byte 0\n\t.text\nf:\tnop\n'


def gnu(kind, text, then=None, **more):
    """A tag in gcc's form, with its text as label. `then` is the label of the next tag in the chain."""
    link = {'GNU_annotation': ref(then)} if then else {}
    return Die('GNU_annotation', name=f'btf_{kind}_tag', const_value=text, label=text, **link,
               **more)


def llvm(kind, text):
    return Die('LLVM_annotation', name=f'btf_{kind}_tag', const_value=text)


def tagged(die, first):
    die = copy.copy(die)
    die.attributes = die.attributes + [('GNU_annotation', ref(first))]
    return die


def tags(*lines):
    return [f'DECL_TAG {line}' for line in lines]


def case(name, dies, lines, **more):
    return Case(name, unit(INT, *dies), lines=[INT_LINE, *lines], assembly=ASSEMBLY, **more)


def function(*children, **more):
    return Die('subprogram', *children, low_pc=form('addr', 'f'), **{'name': 'f', **more})


def parameter(name, reg, *children, **more):
    return Die('formal_parameter', *children, type=ref('int'), location=expr(f'reg{reg}'),
               **({'name': name} if name else {}), **more)


STRUCT_LINE = 'STRUCT s size 8; int a@0; int b@32'
PROTO_LINES = ['FUNC_PROTO: void (int a, int b)', 'FUNC f: void (int a, int b)',
               'FUNCTION f address']
VARIABLE = Die('variable', name='v', type=ref('int'), location=expr(('addr', 'v')))
DECLARED = Die('variable', name='v', type=ref('int'), declaration=True, label='d')
DEFINED = Die('variable', specification=ref('d'), location=expr(('addr', 'v')))
VAR_LINES = ['VAR v: int static', 'DATASEC .data size 4; v@0+4', 'VARIABLE v in .data size 4']

CASES = [
    # Type tags.
    case('gcc: one type tag', [gnu('type', 'user'), tagged(pointer('int'), 'user')],
         ['TYPE_TAG: tag(user) int', 'PTR: *tag(user) int'],
         order=['INT int', 'TYPE_TAG user', 'PTR'], machines=BOTH),
    case('gcc: the chain begins with the outermost tag',
         [gnu('type', 'outer', then='middle'), gnu('type', 'middle', then='inner'),
          gnu('type', 'inner'), tagged(pointer('int'), 'outer'), tagged(pointer('int'), 'inner')],
         ['TYPE_TAG: tag(outer) tag(middle) tag(inner) int', 'TYPE_TAG: tag(middle) tag(inner) int',
          'TYPE_TAG: tag(inner) int', 'PTR: *tag(outer) tag(middle) tag(inner) int',
          'PTR: *tag(inner) int']),
    case('gcc: tagged pointer to void', [gnu('type', 'user'), tagged(pointer(), 'user')],
         ['TYPE_TAG: tag(user) void', 'PTR: *tag(user) void']),
    case('gcc: a tag behind its pointer, with attributes of other forms',
         [Die('pointer_type', type=ref('int'), GNU_annotation=form('ref_udata', 'rcu')),
          Die('GNU_annotation', name=form('strp', 'btf_type_tag'), const_value=form('strp', 'rcu'),
              label='rcu')],
         ['TYPE_TAG: tag(rcu) int', 'PTR: *tag(rcu) int']),
    case('gcc: the chain ends at another kind of annotation',
         [gnu('type', 'a', then='d'), gnu('decl', 'd', then='b'), gnu('type', 'b'),
          tagged(pointer('int'), 'a')],
         ['TYPE_TAG: tag(a) int', 'PTR: *tag(a) int']),
    case('gcc: a reference to something that is not an annotation',
         [typedef('t', 'int'), tagged(pointer('int'), 't')], ['TYPEDEF t = int', 'PTR: *int']),
    case('gcc: type tags count on pointers only',
         [gnu('type', 'user'), tagged(struct('s', 0), 'user'), tagged(typedef('t', 'int'), 'user'),
          tagged(Die('const_type', type=ref('int')), 'user')],
         ['STRUCT s size 0', 'TYPEDEF t = int', 'CONST: const int']),
    case('gcc: without the feature', [gnu('type', 'user'), tagged(pointer('int'), 'user')],
         ['PTR: *int'], emit=['--features=decl_tag']),
    case('clang: the first child is innermost',
         [pointer('int', llvm('type', 'inner'), llvm('type', 'middle'), llvm('type', 'outer'))],
         ['TYPE_TAG: tag(inner) int', 'TYPE_TAG: tag(middle) tag(inner) int',
          'TYPE_TAG: tag(outer) tag(middle) tag(inner) int',
          'PTR: *tag(outer) tag(middle) tag(inner) int'],
         order=['INT int', 'TYPE_TAG inner', 'TYPE_TAG middle', 'TYPE_TAG outer', 'PTR']),
    case('clang: children count, not the chain',
         [gnu('type', 'gcc'), tagged(pointer('int', llvm('type', 'clang')), 'gcc')],
         ['TYPE_TAG: tag(clang) int', 'PTR: *tag(clang) int']),
    case('clang: annotations of other names',
         [pointer('int', Die('LLVM_annotation', name='btf:type_tag', const_value='user'))],
         ['PTR: *int']),
    case('annotations without a name, a value, with a number',
         [pointer('int', Die('LLVM_annotation', const_value='x'),
                  Die('LLVM_annotation', name='btf_type_tag'),
                  Die('LLVM_annotation', name='btf_type_tag', const_value=5))], ['PTR: *int']),
    case('children of another kind before a chain',
         [gnu('type', 'outer', then='inner'), gnu('type', 'inner'),
          tagged(pointer('int', llvm('decl', 'other')), 'outer')],
         ['TYPE_TAG: tag(inner) int', 'TYPE_TAG: tag(outer) tag(inner) int',
          'PTR: *tag(outer) tag(inner) int']),

    # Decl tags; both kinds of tags together; tagged copies of types; circular chains.
    case('gcc: struct, member, union, typedef',
         [gnu('decl', 'one', then='two'), gnu('decl', 'two'),
          tagged(struct('s', 8, member('a', 'int'), tagged(member('b', 'int', 4), 'one')), 'two'),
          tagged(Die('union_type', tagged(member('m', 'int'), 'two'), name='u', byte_size=4),
                 'one'),
          tagged(typedef('t', 'int'), 'one')],
         [STRUCT_LINE, 'UNION u size 4; int m@0', 'TYPEDEF t = int',
          *tags('one on STRUCT s part 1', 'two on STRUCT s part 1', 'two on STRUCT s',
                'two on UNION u part 0', 'one on UNION u', 'two on UNION u', 'one on TYPEDEF t',
                'two on TYPEDEF t')],
         order=['INT int', 'STRUCT s', 'UNION u', 'TYPEDEF t', 'DECL_TAG one', 'DECL_TAG two',
                'DECL_TAG two', 'DECL_TAG two', 'DECL_TAG one', 'DECL_TAG two', 'DECL_TAG one',
                'DECL_TAG two'], machines=BOTH),
    case('gcc: function and parameter',
         [gnu('decl', 'one'), gnu('decl', 'two'),
          tagged(function(parameter('a', 5), tagged(parameter('b', 4), 'one')), 'two')],
         [*PROTO_LINES, *tags('one on FUNC f part 1', 'two on FUNC f')]),
    case('gcc: variable', [gnu('decl', 'one', then='two'), gnu('decl', 'two'),
                           tagged(Die('variable', name='v', type=ref('int'),
                                      location=expr(('addr', 'v'))), 'one')],
         [*VAR_LINES, *tags('one on VAR v', 'two on VAR v')], emit=['--features=+global_var']),
    case('gcc: tags of a variable that was declared with some, defined with one more',
         [gnu('decl', 'three', then='two'), gnu('decl', 'two', then='one'), gnu('decl', 'one'),
          tagged(DECLARED, 'two'), tagged(DEFINED, 'three')],
         [*VAR_LINES, *tags('three on VAR v', 'two on VAR v', 'one on VAR v')],
         emit=['--features=+global_var']),
    case('gcc: tags of a declaration only', [gnu('decl', 'one'), tagged(DECLARED, 'one'), DEFINED],
         [*VAR_LINES, *tags('one on VAR v')], emit=['--features=+global_var']),
    case('gcc: tags of a definition only', [gnu('decl', 'one'), DECLARED, tagged(DEFINED, 'one')],
         [*VAR_LINES, *tags('one on VAR v')], emit=['--features=+global_var']),
    case('tags of declaration and definition that have none in common',
         [Die('variable', llvm('decl', 'one'), name='v', type=ref('int'), declaration=True,
              label='d'),
          Die('variable', llvm('decl', 'two'), specification=ref('d'),
              location=expr(('addr', 'v')))],
         [*VAR_LINES, *tags('one on VAR v', 'two on VAR v')], emit=['--features=+global_var']),
    case('gcc: one chain for a member, a function, a parameter and a variable',
         [gnu('decl', 'one', then='two'), gnu('decl', 'two'),
          struct('s', 8, tagged(member('a', 'int'), 'two'), tagged(member('b', 'int', 4), 'one')),
          tagged(function(parameter('a', 5), tagged(parameter('b', 4), 'two')), 'one'),
          tagged(VARIABLE, 'one')],
         [STRUCT_LINE, *PROTO_LINES, *VAR_LINES,
          *tags('two on STRUCT s part 0', 'one on STRUCT s part 1', 'two on STRUCT s part 1',
                'two on FUNC f part 1', 'one on FUNC f', 'two on FUNC f', 'one on VAR v',
                'two on VAR v')],
         emit=['--features=+global_var']),
    case('gcc: a copy of a type, made only for a tag, counts as the type',
         [gnu('type', 'percpu'), tagged(base('int', 4, ATE.signed, label='copy'), 'percpu'),
          tagged(array('int', 4), 'percpu'), typedef('t', 'copy')],
         ['ARRAY: [4 by int]int', 'TYPEDEF t = int']),
    case('gcc: the function has tags, its out-of-line copy has none',
         [gnu('decl', 'one'), gnu('decl', 'two'),
          tagged(Die('subprogram', tagged(Die('formal_parameter', name='a', type=ref('int'),
                                              label='a'), 'one'),
                     name='f', inline=1, label='abstract'), 'two'),
          Die('subprogram', Die('formal_parameter', abstract_origin=ref('a'),
                                location=expr('reg5')),
              abstract_origin=ref('abstract'), low_pc=form('addr', 'f'))],
         ['FUNC_PROTO: void (int a)', 'FUNC f: void (int a)', 'FUNC f: void (int a)',
          'FUNCTION f inline', 'FUNCTION f address',
          *tags('one on FUNC f part 0', 'two on FUNC f')]),
    Case('gcc: chains in a type unit and in the unit that needs the type',
         [Unit([gnu('decl', 'one', then='two'), gnu('decl', 'two'), gnu('type', 'user'),
                struct('s', 16, tagged(member('a', 'int'), 'one'),
                       tagged(member('p', 'pointer', 8), 'two'), label='s'),
                tagged(pointer('int', label='pointer'), 'user'), INT],
               kind='type', signature=7, type_label='s'),
          Unit([Die('structure_type', declaration=True, signature=form('ref_sig8', 7), label='t'),
                gnu('type', 'rcu'), gnu('decl', 'three'), tagged(pointer('t'), 'rcu'),
                tagged(typedef('name', 't'), 'three')])],
         lines=[INT_LINE, 'STRUCT s size 16; int a@0; *tag(user) int p@64', 'TYPEDEF name = struct s',
                'TYPE_TAG: tag(user) int', 'PTR: *tag(user) int', 'TYPE_TAG: tag(rcu) struct s',
                'PTR: *tag(rcu) struct s',
                *tags('one on STRUCT s part 0', 'two on STRUCT s part 0', 'two on STRUCT s part 1',
                      'three on TYPEDEF name')], versions=(5,)),
    case('clang: struct, member, typedef, function, parameter, variable',
         [struct('s', 8, member('a', 'int', 0, llvm('decl', 'm0')), member('b', 'int', 4),
                 llvm('decl', 's1'), llvm('decl', 's2')),
          typedef('t', 'int', llvm('decl', 't')),
          function(parameter('a', 5), parameter('b', 4, llvm('decl', 'p1')), llvm('decl', 'f')),
          Die('variable', llvm('decl', 'v'), name='v', type=ref('int'),
              location=expr(('addr', 'v')))],
         [STRUCT_LINE, 'TYPEDEF t = int', *PROTO_LINES, *VAR_LINES,
          *tags('m0 on STRUCT s part 0', 's1 on STRUCT s', 's2 on STRUCT s', 't on TYPEDEF t',
                'p1 on FUNC f part 1', 'f on FUNC f', 'v on VAR v')],
         order=['INT int', 'STRUCT s', 'TYPEDEF t', 'DECL_TAG m0', 'DECL_TAG s1', 'DECL_TAG s2',
                'DECL_TAG t', 'VAR v', 'DECL_TAG v', 'FUNC_PROTO', 'FUNC f', 'DECL_TAG p1',
                'DECL_TAG f', 'DATASEC .data'], emit=['--features=+global_var']),
    case('part numbers count unnamed members, but not bases',
         [struct('base', 4), Die('class_type', Die('inheritance', type=ref('base')),
                                 member(None, 'int'), member('m', 'int', 4, llvm('decl', 'x')),
                                 name='k', byte_size=8)],
         ['STRUCT base size 4', 'STRUCT k size 8; int @0; int m@32',
          *tags('x on STRUCT k part 1')]),
    Case('C++: part numbers follow the order of offsets',
         unit(INT, struct('s', 8, member('b', 'int', 4, llvm('decl', 'x')), member('a', 'int')), language=0x21),
         lines=[INT_LINE, 'STRUCT s size 8; int a@0; int b@32', *tags('x on STRUCT s part 1')]),
    case('tags of a declaration',
         [Die('structure_type', llvm('decl', 'x'), name='s', declaration=True)],
         ['FWD s struct']),
    case('tags of equal structs are there once',
         [struct('s', 4, member('a', 'int'), llvm('decl', 'x'), label='s1'),
          struct('s', 4, member('a', 'int'), llvm('decl', 'x'), label='s2')],
         ['STRUCT s size 4; int a@0', *tags('x on STRUCT s')]),
    case('decl tags without the feature',
         [gnu('decl', 'one'), tagged(struct('s', 0, llvm('decl', 'x')), 'one'),
          tagged(function(parameter('a', 5), tagged(parameter('b', 4), 'one')), 'one')],
         ['STRUCT s size 0', *PROTO_LINES], emit=['--features=type_tag']),
    case('gcc: a circular chain of decl tags ends',
         [gnu('decl', 'x', then='x'), tagged(struct('s', 0), 'x')], ['STRUCT s size 0',
                                                                    *tags('x on STRUCT s')]),
    Case('gcc: a circular chain of type tags ends',
         unit(INT, gnu('type', 'x', then='y'), gnu('type', 'y', then='x'),
              tagged(pointer('int'), 'x'), typedef('last', 'int')),
         some=[INT_LINE, 'TYPEDEF last = int']),
]
