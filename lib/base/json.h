/* json.h - writes JSON to a file, one value after the other; adds commas and quotes.
 *
 * A value in an object has a name; for one in an array, and the first of all, it is NULL.  The
 * output is always valid UTF-8: other bytes in texts are taken for Latin-1.
 */
#ifndef BSPZ_BASE_JSON_H
#define BSPZ_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BSPZ_JSON_DEPTH 16 /* nested objects and arrays */

/* Initially all zero but the first two. */
struct bspz_json {
    FILE *file;
    bool indented; /* each value on a line of its own; else all is one line */
    unsigned depth;
    struct {
        char closing;
        bool any; /* it has had a value */
    } levels[BSPZ_JSON_DEPTH];
};

void bspz_json_object(struct bspz_json *json, const char *name);
void bspz_json_array(struct bspz_json *json, const char *name);
/* Ends the innermost object or array, and the line after the outermost one. */
void bspz_json_end(struct bspz_json *json);

/* NULL becomes null. */
void bspz_json_text(struct bspz_json *json, const char *name, const char *text);
void bspz_json_number(struct bspz_json *json, const char *name, uint64_t number);
void bspz_json_signed(struct bspz_json *json, const char *name, int64_t number);
/* With nine digits; null when it is not finite. */
void bspz_json_real(struct bspz_json *json, const char *name, double number);
void bspz_json_flag(struct bspz_json *json, const char *name, bool flag);
void bspz_json_null(struct bspz_json *json, const char *name);
/* As a text of hexadecimal digits. */
void bspz_json_bytes(struct bspz_json *json, const char *name, const void *bytes, size_t size);
/* The formatted text must be valid JSON, such as a number with three decimal places. */
void bspz_json_format(struct bspz_json *json, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
