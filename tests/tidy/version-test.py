#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Checks the commit that --version prints, and that the files with the release's number and date agree.

usage: version-test.py SOURCE_ROOT
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

AUTHOR = ('-c', 'user.name=Nobody', '-c', 'user.email=nobody@example.org')


def run(*command, cwd):
    clean = {name: value for name, value in os.environ.items() if not name.startswith('GIT_')}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f'{command}: {done.stdout}{done.stderr}')
    return done.stdout


class Version(unittest.TestCase):
    source = ''

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name) / 'copy'
        self.top.mkdir()
        for name in run('git', 'ls-files', '-z', cwd=self.source).split('\0'):
            path = pathlib.Path(self.source) / name
            if path.is_file():
                (self.top / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, self.top / name)

    def test_one_version(self):
        """meson.build, the changelogs and the spec file have the same version."""
        found = {name: re.search(pattern, (self.top / name).read_text(), re.M).group(1)
                 for name, pattern in (('meson.build', r"^  version: '(.*)',"),
                                       ('CHANGELOG.md', r'^## ([\d.]+)'),
                                       ('debian/changelog', r'^btflink \((.*)\)'),
                                       ('packaging/btflink.spec', r'^Version: +(.*)'))}
        self.assertEqual(len(set(found.values())), 1, found)

    def test_one_date(self):
        """The changelogs, also that of the spec file, have the same date of the release."""
        found = {}
        for name, pattern, form in (('CHANGELOG.md', r'^## \S+ \((.*)\)', '%Y-%m-%d'),
                                    ('debian/changelog', r'^ -- .*>  (.* \d{4}) ', '%a, %d %b %Y'),
                                    ('packaging/btflink.spec', r'^%changelog\n\* (.* \d{4}) ', '%a %b %d %Y')):
            text = re.search(pattern, (self.top / name).read_text(), re.M).group(1)
            found[name] = time.strptime(text, form)[:3]
        self.assertEqual(len(set(found.values())), 1, found)

    def commit(self, folder):
        run('git', 'init', '-q', cwd=folder)
        run('git', 'add', '-A', cwd=folder)
        run('git', *AUTHOR, 'commit', '-q', '-m', 'x', cwd=folder)
        return run('git', 'rev-parse', '--short', 'HEAD', cwd=folder).strip()

    def named(self, build):
        """Makes version.cc in the build folder `build`. Returns the commit that --version would print in brackets
        after the version; "none": it would print the version only."""
        if not (self.top / build).exists():
            run('meson', 'setup', build, '-Dtests=disabled', cwd=self.top)
        run('ninja', '-C', build, 'common/version.cc', cwd=self.top)
        text = (self.top / build / 'common/version.cc').read_text()
        return text.split('commit = "')[1].split('"')[0]

    def test_checkout(self):
        commit = self.commit(self.top)
        self.assertEqual(self.named('build'), commit)
        self.assertEqual(self.named('../outside'), commit)
        with open(self.top / 'README.md', 'a', encoding='utf-8') as file:
            file.write('more\n')
        self.assertEqual(self.named('build'), commit + '-dirty')

    def test_no_checkout_of_ours(self):
        """The sources lie, without .git, inside the repository of another project, whose commit must not be printed."""
        (self.top.parent / 'file').write_text('theirs')
        self.commit(self.top.parent)
        self.assertEqual(self.named('build'), 'none')


if __name__ == '__main__':
    if len(sys.argv) < 2 or sys.argv[1].startswith('-'):
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    Version.source = sys.argv.pop(1)
    if not shutil.which('git') or not os.path.exists(os.path.join(Version.source, '.git')):
        print('SKIP: the source is not a git checkout, or git is missing')
        sys.exit(77)
    unittest.main()
