# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Reads directives ("// key: value") in the comments of a C file, and checks the output of btf-lines.

  expect: LINE       the output must have this line
  count: N PATTERN   exactly N lines match the regular expression
  reject: PATTERN    no line matches the regular expression

Words in a key, as in expect-gcc or reject-clang-image, limit the directive to variants to which all these words apply.
"""
import re

DEMANDS = ('expect', 'count', 'reject')


def directives(path):
    found = []
    with open(path, encoding='utf-8') as source:
        for line in source:
            m = re.match(r'\s*// ([a-z]+[a-z0-9-]*): (.*)$', line)
            if m:
                found.append((m.group(1), m.group(2).strip()))
    return found


def values(found, name):
    """All words of the directives whose key is exactly `name`."""
    return [word for key, text in found if key == name for word in text.split()]


def check(lines, wanted, variant):
    """Returns a text for each missing or unwanted line, and for each wrong count. `lines` is the output of btf-lines,
    `wanted` the directives, `variant` the words that apply."""
    problems = []
    for key, text in wanted:
        kind, *words = key.split('-')
        if kind not in DEMANDS or not set(words) <= set(variant):
            continue
        if kind == 'expect':
            if text not in lines:
                problems.append(f'missing: {text}')
        elif kind == 'reject':
            problems += [f'unwanted: {line}' for line in lines if re.search(text, line)]
        else:
            number, pattern = text.split(' ', 1)
            hits = [line for line in lines if re.search(pattern, line)]
            if len(hits) != int(number):
                problems.append(f'{len(hits)} instead of {number} match {pattern}: {hits}')
    return problems
