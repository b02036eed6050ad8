/* Source positions of Fortran programs. */
#include <string.h>

#include "lib/rt/fortran/fortran.h"

#define FILE_NAMES      64
#define FILE_NAME_BYTES 256

/* Fortran literals do not end in a null byte, but have the same address at each call. */
static struct {
    const char *text;
    size_t length;
    char name[FILE_NAME_BYTES];
} file_names[FILE_NAMES];

const char *bspz_fortran_file(const char *text, int length)
{
    /* With character data among the arguments the length may be that of another one, so it is
     * bounded. */
    size_t limit = length < 0 ? 0 : length < FILE_NAME_BYTES ? length : FILE_NAME_BYTES - 1;
    size_t used = strnlen(text, limit);

    for (int i = 0; i < FILE_NAMES; i++) {
        if (file_names[i].text == NULL) {
            file_names[i].text = text;
            file_names[i].length = used;
            memcpy(file_names[i].name, text, used);
        }
        if (file_names[i].text == text && file_names[i].length == used &&
            memcmp(file_names[i].name, text, used) == 0)
            return file_names[i].name;
    }
    return "(other Fortran files)";
}
