/* cells_mirror.h - supersteps between hosts, some of which may have the same processes. */
#ifndef BSPRUN_AGENT_CELLS_MIRROR_H
#define BSPRUN_AGENT_CELLS_MIRROR_H

struct agent;

/* The processes of this host are ready: their supersteps are exchanged with other hosts from now on
 * (links_mirror).  0 or -errno. */
int agent_cells_mirror(struct agent *agent);

#endif
