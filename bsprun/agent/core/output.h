/* output.h - what the ranks write, passed on to bsprun; see output.c. */
#ifndef BSPRUN_AGENT_OUTPUT_H
#define BSPRUN_AGENT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct agent_relay;
struct wire_start;

/* Streams that the program writes to instead of bsprun's; 0 or -errno. */
int agent_relay_open(struct agent *agent, const struct wire_start *start);
/* What the program has as stream 1 or 2. */
int agent_relay_writer(const struct agent_relay *relay, int stream);
/* What its ranks change to in bsp_begin, inherited under the same number; -1: nothing. */
int agent_relay_writer_of_ranks(const struct agent_relay *relay, int stream);
/* The stream that all processes share, for one that is restored. */
int agent_relay_socket(const struct agent_relay *relay, int stream);
void agent_relay_started(struct agent *agent); /* the program has its ends: close ours */
/* True once everything that was written has been passed on; otherwise AGENT_JOB_OVER is posted again when bsprun has
 * taken some. */
bool agent_relay_drained(struct agent *agent);
/* Passes on what the streams hold now, nearly always all of it: nobody who could fill them while
 * they are emptied runs, but for processes that the program has started. */
void agent_relay_pass_on(struct agent *agent);
/* The descriptor where what is written to stream 1 or 2 comes out; -1: none. */
int agent_relay_reader(const struct agent_relay *relay, int stream);
/* How many bytes each stream has brought. */
void agent_relay_counts(const struct agent *agent, uint64_t counts[2]);
/* The job goes on from there. */
void agent_relay_set_superstep(struct agent *agent, uint64_t superstep);
/* Passes on what was written until the end of that superstep; false: not all processes of this host
 * have come there, or bsprun cannot take more now. */
bool agent_relay_passed(struct agent *agent, uint64_t superstep);
void agent_relay_set_counts(struct agent *agent, const uint64_t counts[2]);
void agent_relay_resume(struct agent *agent);
/* The program waits in bsp_begin: what it printed before goes before what its ranks will print. */
void agent_relay_begin(struct agent *agent);
/* The user's terminal has another size. */
void agent_relay_resize(struct agent *agent, unsigned rows, unsigned columns);
void agent_relay_close(struct agent *agent);

#endif
