// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "queue.h"

static int count; // add.c has another one

struct job *queue_take(struct queue *queue)
{
    struct job *job = queue->first;

    if (!job)
        return 0;
    queue->first = job->next;
    if (!queue->first)
        queue->last = 0;
    queue->length--;
    count++;
    return job;
}

int jobs_taken(void)
{
    return count;
}
