/* load_probe.c - load and speed of this host; see load.h. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/load/load.h"
#include "lib/base/clock.h"

#define LENGTH   1000
#define SECONDS  0.02 /* duration of the measurement */
#define REPEATS  200
#define PER_ITEM 2 /* operations */

/* The fastest of many short sums of products, as other processes may disturb some. */
static double measure(void)
{
    static double x[LENGTH], y[LENGTH];
    double end = (double)bspz_now_ns() / 1e9 + SECONDS, best = 0;
    volatile double keep;

    for (int i = 0; i < LENGTH; i++) {
        x[i] = 1 + i % 3;
        y[i] = 1.0 / (1 + i % 7);
    }
    do {
        double begin = (double)bspz_now_ns() / 1e9, sum = 0, passed;

        for (int k = 0; k < REPEATS; k++) {
            double part = 0;

            for (int i = 0; i < LENGTH; i++)
                part += x[i] * y[i];
            sum += part;
            x[k % LENGTH] = 1 + k % 3;
        }
        keep = sum;
        (void)keep;
        passed = (double)bspz_now_ns() / 1e9 - begin;
        if (passed > 0 && (double)REPEATS * LENGTH * PER_ITEM / passed / 1e6 > best)
            best = (double)REPEATS * LENGTH * PER_ITEM / passed / 1e6;
    } while ((double)bspz_now_ns() / 1e9 < end);
    return best;
}

static uint32_t usable_cores(void)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (uint32_t)CPU_COUNT(&set);
    return online > 0 ? (uint32_t)online : 1;
}

void load_probe(struct load *load)
{
    double loads[3] = {0, 0, 0};

    *load = (struct load){.known = true};
    if (getloadavg(loads, 3) == 3)
        memcpy(load->load, loads, sizeof loads);
    load->cores = usable_cores();
    load->mflops = measure();
}

int load_print(const struct load *load)
{
    printf("bspload %.2f %.2f %.2f %u %.1f\n", load->load[0], load->load[1], load->load[2],
           load->cores, load->mflops);
    return fflush(stdout);
}
