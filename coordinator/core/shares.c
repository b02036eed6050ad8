/* shares.c - the availability of hosts over time. */
#include "coordinator/core/shares.h"

#include <math.h>

#define ROUNDING  1e-6 /* relative, of sums */
#define HOST_MOST 1e12 /* seconds that any host was watched */

void share_add(struct share_sums *sums, double share, double seconds)
{
    if (!(share >= 0 && share <= 1 && seconds > 0 && seconds <= HOST_MOST))
        return;
    sums->seconds += seconds;
    sums->sum += share * seconds;
    sums->squares += share * share * seconds;
}

bool share_is_known(const struct share_sums *sums)
{
    double most = sums->seconds * (1 + ROUNDING);

    return sums->seconds > 0 && sums->seconds <= HOST_MOST && sums->sum >= 0 && sums->sum <= most &&
           sums->squares >= 0 && sums->squares <= sums->sum * (1 + ROUNDING);
}

struct share share_prior(const struct share_sums *earlier)
{
    if (!share_is_known(earlier))
        return (struct share){0};
    double mean = fmin(earlier->sum / earlier->seconds, 1);

    return (struct share){
        .mean = mean,
        .spread = sqrt(fmax(earlier->squares / earlier->seconds - mean * mean, 0)),
        .looks = fmin(earlier->seconds / SHARE_LOOK_SECONDS, SHARE_LOOKS_MOST),
    };
}
