/* space_check.c - reads histories of the dataspace from its standard input, TAG put|get|read NUMBER
 * CALLED RETURNED in a line, and looks for an order of the operations of each tag that explains
 * them.
 *
 * Tags are independent, so a history is right if it is right for each of them (Herlihy and Wing,
 * "Linearizability: a correctness condition for concurrent objects", 1990); for one tag see
 * tests/sim/dataspace/zones.h.  Exit status 0: all are right; 1: some is not, which is printed;
 * 2: what it reads is no history, or there is no memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/dataspace/zones.h"

struct line {
    char tag[32];
    struct linear_operation operation;
};

static int by_tag(const void *a, const void *b)
{
    const struct line *one = a, *other = b;
    int order = strcmp(one->tag, other->tag);

    if (order == 0)
        order = (one->operation.called > other->operation.called) -
                (one->operation.called < other->operation.called);
    return order;
}

static int read_line(const char *text, struct line *line)
{
    static const char *const kinds[] = {
        [LINEAR_PUT] = "put", [LINEAR_GET] = "get", [LINEAR_READ] = "read"};
    unsigned long long called, returned;
    char kind[8], rest;
    int known = 0;

    if (sscanf(text, "%31s %7s %u %llu %llu %c", line->tag, kind, &line->operation.value, &called,
               &returned, &rest) != 5)
        return 0;
    line->operation.called = called;
    line->operation.returned = returned;
    for (int i = LINEAR_PUT; i <= LINEAR_READ; i++)
        if (strcmp(kind, kinds[i]) == 0) {
            line->operation.kind = (enum linear_kind)i;
            known = 1;
        }
    return known && line->operation.value > 0 && called <= returned;
}

static int is_right(const struct line *lines, const struct linear_operation *operations,
                    size_t count)
{
    if (zones_hold(operations, count, false))
        return 1;
    printf("no order explains the operations on tag %s:\n", lines[0].tag);
    for (size_t i = 0; i < count; i++)
        printf("  %s %u from %llu to %llu\n",
               operations[i].kind == LINEAR_PUT   ? "put"
               : operations[i].kind == LINEAR_GET ? "get"
                                                  : "read",
               operations[i].value, (unsigned long long)operations[i].called,
               (unsigned long long)operations[i].returned);
    return 0;
}

int main(void)
{
    size_t count = 0, room = 0, tags = 0;
    struct line *lines = NULL;
    struct linear_operation *operations;
    char text[256];
    int wrong = 0;

    while (fgets(text, sizeof text, stdin)) {
        if (count == room) {
            room = 2 * room + 256;
            lines = realloc(lines, room * sizeof *lines);
            if (!lines)
                return 2;
        }
        if (!read_line(text, &lines[count++])) {
            printf("not an operation: %s", text);
            return 2;
        }
    }
    operations = calloc(count + 1, sizeof *operations);
    if (!operations)
        return 2;
    if (count > 0)
        qsort(lines, count, sizeof *lines, by_tag);
    for (size_t i = 0; i < count; i++)
        operations[i] = lines[i].operation;
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first; next < count && strcmp(lines[next].tag, lines[first].tag) == 0;)
            next++;
        wrong += !is_right(&lines[first], &operations[first], next - first);
        tags++;
    }
    free(operations);
    free(lines);
    printf("%zu histories, %zu operations, %d wrong\n", tags, count, wrong);
    return wrong > 0;
}
