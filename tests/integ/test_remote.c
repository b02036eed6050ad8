/* test_remote.c - what is executed to reach other hosts, and children that do: by ssh, srun and a
 * command, all three made of shell scripts here. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "bsprun/hosts/remote_start_inside.h"
#include "tests/unit/suite.h"

static struct host hosts[] = {{.name = "a"}, {.name = "b", .user = "me"}, {.name = "::1"}};
static const struct host *const list[] = {&hosts[0], &hosts[1], &hosts[2]};

/* ---- Commands ---- */

static void expect_command(char **command, const char *expected)
{
    char text[2048] = "";

    ck_assert_ptr_nonnull(command);
    for (char **word = command; *word; word++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s<%s>", text[0] ? " " : "",
                 *word);
    ck_assert_str_eq(text, expected);
    launch_command_free(command);
}

#define SSH_WORDS                                                                                  \
    "<-T> <-a> <-x> <-o> <BatchMode=yes> <-o> <ControlMaster=no> <-o> <ClearAllForwardings=yes>"

START_TEST(kinds)
{
    ck_assert_int_eq(launch_kind(NULL, false), LAUNCH_SSH);
    ck_assert_int_eq(launch_kind(NULL, true), LAUNCH_SLURM);
    ck_assert_int_eq(launch_kind("ssh", true), LAUNCH_SSH);
    ck_assert_int_eq(launch_kind("slurm", true), LAUNCH_SLURM);
    ck_assert_int_eq(launch_kind("/opt/bin/ssh -p 7", false), LAUNCH_SSH);
    ck_assert_int_eq(launch_kind("/opt/ssh/rsh", false), LAUNCH_COMMAND);
    ck_assert_int_eq(launch_kind("ssh2", false), LAUNCH_COMMAND);
    ck_assert_int_eq(launch_kind("'/our programs/ssh' -q", false), LAUNCH_SSH);
    ck_assert_int_eq(launch_kind("/our ssh", false), LAUNCH_COMMAND);
}
END_TEST

START_TEST(commands)
{
    static const char *const plain[] = {"/usr/bin/bspnode", "--join", NULL};
    static const char *const odd[] = {"/my dir/it's $HOME/node", "", NULL};

    expect_command(launch_command(LAUNCH_SSH, NULL, list, 1, plain),
                   "<ssh> " SSH_WORDS " <a> <exec /usr/bin/bspnode --join>");
    expect_command(launch_command(LAUNCH_SSH, " /x/ssh  -p 7 ", list + 1, 1, plain),
                   "</x/ssh> <-p> <7> " SSH_WORDS " <-l> <me> <b> <exec /usr/bin/bspnode --join>");
    expect_command(launch_command(LAUNCH_SSH, "ssh", list + 2, 1, odd),
                   "<ssh> " SSH_WORDS " <::1> <exec '/my dir/it'\\''s $HOME/node' ''>");
    expect_command(launch_command(LAUNCH_COMMAND, "rsh -q", list + 1, 1, plain),
                   "<rsh> <-q> <me@b> </usr/bin/bspnode> <--join>");
    expect_command(
        launch_command(LAUNCH_COMMAND, "'/our programs/rsh' a\\ b \"c  d\"", list + 1, 1, plain),
        "</our programs/rsh> <a b> <c  d> <me@b> </usr/bin/bspnode> <--join>");
    expect_command(
        launch_command(LAUNCH_SLURM, "slurm", list, 2, plain),
        "<srun> <--nodes=2> <--ntasks=2> <--nodelist=a,b> <--ntasks-per-node=1> <--overlap> "
        "<--no-kill> <--kill-on-bad-exit=0> <--wait=0> <--cpu-bind=none> <--mpi=none> "
        "<--input=all> <--unbuffered> <--export=ALL> <--chdir=/> </usr/bin/bspnode> <--join>");
}
END_TEST

/* ---- Children ---- */

#define HOSTS 64

static uv_loop_t loop;
static struct remote_start *start;
static char directory[64], launcher[128];
static char told[HOSTS][1024]; /* "failed TEXT", "ended STATUS TEXT", "output BYTES" */
static int told_count, wanted, closed_count;
static void (*when_told)(uint32_t host);

static void note(uint32_t host, const char *format, int number, const char *text)
{
    ck_assert_str_eq(told[host], "");
    snprintf(told[host], sizeof told[host], format, number, text);
    told_count++;
    if (when_told)
        when_told(host);
    if (told_count == wanted)
        uv_stop(&loop);
}

static void on_failed(void *context, uint32_t host, const char *text)
{
    (void)context;
    note(host, "failed%.0d %s", 0, text);
}

static void on_ended(void *context, uint32_t host, int wait_status, const char *text)
{
    (void)context;
    note(host, "ended %d %s", WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1, text);
}

static void on_output(void *context, uint32_t host, const char *bytes, size_t size)
{
    (void)context;
    ck_assert_uint_eq(strlen(bytes), size);
    note(host, "output%.0d %s", 0, bytes);
}

static void on_closed(void *context)
{
    (void)context;
    closed_count++;
}

/* Programs that are found first, made of this text. */
static void script(const char *name, const char *text)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    fclose(file);
    ck_assert_int_eq(chmod(path, 0700), 0);
}

static void open_directory(void)
{
    char path[4096];

    signal(SIGPIPE, SIG_IGN);
    strcpy(directory, "/tmp/bspzero-remote-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s:%s", directory, getenv("PATH"));
    setenv("PATH", path, 1);
    snprintf(launcher, sizeof launcher, "%s/reach", directory);
    ck_assert_int_eq(uv_loop_init(&loop), 0);
}

static void close_directory(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -r '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static void begin(struct remote_start_config config)
{
    static const char *const words[] = {"node", "--join", NULL};

    config.words = words;
    config.failed = on_failed;
    config.ended = on_ended;
    config.output = on_output;
    if (config.kind == LAUNCH_COMMAND)
        config.launcher = launcher;
    ck_assert_int_eq(remote_start_open(&loop, &config, NULL, &start), 0);
}

static void add(uint32_t number, const char *input)
{
    struct remote_start_host one = {number, &hosts[0], input, strlen(input)};

    ck_assert_int_eq(remote_start_add(start, &one, 1), 0);
}

static void run_until_told(int count)
{
    wanted = count;
    while (told_count < wanted)
        uv_run(&loop, UV_RUN_DEFAULT);
}

/* Nothing is left: no handle, no child. */
static void end(void)
{
    remote_start_close(start, on_closed);
    while (closed_count == 0)
        uv_run(&loop, UV_RUN_ONCE);
    ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    ck_assert_int_eq(closed_count, 1);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}

START_TEST(output_and_input)
{
    script("reach", "echo \"$@\"; read -r line; echo \"got $line\"");
    begin((struct remote_start_config){.kind = LAUNCH_COMMAND, .keep_output = true});
    add(0, "a secret\n");
    add(1, "another\n");
    run_until_told(2);
    ck_assert_str_eq(told[0], "output a node --join\ngot a secret\n");
    ck_assert_str_eq(told[1], "output a node --join\ngot another\n");
    end();
}
END_TEST

START_TEST(input_larger_than_a_pipe)
{
    char *input = malloc(1000001);

    memset(input, 'x', 1000000);
    input[1000000] = '\0';
    script("reach", "head -c 1000000 | wc -c");
    begin((struct remote_start_config){.kind = LAUNCH_COMMAND, .keep_output = true});
    add(0, input);
    free(input);
    run_until_told(1);
    ck_assert_ptr_nonnull(strstr(told[0], "output 1000000\n"));
    end();
}
END_TEST

START_TEST(failures)
{
    script("reach", "echo 'no way'; echo; echo 'to that host' >&2; exit 7");
    begin((struct remote_start_config){.kind = LAUNCH_COMMAND});
    add(0, "");
    run_until_told(1);
    ck_assert_ptr_nonnull(strstr(told[0], "reach ended with status 7\n  no way\n  to that host"));
    ck_assert_int_eq(strncmp(told[0], "failed host a: /", 16), 0);
    script("reach", "kill -9 $$");
    add(1, "bytes that nobody reads");
    run_until_told(2);
    ck_assert_ptr_nonnull(strstr(told[1], "reach was killed by signal 9 (Killed)"));
    ck_assert_int_eq(unlink(launcher), 0);
    add(2, "");
    run_until_told(3);
    ck_assert_ptr_nonnull(strstr(told[2], "reach: No such file or directory"));
    script("reach", "exit 0");
    add(3, "");
    run_until_told(4);
    ck_assert_ptr_nonnull(strstr(told[3], "reach ended with status 0"));
    end();
}
END_TEST

/* Of what a child says only the last bytes stay. */
START_TEST(much_said)
{
    script("reach", "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i + 1)); done; exit 1");
    begin((struct remote_start_config){.kind = LAUNCH_COMMAND});
    wanted = 1;
    add(0, "");
    run_until_told(1);
    ck_assert_ptr_null(strstr(told[0], "line 100\n"));
    end();
}
END_TEST

/* It would read from the terminal, as one that wants a password does: there is none. */
START_TEST(no_terminal_to_ask_at)
{
    script("reach", "exec 3</dev/tty || exit 9; read -r password <&3");
    begin((struct remote_start_config){.kind = LAUNCH_COMMAND});
    add(0, "");
    run_until_told(1);
    ck_assert_ptr_nonnull(strstr(told[0], "/dev/tty"));
    ck_assert_ptr_null(strstr(told[0], "has not"));
    end();
}
END_TEST

START_TEST(too_late)
{
    script("reach", "echo waiting; trap '' TERM; while :; do sleep 1000; done");
    begin((struct remote_start_config){.kind = LAUNCH_COMMAND, .timeout_ms = 100});
    add(0, "");
    run_until_told(1);
    ck_assert_ptr_nonnull(strstr(told[0], "did not start it within 0.1 seconds\n  waiting"));
    end(); /* although it does not listen to SIGTERM */
}
END_TEST

static void say_ready(uv_timer_t *timer)
{
    remote_start_ready(start, (uint32_t)(size_t)timer->data);
    uv_close((uv_handle_t *)timer, NULL);
}

static void ready_after(uv_timer_t *timer, uint32_t host, unsigned milliseconds)
{
    uv_timer_init(&loop, timer);
    timer->data = (void *)(size_t)host;
    uv_timer_start(timer, say_ready, milliseconds, 0);
}

/* Standard input of all children ends, and nothing else tells them to end. */
static void end_input(void)
{
    for (struct child *child = start->children; child; child = child->next)
        if (child->state == CHILD_RUNNING)
            remote_watch_end_input(child);
}

/* Once it is ready it is never too late; its input stays open until that is ended. */
START_TEST(ready_and_ended)
{
    static uv_timer_t timer;

    script("reach", "cat >/dev/null; echo bye >&2; exit 3");
    begin((struct remote_start_config){.kind = LAUNCH_COMMAND, .timeout_ms = 400});
    add(0, "x");
    ready_after(&timer, 0, 100);
    uint64_t until = uv_hrtime() + 700000000u;
    while (uv_hrtime() < until)
        uv_run(&loop, UV_RUN_NOWAIT);
    ck_assert_int_eq(told_count, 0);
    end_input();
    run_until_told(1);
    ck_assert_str_eq(told[0], "ended 3 bye\n");
    end();
}
END_TEST

/* A stopped one is told nobody, and may be added again at once. */
START_TEST(stopped_and_added_again)
{
    script("reach", "read -r line; case $line in go) exit 5;; esac; exec sleep 1000");
    begin((struct remote_start_config){.kind = LAUNCH_COMMAND});
    add(0, "stay\n");
    for (int i = 0; i < 20; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    remote_start_stop(start, 0);
    add(0, "go\n");
    run_until_told(1);
    ck_assert_ptr_nonnull(strstr(told[0], "status 5"));
    remote_start_stop(start, 0); /* neither there nor anybody's */
    end();
}
END_TEST

static void close_from_callback(uint32_t host)
{
    (void)host;
    if (told_count == 1)
        remote_start_close(start, on_closed);
}

START_TEST(closed_from_a_callback)
{
    script("reach", "exit 1");
    begin((struct remote_start_config){.kind = LAUNCH_COMMAND});
    when_told = close_from_callback;
    for (uint32_t i = 0; i < 8; i++)
        add(i, "");
    wanted = -1;
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(closed_count, 1);
    ck_assert_int_eq(told_count, 1);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}
END_TEST

/* One that is ready may end what it has to do, if that does not take too long. */
START_TEST(closed_while_busy)
{
    char text[256], path[128];

    snprintf(path, sizeof path, "%s/done", directory);
    snprintf(text, sizeof text, "cat >/dev/null; %s; echo >'%s'",
             _i == 0 ? "sleep 0.3" : "sleep 1000", path);
    script("reach", text);
    begin((struct remote_start_config){.kind = LAUNCH_COMMAND});
    add(0, "");
    for (int i = 0; i < 20; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    remote_start_ready(start, 0);
    end();
    ck_assert_int_eq(access(path, F_OK), _i == 0 ? 0 : -1);
    unlink(path);
}
END_TEST

/* What a child has started may hold its streams open. */
START_TEST(streams_held_open)
{
    script("reach", "setsid sleep 1000 & echo $! >&2; exit 4");
    begin((struct remote_start_config){.kind = LAUNCH_COMMAND});
    add(0, "");
    run_until_told(1);
    const char *number = strstr(told[0], "status 4\n  ");
    ck_assert_ptr_nonnull(number);
    kill(atoi(number + 11), SIGKILL);
    end();
}
END_TEST

/* 64 of them, a few at a time: never more, and all of them. */
START_TEST(many)
{
    char text[512];

    snprintf(text, sizeof text, "mkdir %s/run.$$; ls -d %s/run.* | wc -l; rmdir %s/run.$$",
             directory, directory, directory);
    script("reach", text);
    begin((struct remote_start_config){
        .kind = LAUNCH_COMMAND, .keep_output = true, .at_once = 5, .timeout_ms = 60000});
    for (uint32_t i = 0; i < HOSTS; i++)
        add(i, "");
    run_until_told(HOSTS);
    for (uint32_t i = 0; i < HOSTS; i++) {
        ck_assert_int_eq(strncmp(told[i], "output ", 7), 0);
        int running = atoi(told[i] + 7);
        ck_assert_msg(running >= 1 && running <= 5, "%s", told[i]);
    }
    end();
}
END_TEST

/* One srun for all that are added together. */
START_TEST(slurm)
{
    static uv_timer_t timers[2];
    struct remote_start_host three[3];

    for (uint32_t i = 0; i < 3; i++)
        three[i] = (struct remote_start_host){i, &hosts[i], "all\n", 4};
    script("srun", "echo \"$3\"; read -r line; echo \"$line\"; cat >/dev/null; exit 1");
    begin((struct remote_start_config){.kind = LAUNCH_SLURM, .timeout_ms = 500});
    ck_assert_int_eq(remote_start_add(start, three, 3), 0);
    ready_after(&timers[0], 0, 50);
    ready_after(&timers[1], 1, 50);
    run_until_told(1); /* the third is too late, which is no reason to end the others */
    ck_assert_ptr_nonnull(strstr(told[2], "failed host ::1: srun did not start it"));
    ck_assert_ptr_nonnull(strstr(told[2], "--nodelist=a,b,::1\n  all"));
    remote_start_stop(start, 0);
    end_input();
    run_until_told(2);
    ck_assert_int_eq(strncmp(told[1], "ended 1 ", 8), 0);
    ck_assert_str_eq(told[0], "");
    end();
}
END_TEST

/* The environment has nothing in it that would open a window to ask for a password. */
START_TEST(ssh)
{
    setenv("SSH_ASKPASS", "/bin/true", 1);
    setenv("SSH_ASKPASS_REQUIRE", "force", 1);
    script("ssh", "env | grep ASKPASS; for word; do :; done; echo \"$word\"");
    begin((struct remote_start_config){.kind = LAUNCH_SSH, .keep_output = true});
    add(0, "");
    run_until_told(1);
    ck_assert_str_eq(told[0], "output SSH_ASKPASS_REQUIRE=never\nexec node --join\n");
    end();
}
END_TEST

int main(void)
{
    const TTest *const with_children[] = {output_and_input,
                                          input_larger_than_a_pipe,
                                          failures,
                                          much_said,
                                          no_terminal_to_ask_at,
                                          too_late,
                                          ready_and_ended,
                                          stopped_and_added_again,
                                          closed_from_a_callback,
                                          streams_held_open,
                                          many,
                                          slurm,
                                          ssh};
    Suite *suite = suite_create("remote");
    TCase *commands_case = tcase_create("commands"), *children = tcase_create("children");

    tcase_add_test(commands_case, kinds);
    tcase_add_test(commands_case, commands);
    tcase_add_checked_fixture(children, open_directory, close_directory);
    tcase_set_timeout(children, 60);
    for (size_t i = 0; i < sizeof with_children / sizeof *with_children; i++)
        tcase_add_test(children, with_children[i]);
    tcase_add_loop_test(children, closed_while_busy, 0, 2);
    suite_add_tcase(suite, commands_case);
    suite_add_tcase(suite, children);
    return suite_run(suite);
}
