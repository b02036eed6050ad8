/* text_files.h - files of lines or of records, read and written by process 0 in pieces.
 *
 * BSPlib promises files to process 0 only.  The input is dealt out in equal parts, piece by piece,
 * and the output collected likewise, so that both may be pipes and nobody holds more than its own
 * part and one piece.
 */
#ifndef APPS_COMMON_TEXT_FILES_H
#define APPS_COMMON_TEXT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT_PIECE = 1 << 18 }; /* bytes per message */

/* Bytes that grow at the end. */
struct text {
    unsigned char *byte;
    int64_t size, capacity;
};

void text_add(struct text *text, const void *bytes, int64_t size);

/* Appends a part of the file called path ("-": stdin) to share, every byte to one process.  Parts
 * consist of whole records of record bytes or, when record is 0, of whole lines with their ends; an
 * end that the last line lacks is added.  False everywhere, after a message from process 0, when
 * the file cannot be read.  Collective; cost size * g + l per p pieces. */
bool text_read(const char *path, int64_t record, struct text *share);

/* Appends the next piece of this process's output; false when there is no more. */
typedef bool (*text_source)(void *context, struct text *piece);

/* Writes what the sources of process 0, 1, ... give, in this order, to the file called path ("-":
 * stdout).  False everywhere, after a message, when it cannot be written.  Collective; cost
 * size * g + l per piece. */
bool text_write(const char *path, text_source source, void *context);

/* The number of messages in the queue, and the first of them as newly allocated bytes. */
size_t messages_waiting(void);
unsigned char *message_take(int64_t *size);

#endif
