// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the cases of the kernel's BTF selftests into files. The test compiles this file together
// with the tables of a kernel source (btf.c is included, btf_dedup_split.c and btf_distill.c are
// linked), and with the libbpf of the same source.
//
// usage: cases FOLDER
//
// Prints a line per case, separated by tabs: suite, number, title, and values as name=value:
//   failed   number of checks of the kernel's own test that failed
//   refused  1 if the kernel refuses the case, otherwise 0 (raw: by the table; distill: by
//            btf__relocate, if the test calls it); not printed for other cases
// The files of a case are FOLDER/SUITE-NUMBER-WHAT, with raw BTF:
//   dedup    input, table (the result in the table), libbpf (the result of btf__dedup)
//   split    base (if there is one), input, libbpf
//   distill  base, input, libbpf, libbpf.base, target (of btf__relocate)
//   raw      input, libbpf (if the kernel accepts the input)
#include "prog_tests/btf.c"

#include <stdarg.h>

#undef btf__dedup
#undef btf__distill_base
#undef btf__relocate

void test_btf_dedup_split(void);
void test_btf_distill(void);

struct test_env env;

static const char *folder, *suite;
static char title[256];
static int number, failures, refused = -1;
static bool watched; // files of this case were written

void failed(const char *file, int line, const char *name, const char *format, ...)
{
    va_list args;

    failures++;
    fprintf(stderr, "%s:%d: %s: ", file, line, name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

static void die(const char *what)
{
    fprintf(stderr, "cases: ERROR: %s-%d '%s': %s\n", suite, number, title, what);
    exit(1);
}

static void write_bytes(const char *what, const void *bytes, size_t size)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s-%d-%s", folder, suite, number, what);
    file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
        die("cannot write");
}

static void write_btf(const char *what, const struct btf *btf)
{
    __u32 size;
    const void *bytes = btf__raw_data(btf, &size);

    if (!bytes)
        die("btf__raw_data failed");
    write_bytes(what, bytes, size);
}

static void begin(const char *name)
{
    number++;
    failures = 0;
    refused = -1;
    watched = false;
    snprintf(title, sizeof title, "%s", name);
}

static void end(void)
{
    if (!title[0])
        return;
    printf("%s\t%d\t%s\tfailed=%d", suite, number, title, failures);
    if (refused >= 0)
        printf("\trefused=%d", refused);
    putchar('\n');
    title[0] = 0;
}

// A subtest of the linked files ends where the next begins. Without watched calls it has no files.
bool test__start_subtest(const char *name)
{
    end();
    begin(name);
    return true;
}

void test__skip(void) {}

static void write_input(const struct btf *btf)
{
    const struct btf *base = btf__base_btf(btf);

    if (watched) { // a second call in this subtest
        char name[sizeof title + 8];

        snprintf(name, sizeof name, "%s (again)", title);
        test__start_subtest(name);
    }
    watched = true;
    if (base)
        write_btf("base", base);
    write_btf("input", btf);
}

int watched_dedup(struct btf *btf, const struct btf_dedup_opts *opts)
{
    int error;

    write_input(btf);
    error = btf__dedup(btf, opts);
    write_btf("libbpf", btf);
    return error;
}

int watched_distill(const struct btf *split, struct btf **new_base, struct btf **new_split)
{
    int error;

    write_input(split);
    error = btf__distill_base(split, new_base, new_split);
    if (!error) {
        write_btf("libbpf.base", *new_base);
        write_btf("libbpf", *new_split);
    }
    return error;
}

int watched_relocate(struct btf *split, const struct btf *base)
{
    int error;

    write_btf("target", base);
    error = btf__relocate(split, base);
    refused = error != 0;
    return error;
}

static void *create(const __u32 *types, const char *strings, __u32 strings_size, unsigned int *size)
{
    void *raw = btf_raw_create(&hdr_tmpl, types, strings, strings_size, size, NULL);

    if (!raw)
        die("btf_raw_create failed");
    return raw;
}

static void *create_side(const char *what, const struct btf_raw_data *side, unsigned int *size)
{
    void *raw = create(side->raw_types, side->str_sec, side->str_sec_size, size);

    write_bytes(what, raw, *size);
    return raw;
}

// True if libbpf accepts the BTF.
static bool write_deduplicated(const void *raw, unsigned int size,
                               const struct btf_dedup_opts *opts)
{
    struct btf *btf = btf__new(raw, size);
    bool taken = !libbpf_get_error(btf) && !btf__dedup(btf, opts);

    if (taken)
        write_btf("libbpf", btf);
    btf__free(btf);
    return taken;
}

static void write_dedup(struct btf_dedup_test *test)
{
    unsigned int size, expected_size;
    void *input, *expected;

    begin(test->descr);
    input = create_side("input", &test->input, &size);
    expected = create_side("table", &test->expect, &expected_size);
    test->opts.sz = sizeof test->opts;
    if (!write_deduplicated(input, size, &test->opts))
        die("libbpf does not take it");
    free(input);
    free(expected);
    end();
}

static void write_raw(const struct btf_raw_test *test)
{
    struct btf_header *header;
    unsigned int size;

    begin(test->descr);
    header = create(test->raw_types, test->str_sec, test->str_sec_size, &size);
    header->hdr_len += test->hdr_len_delta;
    header->type_off += test->type_off_delta;
    header->str_off += test->str_off_delta;
    header->str_len += test->str_len_delta;
    write_bytes("input", header, size);
    refused = test->btf_load_err;
    if (!refused) // on refused BTF libbpf may hang or crash
        write_deduplicated(header, size, NULL);
    free(header);
    end();
}

static void begin_suite(const char *name)
{
    suite = name;
    number = 0;
}

int main(int argc, char **argv)
{
    size_t i;

    if (argc != 2) {
        fprintf(stderr, "usage: cases FOLDER\n");
        return 2;
    }
    folder = argv[1];
    libbpf_set_print(NULL);
    begin_suite("dedup");
    for (i = 0; i < ARRAY_SIZE(dedup_tests); i++)
        write_dedup(&dedup_tests[i]);
    begin_suite("split");
    test_btf_dedup_split();
    end();
    begin_suite("distill");
    test_btf_distill();
    end();
    begin_suite("raw");
    for (i = 0; i < ARRAY_SIZE(raw_tests); i++)
        write_raw(&raw_tests[i]);
    return fflush(stdout) ? 1 : 0;
}
