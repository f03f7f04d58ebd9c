// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Declarations for add.c, take.c and main.c, the small program of tests/quick-start.
#pragma once

enum priority { PRIORITY_LOW = 1, PRIORITY_HIGH = 10 };

struct job {
    struct job *next;
    enum priority priority;
    unsigned urgent : 1;
    unsigned attempts : 7;
    char name[16];
};

struct queue {
    struct job *first, *last;
    unsigned long length;
    int (*run)(const struct job *job, const char *greeting);
};

extern struct queue work;

void queue_add(struct queue *queue, struct job *job);
struct job *queue_take(struct queue *queue);
int jobs_added(void);
int jobs_taken(void);
