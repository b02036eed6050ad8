/* program.c - information about a program before it runs; see program.h. */
#include "bsprun/launcher/program.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/note.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#define SEGMENTS_MAX 256u
#define NOTES_MAX    65536u /* most bytes that are read of a segment of notes */

static bool runnable(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool program_find(const char *name, const char *path, char *found, size_t size)
{
    if (strchr(name, '/'))
        return snprintf(found, size, "%s", name) < (int)size;
    for (const char *at = path ? path : DEFAULT_PATH; at;
         at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        int length = (int)strcspn(at, ":");

        snprintf(found, size, "%.*s%s%s", length, at, length ? "/" : "./", name);
        if (runnable(found))
            return true;
    }
    return snprintf(found, size, "./%s", name) < (int)size && access(found, F_OK) == 0;
}

/* Sizes in notes are rounded up to the segment's alignment. */
static size_t rounded(size_t size, size_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

static int search_notes(const unsigned char *notes, size_t size, size_t alignment)
{
    size_t at = 0;

    while (size - at >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        uint32_t seconds;

        memcpy(&head, notes + at, sizeof head);
        at += sizeof head;
        if (head.n_namesz > size || head.n_descsz > size)
            return 0;
        size_t name = rounded(head.n_namesz, alignment), text = rounded(head.n_descsz, alignment);
        if (name > size - at || head.n_descsz > size - at - name)
            return 0;
        if (head.n_type == BSPZ_NOTE_CHECKPOINT && head.n_namesz == sizeof BSPZ_NOTE_NAME &&
            memcmp(notes + at, BSPZ_NOTE_NAME, sizeof BSPZ_NOTE_NAME) == 0 &&
            head.n_descsz == sizeof seconds) {
            memcpy(&seconds, notes + at + name, sizeof seconds);
            return seconds <= INT_MAX ? (int)seconds : 0;
        }
        if (text > size - at - name)
            return 0;
        at += name + text;
    }
    return 0;
}

static int search_segment(int file, const ElfW(Phdr) * segment)
{
    size_t size = segment->p_filesz < NOTES_MAX ? segment->p_filesz : NOTES_MAX;
    unsigned char *notes = malloc(size + 1);
    int seconds = 0;

    if (notes && pread(file, notes, size, (off_t)segment->p_offset) == (ssize_t)size)
        seconds = search_notes(notes, size, segment->p_align == 8 ? 8 : 4);
    free(notes);
    return seconds;
}

/* Accepts only programs for this machine's architecture. */
static bool read_header(int file, ElfW(Ehdr) * head)
{
    const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;

    return pread(file, head, sizeof *head, 0) == (ssize_t)sizeof *head &&
           memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == class &&
           head->e_phentsize == sizeof(ElfW(Phdr)) && head->e_phnum <= SEGMENTS_MAX;
}

int program_linked_seconds(const char *path)
{
    ElfW(Ehdr) head;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int seconds = 0;

    if (file < 0)
        return 0;
    for (unsigned i = 0; read_header(file, &head) && i < head.e_phnum && seconds == 0; i++) {
        ElfW(Phdr) segment;

        if (pread(file, &segment, sizeof segment, (off_t)(head.e_phoff + i * sizeof segment)) !=
            (ssize_t)sizeof segment)
            break;
        if (segment.p_type == PT_NOTE)
            seconds = search_segment(file, &segment);
    }
    close(file);
    return seconds;
}
