/* The BSP program behind bspparam -measure. */
#ifndef BSPZ_BSPPARAM_PROBE_H
#define BSPZ_BSPPARAM_PROBE_H

/* Measures the machine with all processes, for about `seconds`; process 0 prints "s l g n_half" on
 * one line of stdout.  To be called where main would call bsp_begin. */
void probe_machine(double seconds);

/* The smallest job: begins, synchronises once and ends. */
void probe_check(void);

#endif
