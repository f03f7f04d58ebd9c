// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "queue.h"

#include <stdio.h>

static int print(const struct job *job, const char *greeting)
{
    return printf("%s %s, priority %d\n", greeting, job->name, job->priority);
}

struct queue work = {.run = print};

static struct job jobs[] = {
    {.name = "sweep", .priority = PRIORITY_LOW},
    {.name = "cook", .priority = PRIORITY_HIGH, .urgent = 1},
};

int main(void)
{
    struct job *job;

    for (unsigned i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        queue_add(&work, &jobs[i]);
    while ((job = queue_take(&work)))
        work.run(job, "done:");
    return jobs_added() != jobs_taken();
}
