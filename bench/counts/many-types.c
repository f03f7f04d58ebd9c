// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A translation unit as large as a kernel's: 320 structs that refer to themselves, with a variable
// and two functions for each. All of them are in the debug information.
typedef unsigned long word;
typedef word (*callback)(void *data, const char *name, int level);

struct list {
    struct list *next, *prev;
};

enum state { idle, running, stopped = 8, dead = 1 << 20 };

#define CONCAT(a, b) a##b
#define NAME(prefix, n) CONCAT(prefix, n)

#define ONE(n)                                                                                     \
    struct NAME(later_, n);                                                                        \
    struct NAME(item_, n) {                                                                        \
        struct list list;                                                                          \
        struct NAME(item_, n) * self, *const *table[4];                                            \
        const volatile struct NAME(later_, n) * later;                                             \
        enum state state;                                                                          \
        unsigned flag : 1, kind : 5, : 2, count : 24;                                              \
        union {                                                                                    \
            word words[8];                                                                         \
            char NAME(text_, n)[64];                                                               \
            struct {                                                                               \
                short low, high;                                                                   \
            };                                                                                     \
        };                                                                                         \
        callback notify;                                                                           \
        int (*NAME(compare_, n))(const struct NAME(item_, n) *, struct NAME(item_, n) *, int);     \
    };                                                                                             \
    enum NAME(mode_, n) { NAME(off_, n), NAME(on_, n) = n + 1 };                                   \
    typedef struct NAME(item_, n) NAME(item_t_, n);                                                \
    static word NAME(total_, n);                                                                   \
    static inline int NAME(is_busy_, n)(const NAME(item_t_, n) * item, enum NAME(mode_, n) mode)   \
    {                                                                                              \
        return item->flag && item->state != idle && mode != NAME(off_, n);                         \
    }                                                                                              \
    word NAME(walk_, n)(NAME(item_t_, n) * item, word limit, const char *name)                     \
    {                                                                                              \
        word sum = 0;                                                                              \
        for (struct NAME(item_, n) *i = item; i && sum < limit; i = i->self)                       \
            if (NAME(is_busy_, n)(i, NAME(on_, n)))                                                \
                sum += i->notify ? i->notify(i, name, i->kind) : i->words[n % 8];                  \
        return NAME(total_, n) += sum;                                                             \
    }

// ROW makes 8 structs, BLOCK 8 * 8.
#define ROW(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7)
#define BLOCK(n) ROW(n##0) ROW(n##1) ROW(n##2) ROW(n##3) ROW(n##4) ROW(n##5) ROW(n##6) ROW(n##7)

BLOCK(1) BLOCK(2) BLOCK(3) BLOCK(4) BLOCK(5)
