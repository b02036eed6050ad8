/* status_metrics.h - the status of running jobs as OpenMetrics text.  Pure.
 *
 * Source: OpenMetrics, a cloud-native, highly scalable metrics protocol, version 1.0.
 */
#ifndef BSPRUN_STATUS_METRICS_H
#define BSPRUN_STATUS_METRICS_H

#include <stddef.h>

#include "bsprun/status/status_text.h"

/* The families of metrics of one job, each with its TYPE, UNIT and HELP, without the line "# EOF".
 * What is not known has no sample.  To be freed; NULL: no memory. */
char *status_metrics(const struct status_facts *facts);

#endif
