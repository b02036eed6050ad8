/* metrics_merge.h - OpenMetrics of several jobs as one text.  Pure. */
#ifndef BSPRUN_METRICS_MERGE_H
#define BSPRUN_METRICS_MERGE_H

#include <stddef.h>

/* What several jobs answered (status_metrics), with the samples of a family together, as
 * OpenMetrics wants them, and "# EOF" at the end.  Families keep the order of the first text that
 * has them, and its TYPE, UNIT and HELP.  To be freed; NULL: no memory. */
char *metrics_merge(char *const *texts, size_t count);

#endif
