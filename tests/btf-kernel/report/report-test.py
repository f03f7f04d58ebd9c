#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests the page that btf-kernel report writes for a small build, as text and in a browser.

usage: report-test.py BTF-KERNEL BTF-EMIT BTF-MERGE [TEST...]       TEST: Report, InBrowser

The browser is headless Chromium, driven by chromedriver. BTFLINK_SCREENSHOTS=FOLDER keeps screenshots.
"""
import base64
import html.parser
import json
import os
import re
import shutil
import subprocess
import urllib.request

from helpers.cli_case import CliCase, run
from helpers.compilers import target_of

SOURCE = '''struct common { long a[4]; struct common *next; };
struct device { int id;
#ifdef PM
 long power[2];
#endif
 struct common c; };
struct own_NAME { struct device *d; int x[SIZE]; long y; };
int f_NAME(struct own_NAME *p, struct device *q) { return p->x[0] + q->id; }
static int __attribute__((noinline)) twice(struct own_NAME *p, int b) { return p->x[1] + b; }
int g_NAME(struct own_NAME *p) { return twice(p, 3); }
'''
FILES = [('kernel/sched/core.c', ()), ('kernel/sched/fair.c', ('-DPM',)), ('net/core/dev.c', ()),
         ('drivers/usb/<&>.c', ('-DPM',)), ('main.c', ())]
ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'  # WebDriver's key for an element
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy
KEYS = {'enter': '\ue007'}


class Wellformed(html.parser.HTMLParser):
    """Finds elements that are not closed (`open`) and end tags at wrong places (`bad`); collects links."""
    VOID = {'meta', 'link', 'input', 'br'}

    def __init__(self):
        super().__init__()
        self.open, self.bad, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ('src', 'href')]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad.append((tag, self.getpos()))


class Browser:
    """A chromedriver with one session of Chromium."""

    def __init__(self, folder):
        self.driver = subprocess.Popen(['chromedriver', '--port=0'], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        port = None
        for line in self.driver.stdout:
            found = re.search(r'successfully on port (\d+)', line)
            if found:
                port = found[1]
                break
        self.url = f'http://127.0.0.1:{port}/session'
        flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
                 '--disable-background-networking', '--disable-component-update', '--disable-sync',
                 '--disable-dev-shm-usage', '--user-data-dir=' + folder]
        wanted = {'goog:chromeOptions': {'args': flags}, 'goog:loggingPrefs': {'browser': 'ALL'}}
        try:
            self.url += '/' + self.post('', {'capabilities': {'alwaysMatch': wanted}})['sessionId']
        except BaseException:
            self.stop()
            raise

    def stop(self):
        self.driver.terminate()
        self.driver.wait()
        self.driver.stdout.close()

    def close(self):
        try:
            OPENER.open(urllib.request.Request(self.url, method='DELETE'), timeout=600).close()
        finally:
            self.stop()

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(),
                                         {'Content-Type': 'application/json'})
        with OPENER.open(request, timeout=600) as answer:
            return json.load(answer)['value']

    def emulate(self, width, height, dark, phone):
        self.cdp('Emulation.setDeviceMetricsOverride', width=width, height=height,
                 deviceScaleFactor=1, mobile=phone)
        self.cdp('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    def cdp(self, command, **values):
        return self.post('/goog/cdp/execute', {'cmd': command, 'params': values})

    def js(self, script):
        return self.post('/execute/sync', {'script': script, 'args': []})

    def messages(self):
        return [m['message'] for m in self.post('/se/log', {'type': 'browser'})]

    def type(self, selector, text):
        element = self.post('/element', {'using': 'css selector', 'value': selector})[ELEMENT]
        self.post(f'/element/{element}/value', {'text': text})

    def key(self, name):
        keys = [{'type': kind, 'value': KEYS[name]} for kind in ('keyDown', 'keyUp')]
        self.post('/actions', {'actions': [{'type': 'key', 'id': 'k', 'actions': keys}]})


class ReportCase(CliCase):
    """Base of the tests: makes a small build and its page."""
    btf_kernel = None  # set by run()
    btf_emit = None
    btf_merge = None

    def build(self):
        objects = []
        for number, (name, flags) in enumerate(FILES):
            os.makedirs(os.path.dirname(self.path(name)) or '.', exist_ok=True)
            self.write(name, SOURCE.replace('NAME', f'n{number}').replace('SIZE', str(number + 3)))
            objects.append(name[:-1] + 'o')
            self.must('gcc', '-g', '-O2', *flags, '-c', name, '-o', objects[-1])
            self.must(self.btf_emit, '--address-pool', objects[-1])
        self.must('ld', '-r', '-o', 'vmlinux.o', *objects)
        self.write('start.c', 'int main(void) { return 0; }\n')
        self.must('gcc', '-c', 'start.c')
        self.must('gcc', '-o', 'vmlinux', 'start.o', 'vmlinux.o')
        self.must(self.btf_merge, '--time-trace=trace.json', '--image=vmlinux', '--update=vmlinux',
                  'vmlinux.o')

    def report(self, *arguments, status=0):
        done = self.call(self.btf_kernel, 'report', '-q', *arguments)
        self.assertEqual(done.returncode, status, f'{arguments}: {done.stdout}{done.stderr}')
        return done.stderr

    def page(self):
        self.build()
        self.report('.', '--time-trace=trace.json', '-o', 'report.html')
        with open(self.path('report.html'), encoding='utf-8') as file:
            return file.read()


class Report(ReportCase):
    def test_page(self):
        page = self.page()
        parser = Wellformed()
        parser.feed(page)
        self.assertEqual((parser.open, parser.bad), ([], []))
        # The page does not load other files.
        self.assertEqual([link for link in parser.links if not link.startswith(('#', 'data:'))], [])
        self.assertRegex(page, r'>drivers/usb/</span>[^\n]*\n.*>&lt;&amp;&gt;\.c</span>')
        self.assertIn('<code>struct device</code>: 2 versions', page)
        self.assertIn('long int power[2]', page)
        self.assertRegex(page, r'Version 1, in 2 files: drivers/usb/.*, kernel/sched/fair\.c')
        self.assertIn('<tr><td>twice</td><td>ambiguous</td></tr>', page)
        self.assertIn('btf-merge: select_contents', page)
        self.assertIn('<span class="n">alone</span>', page)

    def test_numbers(self):
        """Numbers of one name and several sizes are not duplicates."""
        if target_of('gcc') != 'x86_64':
            self.skipTest('gcc -mlong-double-64 is for x86')
        self.write('a.c', 'struct a { long double number; } a;\n')
        self.write('b.c', 'struct b { long double number; } b;\nint main(void) { return 0; }\n')
        self.must('gcc', '-g', '-c', 'a.c')
        self.must('gcc', '-g', '-mlong-double-64', '-c', 'b.c')
        self.must(self.btf_emit, '--address-pool', 'a.o', 'b.o')
        self.must('gcc', '-o', 'vmlinux', 'a.o', 'b.o')
        self.must(self.btf_merge, '--image=vmlinux', '--update=vmlinux', 'a.o', 'b.o')
        self.report('vmlinux', '-o', 'report.html')
        page = self.read('report.html').decode()
        self.assertRegex(page, r'>FLOAT</td><td class="n" data-v="2">')
        self.assertNotIn('<code>long double', page)

    def test_package(self):
        """The page of a package lists modules by their folder in lib/modules/RELEASE. Modules do not share types, so
        the page lacks the column "alone"."""
        self.build()
        self.write('module.c', SOURCE.replace('NAME', 'module').replace('SIZE', '9'))
        self.must('gcc', '-g', '-O2', '-c', 'module.c')
        self.must(self.btf_emit, 'module.o')
        folder = 'package/lib/modules/6.12.0/updates/modules'
        os.makedirs(self.path(folder))
        self.must('cp', 'vmlinux', 'package')
        self.must(self.btf_merge, '--base=vmlinux', '--update=module.o', 'module.o')
        self.must('cp', 'module.o', f'{folder}/module.ko')
        self.report('package', '-o', 'report.html')
        page = self.read('report.html').decode()
        self.assertRegex(page, r'>updates/modules/</span><span[^>]*>[^<]*</span></summary>')
        self.assertNotIn('>alone<', page)

    def test_sizes(self):
        page = self.page()
        rows = dict(re.findall(r'<span>([^<]*)</span><span class="n" title="(\d+) bytes">', page))
        # The size of a type is divided among the files that have it, so the sizes of files add up to those of
        # folders, except for rounding.
        folders = sum(int(rows[name]) for name in ('kernel/sched/', 'drivers/usb/', 'net/core/', 'main.c'))
        files = sum(int(size) for name, size in rows.items() if name.endswith('.c'))
        self.assertAlmostEqual(folders, files, delta=4)

    def test_merge(self):
        """btf-merge --report writes such a page, too."""
        self.build()
        environment = {**os.environ, 'PATH': os.path.dirname(self.btf_kernel) + ':' + os.environ['PATH']}

        def merge(*arguments, status=0):
            done = self.call(self.btf_merge, *arguments, env=environment)
            self.assertEqual(done.returncode, status, done.stderr)
            return done.stderr
        merge('--report=page.html', '--image=vmlinux', '-o', 'raw.btf', 'vmlinux.o')
        page = self.read('page.html').decode()
        self.assertIn('<code>struct device</code>: 2 versions', page)
        self.assertRegex(page, r'>kernel/sched/</span>(?s:.*)>core\.c</span>')
        self.assertIn('<tr><td>twice</td><td>ambiguous</td></tr>', page)
        self.assertIn('btf-merge: select_contents', page)
        # A module, whose object BTF the merge replaces.
        self.write('module.c', SOURCE.replace('NAME', 'module').replace('SIZE', '9'))
        self.must('gcc', '-g', '-O2', '-c', 'module.c', '-o', 'module.ko')
        self.must(self.btf_emit, 'module.ko')
        self.write('list', 'module.ko')
        before = self.read('module.ko')
        for how in (['module.ko'], ['@list'], ['--image=module.ko', 'module.ko']):
            self.write('module.ko', before)
            merge('--report=module.html', '--base=vmlinux', '--update=module.ko', *how)
            page = self.read('module.html').decode()
            self.assertIn('<span>module.c</span>', page)
            self.assertIn('>module</td>', page)
        # A list that can be read only once is refused.
        self.write('list', '@/dev/stdin')
        for inputs in '@/dev/stdin', '@list':
            with subprocess.Popen(['echo', 'vmlinux.o'], stdout=subprocess.PIPE) as pipe:
                done = self.call(self.btf_merge, '--report=x.html', '-o', 'raw', inputs, stdin=pipe.stdout,
                                 env=environment)
            self.assertEqual(done.returncode, 1)
            self.assertIn('/dev/stdin: is not a regular file; --report reads', done.stderr)
        os.mkfifo(self.path('fifo'))  # nothing is read
        self.assertIn('fifo: is not a regular file; --report reads the trace',
                      merge('--report=x.html', '--time-trace=fifo', '-o', 'raw', 'main.o', status=1))
        # If there is nothing to encode, there is no page.
        self.assertIn('nothing is written', merge('--report=x.html', '-o', 'raw', 'start.o'))
        self.assertIn('fifo: is not a regular file', merge('--report=x.html', '-o', 'raw', '@fifo', status=1))
        self.assertIn('nofile: cannot open: No such file', merge('--report=x.html', '-o', 'raw', '@nofile', status=1))
        # --report is refused with these options and files, and without btf-kernel.
        self.assertIn('--report with --base needs --update',
                      merge('--report=x.html', '--base=vmlinux', '-o', 'raw', 'main.o', status=2))
        self.assertIn('--report does not', merge('--report=x.html', '--format=object', '-o', 'raw', 'main.o', status=2))
        self.assertIn('needs its --base', merge('--report=x.html', '--update=main.o', 'main.o', status=1))
        self.assertIn('raw.btf: exists and is not an HTML page',
                      merge('--report=raw.btf', '-o', 'raw.btf', 'vmlinux.o', status=1))
        self.write('list', 'vmlinux.o\n')
        for page in 'vmlinux.o', 'list':
            before = self.read(page)
            self.assertIn('not an HTML page', merge(f'--report={page}', '-o', 'raw.btf', '@list', status=1))
            self.assertEqual(self.read(page), before)
        environment['PATH'] = self.path('nowhere')
        self.assertIn('--report needs btf-kernel', merge('--report=x.html', '-o', 'new.btf', 'main.o', status=1))
        self.assertFalse({'x.html', 'raw', 'new.btf'} & self.names())

    def test_objects_of_other_tools(self):
        """The bytes of BTF without a link trailer are counted, too."""
        self.build()
        self.must(self.btf_merge, '-o', 'raw.btf', 'vmlinux.o')
        self.report('vmlinux', '--objects=raw.btf', '-o', 'report.html')
        rows = dict(re.findall(r'<span>([^<]*)</span><span class="n" title="(\d+) bytes">',
                               self.read('report.html').decode()))
        self.assertGreater(int(rows['raw.btf']), 500)

    def test_features(self):
        """The page lists the functions that the build's features leave out. Here only consistent_func does that."""
        self.write('a.c', 'int same(int a) { return a; }\nint main(void) { return 0; }\n')
        self.write('b.c', 'static inline int same(long *p) { return (int)*p; }\n'
                          'int use(long *p) { return same(p); }\n')
        self.must('gcc', '-g', '-O2', '-c', 'a.c', 'b.c')
        self.must('gcc', '-o', 'vmlinux', 'a.o', 'b.o')
        whole = self.read('vmlinux')
        for features in 'default', 'var,float,decl_tag,type_tag,enum64':
            self.must(self.btf_emit, '--features=' + features, '--address-pool', 'a.o', 'b.o')
            self.must('ld', '-r', '-o', 'vmlinux.o', 'a.o', 'b.o')
            self.write('vmlinux', whole)
            self.must(self.btf_merge, '--features=' + features, '--image=vmlinux', '--update=vmlinux', 'vmlinux.o')
            self.report('.', '-o', 'report.html')
            self.assertEqual('<td>same</td><td>inconsistent</td>' in self.read('report.html').decode(),
                             features == 'default')
        # The page of a merge depends on this merge, not on the objects.
        environment = {**os.environ, 'PATH': os.path.dirname(self.btf_kernel) + ':' + os.environ['PATH']}
        for features in 'default', 'var,float,decl_tag,type_tag,enum64':
            done = self.call(self.btf_merge, '--features=' + features, '--report=report.html', '--image=vmlinux',
                             '-o', 'raw.btf', 'vmlinux.o', env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual('<td>same</td><td>inconsistent</td>' in self.read('report.html').decode(),
                             features == 'default')

    def test_merge_shares_its_threads(self):
        """btf-merge passes its number of threads to btf-kernel."""
        self.build()
        os.mkdir(self.path('bin'))
        self.write('bin/btf-kernel', '#!/bin/sh\nprintf "%s\\n" "$@" > arguments\n')
        os.chmod(self.path('bin/btf-kernel'), 0o755)
        environment = {**os.environ, 'PATH': self.path('bin') + ':' + os.environ['PATH']}
        done = self.call(self.btf_merge, '--threads=8', '--report=page.html', '-o', 'raw.btf', 'vmlinux.o',
                         env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('--threads=8', self.read('arguments').decode().split('\n'))

    def test_names_of_any_bytes(self):
        self.build()
        self.write('bad-\udcff\udcc3.ko', b'none')
        self.report('.', '-o', 'report.html', status=1)
        page = self.read('report.html').decode()  # fails unless the page is valid UTF-8
        self.assertIn('>bad_\ufffd\ufffd</td>', page)

    def test_damaged_objects_are_an_error(self):
        self.build()
        whole = self.read('vmlinux.o')
        self.write('vmlinux.o', whole[:len(whole) // 2])
        self.assertIn('ERROR: ./vmlinux.o', self.report('.', '-o', 'report.html', status=1))
        # The rest is on the page.
        self.assertIn('<code>struct device</code>: 2 versions', self.read('report.html').decode())
        # An object without object BTF is not an error.
        self.must('objcopy', '--remove-section=.BTF', 'start.o', 'vmlinux.o')
        self.report('.', '-o', 'report.html')

    def test_builds_with_link_time_optimisation(self):
        """With link-time optimisation, objects can be bitcode, and vmlinux.o has no object BTF."""
        self.build()
        self.must('objcopy', '--remove-section=.BTF', 'start.o', 'vmlinux.o')
        os.mkdir(self.path('init'))
        for name in ['.vmlinux.export.o', 'init/version-timestamp.o']:
            self.write(name, b'BC\xc0\xde')
        self.assertEqual(self.report('.', '-o', 'report.html'), '')

    def test_errors(self):
        self.build()
        self.assertIn('-o are required', self.report('.', status=2))
        self.report('-o', 'out.html', status=2)
        self.report('nowhere', '-o', 'out.html', status=1)
        self.write('bad.json', '{}\n')
        self.assertIn('bad.json', self.report('.', '--time-trace=bad.json', '-o', 'out.html', status=1))
        self.assertIn('start.c', self.report('.', '--objects=start.c', '-o', 'out.html', status=1))
        self.assertIn('vmlinux: is not used without objects; name them with --objects',
                      self.report('vmlinux', '--image=vmlinux', '-o', 'out.html', status=1))
        self.assertFalse(os.path.exists(self.path('out.html')))


class InBrowser(ReportCase):
    def browser(self):
        for program in ('chromium', 'chromedriver'):
            if not shutil.which(program):
                self.skipTest(f'{program} is not installed')
        browser = Browser(self.path('profile'))
        self.addCleanup(browser.close)
        return browser

    def screenshot(self, browser, name):
        folder = os.environ.get('BTFLINK_SCREENSHOTS')
        if folder:
            picture = browser.cdp('Page.captureScreenshot', format='png')['data']
            with open(os.path.join(folder, name + '.png'), 'wb') as file:
                file.write(base64.b64decode(picture))

    def test_browser(self):
        self.page()
        browser = self.browser()
        browser.post('/url', {'url': 'file://' + self.path('report.html')})
        for width, height, phone in ((1280, 900, False), (390, 844, True)):
            for dark in (False, True):
                browser.emulate(width, height, dark, phone)
                # The page is not wider than the window, and has the requested colours.
                self.assertLessEqual(browser.js('return document.documentElement.scrollWidth'), width)
                colour = browser.js('return getComputedStyle(document.body).backgroundColor')
                red = int(re.search(r'\d+', colour)[0])
                self.assertEqual(red < 128, dark, colour)
                self.screenshot(browser, f'{"phone" if phone else "wide"}-{"dark" if dark else "light"}')
        browser.emulate(1280, 900, False, False)
        self.sorts(browser)
        self.filters(browser)
        self.opens(browser)
        self.assertEqual(browser.messages(), [])

    def column(self, browser, table, index):
        return browser.js(f'return [...document.querySelectorAll("#{table} tbody tr")]'
                          f'.filter(r => !r.hidden).map(r => r.cells[{index}].textContent)')

    def sorts(self, browser):
        names = self.column(browser, 'kind-table', 0)
        # The heading has a button, so the table can be sorted with the keyboard.
        browser.js('document.querySelector("#kind-table th button").focus()')
        browser.key('enter')
        self.assertEqual(self.column(browser, 'kind-table', 0), sorted(names))
        browser.key('enter')
        self.assertEqual(self.column(browser, 'kind-table', 0), sorted(names, reverse=True))
        self.assertEqual(browser.js('return document.querySelector("#kind-table th").ariaSort'),
                         'descending')
        browser.js('document.querySelectorAll("#kind-table th button")[1].click()')
        sizes = browser.js('return [...document.querySelectorAll("#kind-table tbody tr")]'
                           '.map(r => Number(r.cells[1].dataset.v))')
        self.assertEqual(sizes, sorted(sizes, reverse=True))

    def filters(self, browser):
        browser.type('input[data-for="time-table"]', 'SELECT merge')
        names = self.column(browser, 'time-table', 0)
        self.assertTrue(names)
        self.assertTrue(all('select' in name for name in names), names)
        self.assertRegex(browser.js('return document.querySelector('
                                    '\'input[data-for="time-table"]\').closest("div").textContent'),
                         rf'{len(names)} of \d+')

    def opens(self, browser):
        """A folder of the tree opens by keyboard."""
        seen = ('return [...document.querySelectorAll(".tree span:first-child")]'
                '.filter(e => e.checkVisibility()).map(e => e.textContent)')
        self.assertNotIn('dev.c', browser.js(seen))
        browser.js('[...document.querySelectorAll(".tree summary")].find(e => e.textContent.startsWith("net"))'
                   '.focus()')
        browser.key('enter')
        self.assertIn('dev.c', browser.js(seen))

    def test_without_scripts(self):
        self.page()
        browser = self.browser()
        browser.cdp('Emulation.setScriptExecutionDisabled', value=True)
        browser.post('/url', {'url': 'file://' + self.path('report.html')})
        text = browser.cdp('Page.captureSnapshot')['data']  # MHTML; "=" at the end of a line continues the line
        self.assertIn('>core.c<', text.replace('=\r\n', ''))


if __name__ == '__main__':
    run(__name__, ReportCase, ('btf_kernel', 'btf_emit', 'btf_merge'))
