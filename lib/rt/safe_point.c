/* safe_point.c - see safe_point.h; the barrier itself is in sync.c. */
#include "lib/rt/safe_point.h"

static struct bspz_plane *planes;

void bspz_plane_use(struct bspz_plane *plane)
{
    for (const struct bspz_plane *other = planes; other; other = other->next)
        if (other == plane)
            return;
    plane->next = planes;
    planes = plane;
}

void bspz_safe_points_begin(void)
{
    bspz_rt.safe_calls = true;
}

int bspz_planes_keep(void)
{
    int error = 0;

    for (const struct bspz_plane *plane = planes; plane && !error; plane = plane->next)
        error = plane->keep();
    return error;
}

void bspz_planes_drop(void)
{
    for (const struct bspz_plane *plane = planes; plane; plane = plane->next)
        plane->drop();
}

int bspz_planes_put_back(void)
{
    int error = 0;

    for (const struct bspz_plane *plane = planes; plane && !error; plane = plane->next)
        error = plane->put_back();
    return error;
}
