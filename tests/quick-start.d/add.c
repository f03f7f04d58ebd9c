// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "queue.h"

static int count; // take.c has another one

void queue_add(struct queue *queue, struct job *job)
{
    job->next = 0;
    if (queue->last)
        queue->last->next = job;
    else
        queue->first = job;
    queue->last = job;
    queue->length++;
    count++;
}

int jobs_added(void)
{
    return count;
}
