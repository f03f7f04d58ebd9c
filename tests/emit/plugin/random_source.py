# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Generates C sources for the oracle of the gcc plugin. A seed always gives the same source. The code is
meaningless. It uses types in many places and ways, and has functions that gcc may inline, clone or drop."""
import random

BASES = ('char', 'signed char', 'unsigned char', 'short', 'unsigned short', 'int', 'unsigned', 'long',
         'unsigned long', 'long long', 'unsigned long long', '_Bool', 'float', 'double', 'long double', '__int128',
         '__SIZE_TYPE__', '__WCHAR_TYPE__', '_Complex double')
FUNCTION_ATTRIBUTES = ('', '', '', '', 'noinline', 'noinline', 'weak', 'always_inline', 'cold', 'unused', 'used',
                       'noclone', 'section(".init.text")', 'flatten', 'const', 'noipa')
VARIABLE_ATTRIBUTES = ('', '', '', '', 'section(".data..percpu")', 'weak', 'aligned(64)', 'used', 'unused',
                       'section(".own")', 'common')


class RandomSource:
    """A source. `complete` and `declared` have the named types so far; those in `declared` are incomplete types and
    function types. `functions` has pairs (name, number of arguments of a call)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        # The random types of a source use either const or volatile: in DWARF, the order of the two would depend on
        # earlier declarations.
        self.qualifier = self.random.choice(('const', 'volatile'))
        self.complete, self.declared, self.functions, self.variables = [], [], [], []

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, *choices):
        return self.random.choice(choices)

    def name(self, prefix):
        self.count += 1
        return f'{prefix}{self.count}'

    def qualified(self, text, probability=.2):
        return f'{self.qualifier} {text}' if self.chance(probability) else text

    # Types. A declarator is a name or nothing, perhaps with '*', '[]' or '()' around it.

    def declaration(self, declarator, depth=3, incomplete=False, returned=False):
        """Returns a declaration, with types nested up to `depth`. `incomplete`: the type may also be void or one of
        `declared`. `returned`: `declarator` ends with a parameter list, so no '[]' may follow."""
        what = self.random.random()
        if depth and what < .25:
            star = f'*{self.pick("", "", f" {self.qualifier}", " restrict")}'
            if self.chance(.25):
                inner = f'({star.replace(" restrict", "")} {declarator})({self.parameters(depth - 1)[0]})'
                return self.declaration(inner, depth - 1, returned=True)
            inner = f'({star.replace(" restrict", "")} {declarator})'
            return self.declaration(inner, depth - 1, incomplete=True)
        if depth and what < .35 and not returned:
            size = self.pick('2', '3', '4', '7', 'sizeof(long)', "'a'")
            return self.declaration(f'{declarator}[{size}]', depth - 1)
        if depth and what < .39:
            return f'{self.composite("", depth - 1)} {declarator}'
        if what < .42 and self.complete:
            return f'{self.qualified("__typeof__")}({self.random.choice(self.complete)} *) {declarator}'
        if what < .44:
            return f'__typeof__(({self.pick(*BASES[:10])})0 + 1) {declarator}'
        named = self.complete + (self.declared + ['void'] if incomplete else [])
        base = self.random.choice(named) if named and what > .7 else self.pick(*BASES)
        return f'{self.qualified(base)} {declarator}'

    def parameters(self, depth=2, named=False):
        """Returns a parameter list, and the names of the parameters. With `named`, the list has all these names."""
        if not named and self.chance(.15):
            return self.pick('void', ''), []
        names = [self.name('p') for _ in range(self.random.randrange(0, 8))]
        items = [self.declaration(n if named or self.chance(.5) else '', depth) for n in names]
        if items and self.chance(.1):
            items.append('...')
        return ', '.join(items) or 'void', names

    def member(self, depth):
        what = self.random.random()
        if what < .15:
            enums = [t for t in self.complete if t.startswith('enum')]
            base = self.pick('int', 'unsigned', 'unsigned char', 'long', '_Bool', *enums)
            width = 1 if base == '_Bool' else self.random.randrange(1, 8)
            return f'{base} {self.name("b")} : {width};'
        if what < .2:
            return f'unsigned : {self.pick(0, 3, 7)};'
        if what < .27 and depth:
            return f'{self.composite("", depth - 1)};'
        attribute = self.pick('', '', '', '', ' __attribute__((aligned(16)))', ' __attribute__((packed))')
        return f'{self.declaration(self.name("m"), depth)}{attribute};'

    def composite(self, tag, depth=3):
        if self.chance(.15):
            return self.enumeration(tag)
        kind = self.pick('struct', 'struct', 'struct', 'union')
        body = ' '.join(self.member(depth) for _ in range(self.random.randrange(0 if tag else 1, 7)))
        if self.chance(.1) and kind == 'struct' and tag:
            body += f' int last; {self.pick(*BASES[:6])} flexible{self.pick("[]", "[0]")};'
        attributes = self.pick('', '', '', '', '', ' __attribute__((packed))', ' __attribute__((aligned(32)))',
                               ' __attribute__((packed, aligned(4)))')
        return f'{kind} {tag} {{ {body} }}{attributes}'

    def enumeration(self, tag):
        values = ('', '', '', ' = -1', ' = 7', ' = 0x80000000', ' = 0x100000000', ' = -0x8000000000')
        names = [self.name('E') + self.pick(*values) for _ in range(self.random.randrange(1, 6))]
        return f'enum {tag} {{ {", ".join(names)} }}{self.pick("", "", "", " __attribute__((packed))")}'

    # Outside functions.

    def new_type(self):
        what = self.random.random()
        if what < .15:
            tag = self.pick('struct', 'union') + ' ' + self.name('d')
            self.declared.append(tag)
            return f'{tag};'
        if what < .4:
            name = self.name('t')
            text = f'typedef {self.declaration(name)};'
            self.complete.append(name)
            return text
        if what < .5:
            name = self.name('t')
            text = f'typedef {self.composite(self.pick("", name))} {name};'
            self.complete.append(name)
            return text
        if what < .53: # a function type, which an object cannot have
            name = self.name('t')
            self.declared.append(name)
            return f'typedef {self.declaration(f"{name}({self.parameters()[0]})", 1, returned=True)};'
        if what < .6 and (tags := [t for t in self.declared if ' ' in t]):
            tag = self.random.choice(tags)
            self.declared.remove(tag)
            self.complete.append(tag)
            return f'{tag} {{ {self.declaration("m")}; {tag} *next; }};'
        text = self.composite(self.name('s'))
        self.complete.append(' '.join(text.split(' ', 2)[:2]))
        return f'{text};'

    def new_variable(self):
        name = self.name('v')
        attribute = self.pick(*VARIABLE_ATTRIBUTES)
        is_static = self.chance(.35) and attribute not in ('weak', 'common')
        one = self.declaration(name)
        if self.chance(.1):
            # No variable is void.
            return f'extern {self.declaration(name, incomplete=True)};'.replace('void ' + name, 'int ' + name)
        self.variables.append(name)
        lines = [one]
        if self.chance(.15) and '{' not in one: # a new type cannot be repeated
            lines = [f'extern {one}', one]
            is_static = False
        thread = self.pick('', '', '', '_Thread_local ') if not attribute and len(lines) == 1 else ''
        lines[-1] = f'{"static " * is_static}{thread}{lines[-1]}'
        if attribute:
            lines[-1] += f' __attribute__(({attribute}))'
        if attribute != 'common' and self.chance(.35):
            lines[-1] += ' = {1}'
        return ';\n'.join(lines) + ';'

    def new_prototype(self):
        name = self.name('g')
        parameters, _ = self.parameters()
        self.functions.append((name, 3))
        return f'{self.declaration(f"{name}({parameters})", 2, returned=True)};'

    def new_function(self):
        name = self.name('f')
        attribute = self.pick(*FUNCTION_ATTRIBUTES)
        storage = self.pick('', '', 'static', 'static', 'static', 'static inline', 'extern inline', 'inline')
        if attribute == 'weak':
            storage = ''
        if attribute == 'always_inline':
            storage = 'static inline'
        if self.chance(.06) and attribute == '': # in K&R style
            body = '{ return sink += a + sizeof *b; }'
            self.functions.append((name, 2))
            types = f'{self.pick("int", "short", "char")} a; {self.declaration("(*b)", 1)};'
            return f'{storage} long {name}(a, b) {types} {body}'
        parameters, names = self.parameters(named=True)
        result = self.declaration(f'{name}({parameters})', 1, returned=True)
        head = f'{storage} __attribute__(({attribute})) {result}'
        used = [n for n in names if self.chance(.7)]
        lines = [self.statement(used) for _ in range(self.random.randrange(0, 7))]
        lines += [f'sink += (long)(sizeof {n} + *(char *)&{n});' for n in used]
        self.functions.append((name, len(names)))
        before = f'{head};\n' if '{' not in head and self.chance(.3) else ''
        lines.append(self.pick('', '', 'for (;;) use(0);'))
        return before + head + '\n{\n    ' + '\n    '.join(lines) + '\n}'

    # Inside functions.

    def statement(self, names, depth=2):
        what = self.random.random()
        named = self.random.choice(self.complete) if self.complete else 'int'
        if what < .1:
            local = self.name('l')
            storage = self.pick('', 'static ', f'{self.qualifier} ')
            return f'{storage}{self.declaration(local)}; use(&{local});'
        if what < .18:
            return f'sink += sizeof({self.declaration("")});'
        if what < .26:
            return f'use(({self.declaration("(*)", 2, incomplete=True)})sink);'
        if what < .32:
            return f'sink += (long)&(({named} *)sink)[1];'
        if what < .36:
            return f'{{ {self.composite(self.name("in"))} inner; use(&inner); {self.statement(names)} }}'
        if what < .40 and depth:
            parts = [self.statement(names, depth - 1) for _ in range(2)]
            return f'if (sink) {{ {parts[0]} }} else {{ {parts[1]} }}'
        if what < .48:
            return f'sink += ({{ {self.declaration("x", 1)}; use(&x); 3; }});'
        if what < .52:
            return f'use(&(int [{self.random.randrange(1, 5)}]){{ {self.pick("1", "2")} }});'
        if what < .56:
            other = self.declaration('', 1)
            return f'sink += __builtin_types_compatible_p({named}, {other}) + __alignof__({named});'
        if what < .60:
            return f'{{ typedef {self.declaration("here", 2)}; here *h = (here *)sink; use(h); }}'
        if what < .64:
            return f'{{ extern {self.declaration(self.name("x"), 1)}; }}'
        if what < .68:
            nested = self.name('n')
            body = f'{{ use(({named} *)0); return a + sink; }}'
            return f'auto int {nested}(int a); int {nested}(int a) {body} sink += {nested}(2);'
        if what < .72 and self.variables:
            return f'use(&{self.random.choice(self.variables)});'
        if what < .76:
            return f'sink += __builtin_offsetof(struct {{ int a; {self.declaration("b", 1)}; }}, b);'
        if self.functions and what < .98:
            name, count = self.random.choice(self.functions)
            if self.chance(.5):
                return f'use({name});'
            # Without a prototype, any argument is allowed.
            arguments = ', '.join(self.pick('1', 'sink', '0') for _ in range(count))
            return f'(({self.pick("long", "int", "void")} (*)())({name}))({arguments});'
        return 'use(&sink);'

    def text(self):
        lines = ['static volatile long sink;', 'void use(const volatile void *);']
        makers = (*[self.new_type] * 3, *[self.new_variable] * 2, self.new_prototype, *[self.new_function] * 3)
        lines += [self.random.choice(makers)() for _ in range(self.random.randrange(5, 60))]
        return '\n'.join(lines) + '\n'
