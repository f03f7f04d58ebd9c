# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Generates C programs of any size whose files disagree about some types. The same arguments give the same
program.

All files include one header. A file may define CONFLICT_N, which makes a member of struct sN volatile, and
HIDE_N, which leaves struct sN declared but not defined. If a compiler command defines SHOW_ALL, HIDE_N has no
effect. Members of the structs are integers, bitfields, enums, pointers to structs, typedefs and functions, arrays of
pointers, and unnamed structs and unions. The files have functions and variables; some are static and have the same
name in all files.
"""
import os
import random


class Program:
    """Writes a header and sources into a folder. With `agree`, no file defines CONFLICT_N or HIDE_N."""

    def __init__(self, structs, files, conflicts=3, hidden=4, seed=1, agree=False):
        self.random = random.Random(seed)
        self.structs, self.files, self.agree = structs, files, agree
        # Structs with CONFLICT_N or HIDE_N are in the second half. Fewer structs refer to these, because only later
        # structs use their typedefs.
        late = range(structs // 2, structs)
        chosen = self.random.sample(late, conflicts + hidden)
        self.conflicts, self.hidden = chosen[:conflicts], chosen[conflicts:]

    def member(self, number, place):
        """One member of struct `number`. A member refers to structs only by pointers, and uses typedefs of earlier
        structs only."""
        pick = self.random.random()
        other = self.random.randrange(self.structs)
        target = f'struct s{other}'
        name = f'm{place}'
        if pick < .25:
            return f'{target} *{name};'
        if pick < .40:
            return f'{self.random.choice(["int", "long", "char", "unsigned short"])} {name};'
        if pick < .50:
            return f'int (*{name})({target} *, const char *);'
        if pick < .60:
            return f'struct {{ {target} *a; int b; }} {name};'
        if pick < .68:
            return f'union {{ long a; {target} **b; }} {name};'
        if pick < .76:
            return f'unsigned {name} : {self.random.randrange(1, 20)};'
        if pick < .84:
            return f'{target} *{name}[{self.random.randrange(1, 9)}];'
        if pick < .92 and number:
            return f't{self.random.randrange(number)} *{name};'
        return f'enum e{self.random.randrange(8)} {name};'

    def header(self):
        lines = ['#pragma once']
        for number in range(8):
            lines.append(f'enum e{number} {{ E{number}_A, E{number}_B = {number + 2} }};')
        for number in range(self.structs):
            if number in self.hidden:
                lines.append(f'struct s{number};')
                lines.append(f'#if !defined HIDE_{number} || defined SHOW_ALL')
            lines.append(f'struct s{number} {{')
            if number in self.conflicts:
                lines += [f'#ifdef CONFLICT_{number}', 'volatile', '#endif']
            lines.append(f'int first{number};')
            lines += [self.member(number, place) for place in range(self.random.randrange(1, 6))]
            lines.append('};')
            if number in self.hidden:
                lines.append('#endif')
            lines.append(f'typedef struct s{number} t{number};')
        return '\n'.join(lines) + '\n'

    def source(self, number):
        pick = self.random.randrange
        lines = [f'#define CONFLICT_{c}' for c in self.conflicts if self.random.random() < .5]
        lines += [f'#define HIDE_{h}' for h in self.hidden if self.random.random() < .4]
        if self.agree:
            lines.clear()
        lines += ['#include "program.h"']
        lines += [f'struct own{number} {{ struct s{pick(self.structs)} *a; int b; }};',
                  f'struct own{number} global{number};',
                  f'static volatile int mine = {number};',
                  f'static __attribute__((noinline)) int helper(struct s{pick(self.structs)} *s)',
                  '{ return s != 0 && mine; }',
                  'static inline int shared(const t0 *t) { return t->first0; }',
                  f'int function{number}(struct s{self.conflicts[0]} *a, t{pick(self.structs)} *b)',
                  '{ return helper((void *)b) + helper((void *)a) + shared((void *)a); }',
                  '__attribute__((weak)) int common(struct s1 *s) { return s != 0; }']
        if number == 0:
            lines.append('int main(void) { return 0; }')
        return '\n'.join(lines) + '\n'

    def write(self, folder):
        """Writes the files; returns the names of the sources."""
        names = []
        with open(os.path.join(folder, 'program.h'), 'w', encoding='ascii') as file:
            file.write(self.header())
        for number in range(self.files):
            names.append(f'file{number}.c')
            with open(os.path.join(folder, names[-1]), 'w', encoding='ascii') as file:
                file.write(self.source(number))
        return names
