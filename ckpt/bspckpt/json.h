/* json.h - writes JSON to stdout, one value after the other; commas and quotes come by themselves.
 */
#ifndef CKPT_BSPCKPT_JSON_H
#define CKPT_BSPCKPT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name: of the member when inside an object, else NULL. */
/* A value that is JSON already. */
void json_ready(const char *name, const char *json);
void json_object(const char *name);
void json_array(const char *name);
/* Ends the innermost object or array. */
void json_end(void);
void json_text(const char *name, const char *text);
void json_number(const char *name, uint64_t number);
void json_signed(const char *name, int64_t number);
void json_flag(const char *name, bool flag);
/* As hexadecimal digits. */
void json_bytes(const char *name, const void *bytes, size_t size);

#endif
