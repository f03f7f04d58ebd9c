# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""The results of tests/kernel/clients: read from consoles, compared, printed."""
import collections
import re
import typing

from checks import Failed

CUT_SHORT = 'cut short' # text of the result of a machine that failed; always counts as a difference
# Kind of outcome -> heading of a column.
KINDS = {'works': 'works with both', 'fails': 'works with neither, the same result', 'skips': 'skipped by both',
         'varies': 'varies on one kernel', 'differs': 'differs'}


class Result(typing.NamedTuple):
    text: str
    said: list


def results_of(console):
    """Returns the results that a machine's console shows, by name, and whether the machine ran all of its clients."""
    results, name, count = {}, None, 0
    for line in console.splitlines():
        if part := re.match(r'clients: part: (.*?)\t(.*)', line):
            before = [results[part[1]].text] if part[1] in results else [] # several parts may have one name
            results[part[1]] = Result(', '.join([*before, part[2]]), [])
        elif result := re.match(r'clients: result: (.*?)\t(.*)', line):
            name = result[1]
            count += 1
            results[name] = Result(result[2], [])
        elif (said := re.match(r'clients: (\w+): (.*)', line)) and name:
            if said[1] == 'end':
                return results, count == int(said[2])
            results[name].said.append(f'{said[1]}: {said[2]}')
    return results, False


def works(text):
    return text == 'passed' or text.startswith(('exit 0', 'holds', 'OK'))


class Outcome(typing.NamedTuple):
    """The results of one client, or of a part of a test, on the kernels A and B: one Result for each run."""
    name: str
    a: list
    b: list

    def kind(self):
        a, b = ({result.text for result in results} for results in (self.a, self.b))
        if CUT_SHORT in a | b or not a & b:
            return 'differs'
        if len(a | b) > 1:
            return 'varies'
        text, = a
        return 'works' if works(text) else 'skips' if text == 'SKIP' else 'fails'


def outcomes_of(runs):
    """Returns the Outcomes of `runs`. A run is a pair: the results on kernel A and those on kernel B, by name. For a
    single kernel, both are the same. The names are those of the first run. Later runs count only for names whose
    results differ in the first."""
    none = Result('no result', [])
    names = dict.fromkeys(name for results in runs[0] for name in results)
    first = [Outcome(name, [runs[0][0].get(name, none)], [runs[0][1].get(name, none)]) for name in names]
    for outcome in first:
        if outcome.kind() == 'differs':
            for a, b in runs[1:]:
                outcome.a.append(a.get(outcome.name, none))
                outcome.b.append(b.get(outcome.name, none))
    return first


def report(outcomes):
    """Prints the outcomes. Returns whether none is of the kind `differs`. Raises Failed if no client works."""
    groups, more = collections.defaultdict(collections.Counter), []
    for name, a, b in outcomes:
        kind = Outcome(name, a, b).kind()
        same = kind not in ('varies', 'differs')
        texts = ['; then '.join(result.text for result in results) for results in (a, b)]
        print(f'{"same" if same else kind.upper()}\t{name}\tA: {texts[0]}\tB: {texts[1]}')
        if not same:
            more += [f'{name}: {which}: {line}' for which, results in (('A', a), ('B', b))
                     for result in results for line in [result.text, *result.said]]
        groups[name.split(':')[0]][kind] += 1
    print(f'\n| client | {" | ".join(KINDS.values())} |\n|---|{"---:|" * len(KINDS)}')
    for group, counts in groups.items():
        print(f'| {group} | ' + ' | '.join(str(counts[kind]) for kind in KINDS) + ' |')
    for line in more:
        print(line)
    if not any(counts['works'] for counts in groups.values()):
        raise Failed('no client works')
    return not any(counts['differs'] for counts in groups.values())
