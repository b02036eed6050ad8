/* gate.h - what programs of the tests share that go on as far as a file says. */
#ifndef TESTS_INTEG_GATE_H
#define TESTS_INTEG_GATE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The number in the file; 0: there is none. */
static inline int gate_step(const char *path)
{
    int step = 0;
    FILE *file = fopen(path, "r");

    if (file && fscanf(file, "%d", &step) != 1)
        step = 0;
    if (file)
        fclose(file);
    return step;
}

/* Until the number in the file is at least that of the step. */
static inline void wait_for_gate(const char *path, int step)
{
    while (gate_step(path) < step)
        usleep(5000);
}

/* To both outputs, in every fourth step by a child, and by process 0 what it has read. */
static inline void say_everywhere(int pid, int step)
{
    char text[80];

    printf("step %d of %d\n", step, pid);
    fflush(stdout);
    fprintf(stderr, "error %d of %d\n", step, pid);
    snprintf(text, sizeof text, "echo child %d of %d", step, pid);
    if (step % 4 == 0 && system(text) != 0)
        exit(1);
    if (pid == 0 && fgets(text, sizeof text, stdin))
        printf("read %s", text);
    fflush(stdout);
}

#endif
