/* fault.h - fault points for tests: BSPZERO_FAULT=consult:1,abort-at:3
 *
 *   consult:N    Processor Zero decides every N-th barrier instead of none
 *   abort-at:S   ... and aborts the job at the end of superstep S
 */
#ifndef BSPRUN_FAULT_H
#define BSPRUN_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#define FAULT_VARIABLE "BSPZERO_FAULT"

struct faults {
    uint64_t consult_every; /* 0: never */
    uint64_t abort_at;      /* UINT64_MAX: never */
};

/* Reads the list; NULL and "" mean no fault.  False when it is not understood. */
bool faults_parse(const char *text, struct faults *faults);

#endif
