/* copies_burden.c - whose answers are to be made superfluous by an image, before they are given up;
 * see copies.h. */
#include "bsprun/dataspace/copies_inside.h"

uint32_t copies_most_logged(const struct copies *copies)
{
    uint32_t most = 0;

    for (uint32_t pid = 1; pid < copies->setup.nprocs; pid++)
        if (copies_logged(copies, pid) > copies_logged(copies, most))
            most = pid;
    return most;
}

bool copies_burdened(const struct copies *copies, uint64_t all, uint32_t *pid)
{
    uint64_t answers;

    *pid = copies_most_logged(copies);
    if (copies_logged(copies, copies->setup.nprocs) > all / 2)
        return true;
    /* Answers are given up by the bound of their part, also if the other parts have none. */
    *pid = copies_logged_beyond(copies, copies->setup.log / 2, &answers);
    return *pid < copies->setup.nprocs;
}

/* Bytes of answers for which there is still room, in all parts and in the fullest. */
static uint64_t room(const struct copies *copies, uint64_t all)
{
    uint64_t kept = copies_logged(copies, copies->setup.nprocs),
             least = all > kept ? all - kept : 0;

    for (uint32_t i = 0; i < copies->setup.parts; i++) {
        const struct log *log = copies->parts[i].now.log;
        uint64_t here = log ? copies->setup.log - log_bytes_all(log) : least;

        if (here < least)
            least = here;
    }
    return least;
}

uint32_t copies_burden(const struct copies *copies, uint64_t all,
                       bool (*may)(void *context, uint32_t pid), void *context)
{
    uint32_t nprocs = copies->setup.nprocs, most = nprocs, sharers = 0;
    uint64_t bytes = 0;

    if (!copies_burdened(copies, all, &most))
        return nprocs;
    most = nprocs;
    for (uint32_t pid = 0; pid < nprocs; pid++) {
        if (!may(context, pid))
            continue;
        sharers++;
        if (copies_logged(copies, pid) > bytes) {
            most = pid;
            bytes = copies_logged(copies, pid);
        }
    }
    return most < nprocs && bytes * sharers >= room(copies, all) ? most : nprocs;
}
