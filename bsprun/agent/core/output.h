/* output.h - relays the output of the ranks to bsprun; see output.c. */
#ifndef BSPRUN_AGENT_OUTPUT_H
#define BSPRUN_AGENT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct agent_relay;
struct wire_start;

/* Opens the streams that replace bsprun's for the program; 0 or -errno. */
int agent_relay_open(struct agent *agent, const struct wire_start *start);
/* The program's descriptor for stream 1 or 2. */
int agent_relay_writer(const struct agent *agent, int stream);
/* The descriptor that ranks switch to in bsp_begin, inherited under the same number; -1: none, or
 * no relay. */
int agent_relay_writer_of_ranks(const struct agent *agent, int stream);
/* The stream that all processes share, for a process to be restored. */
int agent_relay_socket(const struct agent *agent, int stream);
void agent_relay_started(struct agent *agent); /* closes the ends that the program has */
/* True: all output has been passed on; else AGENT_JOB_OVER is posted again when bsprun has taken
 * some. */
bool agent_relay_drained(struct agent *agent);
/* Passes on the present contents of the streams, normally all output: only children of the program
 * could still write meanwhile. */
void agent_relay_pass_on(struct agent *agent);
/* The reading end of stream 1 or 2; -1: none. */
int agent_relay_reader(const struct agent *agent, int stream);
/* The number of bytes read from each stream. */
void agent_relay_counts(const struct agent *agent, uint64_t counts[2]);
/* Sets the superstep after a rollback. */
void agent_relay_set_superstep(struct agent *agent, uint64_t superstep);
/* Passes on the output up to the end of that superstep; false: not all processes of this host have
 * reached it, or bsprun cannot take more now. */
bool agent_relay_passed(struct agent *agent, uint64_t superstep);
void agent_relay_set_counts(struct agent *agent, const uint64_t counts[2]);
/* Output of processes that may be restarted alone: from then on it is counted.  False: no memory.
 */
bool agent_relay_watch(struct agent *agent);
/* An image of the process is being made: passes on what it has written before.  False: bsprun must
 * take some of it first. */
bool agent_relay_saving(struct agent *agent, int pid);
/* The last such image counts from now on. */
void agent_relay_saved(struct agent *agent, int pid);
/* The process is lost, and restarted from that image: what it writes again is dropped.  False: not
 * all that it has written can be passed on now. */
bool agent_relay_again(struct agent *agent, int pid);
void agent_relay_resume(struct agent *agent);
/* The program waits in bsp_begin: passes on its earlier output before that of the ranks. */
void agent_relay_begin(struct agent *agent);
/* The user's terminal has been resized. */
void agent_relay_resize(struct agent *agent, unsigned rows, unsigned columns);
void agent_relay_close(struct agent *agent);
void agent_relay_free(struct agent *agent);

#endif
