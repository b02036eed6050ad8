/* json.h - writes JSON to a file, one value after the other; commas and quotes come by themselves.
 *
 * A value in an object has a name, one in an array, or the first of all, has NULL for it.  Whatever
 * a text holds, what is written is JSON in UTF-8: bytes of it that are no UTF-8 are taken for
 * Latin-1.
 */
#ifndef BSPZ_BASE_JSON_H
#define BSPZ_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BSPZ_JSON_DEPTH 16 /* objects and arrays in each other */

/* All zero but the first two: nothing is written yet. */
struct bspz_json {
    FILE *file;
    bool indented; /* each value on a line of its own; else all is one line */
    unsigned depth;
    struct {
        char closing;
        bool any; /* it has a value already */
    } levels[BSPZ_JSON_DEPTH];
};

void bspz_json_object(struct bspz_json *json, const char *name);
void bspz_json_array(struct bspz_json *json, const char *name);
/* Ends the innermost of these; behind the outermost one comes the end of the line. */
void bspz_json_end(struct bspz_json *json);

/* NULL is null. */
void bspz_json_text(struct bspz_json *json, const char *name, const char *text);
void bspz_json_number(struct bspz_json *json, const char *name, uint64_t number);
void bspz_json_signed(struct bspz_json *json, const char *name, int64_t number);
/* With nine digits; null when it is not finite. */
void bspz_json_real(struct bspz_json *json, const char *name, double number);
void bspz_json_flag(struct bspz_json *json, const char *name, bool flag);
void bspz_json_null(struct bspz_json *json, const char *name);
/* As a text of hexadecimal digits. */
void bspz_json_bytes(struct bspz_json *json, const char *name, const void *bytes, size_t size);
/* What the format makes must be JSON, such as a number of three decimal places. */
void bspz_json_format(struct bspz_json *json, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
