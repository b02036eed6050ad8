/* state_library.c - statics of libraries: locale, random numbers, a linked library's own, one that
 * was opened by dlopen. */
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "tests/ckpt/capture/state.h"

#ifdef STATE_DYNAMIC
#include <dlfcn.h>

int linked_count(void);

static int (*opened_count)(void);
#endif

#define DRAWS 50

static long expected_random[DRAWS];
static double expected_drand[DRAWS];
static int drawn;
static char state[128];
static char *token;
static char words[] = "one two three four five six seven eight nine ten eleven twelve thirteen "
                      "fourteen fifteen sixteen seventeen eighteen nineteen twenty a b c d e f g h "
                      "i j k l m n o p q r s t u v w x y z";

/* The numbers that an undisturbed run would draw. */
static void draw_ahead(void)
{
    srandom(77);
    srand48(78);
    for (int i = 0; i < DRAWS; i++) {
        expected_random[i] = random();
        expected_drand[i] = drand48();
    }
    initstate(77, state, sizeof state);
    srandom(77);
    srand48(78);
    for (int i = 0; i < DRAWS; i++)
        expected_random[i] = random();
    srandom(77);
}

void library_set(void)
{
    draw_ahead();
    setlocale(LC_ALL, "C.UTF-8");
    token = strtok(words, " ");
#ifdef STATE_DYNAMIC
    {
        void *library = dlopen(getenv("STATE_OPENED"), RTLD_NOW);

        CHECK(library);
        opened_count = (int (*)(void))dlsym(library, "opened_count");
        CHECK(opened_count && opened_count() == 100 && linked_count() == 100);
    }
#endif
}

void library_check(int hop)
{
    time_t now = time(NULL);
    struct timespec clock;

    CHECK(random() == expected_random[drawn]);
    CHECK(drand48() == expected_drand[drawn]);
    drawn++;
    CHECK(strcmp(setlocale(LC_CTYPE, NULL), "C.UTF-8") == 0);
    token = strtok(NULL, " ");
    CHECK(token && strlen(token) > 0);
    /* The kernel's fast functions, which libc calls by addresses kept from the start. */
    CHECK(clock_gettime(CLOCK_REALTIME, &clock) == 0 && clock.tv_sec - now < 60 &&
          now - clock.tv_sec <= 1);
    CHECK(clock_gettime(CLOCK_MONOTONIC, &clock) == 0 && clock.tv_sec > 0);
#ifdef STATE_DYNAMIC
    CHECK(opened_count() == 100 + hop && linked_count() == 100 + hop);
    CHECK(dlopen("libm.so.6", RTLD_NOW));
#else
    (void)hop;
#endif
}
