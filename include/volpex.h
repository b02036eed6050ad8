/* volpex.h - the dataspace: objects that processes put under a tag, and get and read by it.
 *
 * The calls of the Volpex system (Kanna, Subhlok, Gabriel, Rohit, Anderson: "A communication
 * framework for fault-tolerant parallel execution", LCPC 2009).  A program is either of these calls
 * alone, between volpex_init and volpex_finalize, or a BSP program that uses them between bsp_begin
 * and bsp_end; they take effect at once and not at the end of the superstep.
 *
 * A tag is 0 to 4096 bytes, an object 0 to 1 GiB.  All operations are atomic, and those on one tag
 * take effect one after the other.  A call that is used wrongly prints one line on stderr, has no
 * effect and returns -1.
 *
 * In a job that recovers from failures (bsprun --ckpt) a program that begins with volpex_init is
 * saved at its calls, with all objects; it has no supersteps then: bsp_sync is an error.
 *
 * Every call but the enquiries is also a macro that passes the caller's line and file on.
 */
#ifndef _VOLPEX_H
#define _VOLPEX_H

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the processes of the job as bsp_begin(0) does, all of which go on from here; the arguments
 * are not looked at.  Returns 0. */
int volpex_init(int argc, char *argv[]);

/* Ends the parallel part, and waits for all processes, as bsp_end does: process 0 goes on, the
 * others leave through exit(0).  What is left in the dataspace is dropped. */
void volpex_finalize(void);

/* The number of this process, from 0, and the number of processes. */
int volpex_getProcId(void);
int volpex_getNumProc(void);

/* Stores a copy of the bytes under the tag, in place of the object that was there.  Returns
 * dataSize when others can see it. */
int volpex_put(const char *tag, int tagSize, const void *data, int dataSize);

/* Waits until there is an object under the tag, and copies at most dataSize bytes of it to data.
 * get removes it, so that only one process gets it; read leaves it there.  Return the number of
 * bytes copied. */
int volpex_get(const char *tag, int tagSize, void *data, int dataSize);
int volpex_read(const char *tag, int tagSize, void *data, int dataSize);

/* What the macros call. */
int volpex_init_cpp(int argc, char *argv[], int line, const char *file);
void volpex_finalize_cpp(int line, const char *file);
int volpex_put_cpp(const char *tag, int tagSize, const void *data, int dataSize, int line,
                   const char *file);
int volpex_get_cpp(const char *tag, int tagSize, void *data, int dataSize, int line,
                   const char *file);
int volpex_read_cpp(const char *tag, int tagSize, void *data, int dataSize, int line,
                    const char *file);

#ifdef __cplusplus
}
#endif

#define volpex_init(argc, argv) volpex_init_cpp(argc, argv, __LINE__, __FILE__)
#define volpex_finalize()       volpex_finalize_cpp(__LINE__, __FILE__)
#define volpex_put(tag, tagSize, data, dataSize)                                                   \
    volpex_put_cpp(tag, tagSize, data, dataSize, __LINE__, __FILE__)
#define volpex_get(tag, tagSize, data, dataSize)                                                   \
    volpex_get_cpp(tag, tagSize, data, dataSize, __LINE__, __FILE__)
#define volpex_read(tag, tagSize, data, dataSize)                                                  \
    volpex_read_cpp(tag, tagSize, data, dataSize, __LINE__, __FILE__)

#endif
