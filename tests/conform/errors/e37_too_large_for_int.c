/* Error 37: a count or size that does not fit the type of the result: an int has no room for two
 * gigabytes.  With a size_t the same call is right.
 *
 * P: 1
 * STATUS: nonzero
 *
 * CASE: bytes of the queue
 * RUN: bare
 * ARGS: qsize
 * ERROR: bsp_qsize @qsize 0 1
 * FACT: \b2147483648\b
 *
 * CASE: payload of the first message
 * RUN: bare
 * ARGS: get_tag
 * ERROR: bsp_get_tag @get_tag 0 1
 * FACT: \b2147483648\b
 *
 * CASE: length of a message
 * RUN: bare
 * ARGS: hpmove
 * ERROR: bsp_hpmove @hpmove 0 1
 * FACT: \b2147483648\b
 *
 * CASE: size_t results
 * RUN: bare
 * ARGS: size_t
 * STATUS: 0
 *
 * CASE: tag size
 * P: 1 2
 * ARGS: tagsize
 * ERROR: bsp_set_tagsize ? ? 0
 * FACT: \b4294967296\b
 */
#include <bsp.h>
#include <string.h>
#include <sys/mman.h>

static void messages(const char *name)
{
    size_t size = 1UL << 31, packets, bytes, length;
    char *block = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int number, total;
    void *tag, *payload;

    if (block == MAP_FAILED)
        bsp_abort("no address space");
    bsp_send(0, NULL, block, size);
    munmap(block, size);
    bsp_sync();
    if (strcmp(name, "qsize") == 0)
        bsp_qsize(&number, &total); /* @qsize */
    if (strcmp(name, "get_tag") == 0)
        bsp_get_tag(&number, NULL); /* @get_tag */
    if (strcmp(name, "hpmove") == 0)
        number = bsp_hpmove(&tag, &payload); /* @hpmove */
    bsp_qsize(&packets, &bytes);
    bsp_get_tag(&length, NULL);
    if (packets != 1 || bytes != size || length != size)
        bsp_abort("wrong sizes");
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    size_t large = 1UL << 32;
    int small = 0;

    bsp_begin(0);
    if (strcmp(name, "tagsize") == 0) {
        bsp_set_tagsize(&large);
        bsp_set_tagsize(&small); /* would have to return the large one */
    } else {
        messages(name);
    }
    bsp_end();
    return 0;
}
