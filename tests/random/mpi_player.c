/* mpi_player.c - a random program of the MPI subset, which checks itself.
 *
 *   mpi_player SEED ROUNDS MOST [PAUSE]      plays it under bsprun or a real MPI; prints a digest
 *   mpi_player --model P SEED ROUNDS MOST    prints the digest that P processes must come to
 *
 * Each round is drawn from the seed by all processes alike: messages with tags, sizes up to MOST
 * bytes and ways to send them, and for each process a way to receive: by source and tag, from any
 * source, with any tag, asked for before or after, probed for.  What a receive gets is not known
 * beforehand, but that it is the earliest message of its source that it matches and that no receive
 * before it has got; and all get something.  Then one collective operation.  PAUSE: microseconds
 * between rounds, in which processes can be killed.
 *
 * Why no program is stuck: either everybody asks for all its messages before it sends any, or
 * nobody sends in a way that waits.  Wildcards of a process never compete with its other receives,
 * nor with those of a later round: tags say the round, and where all tags may be received a barrier
 * ends the round.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MESSAGES 24 /* of a round, at most */
#define TAGS     4
#define SHIFTED  (1 << 20) /* a tag */
#define GUARD    16
#define COUNT    40 /* elements of a collective operation, at most */

enum sending { BY_SEND, BY_SSEND, BY_ISEND };
enum receiving {
    EXACTLY,
    ANY_SOURCE,
    ANY_TAG,
    ODD_TAGS_FROM_ANY,
    ANYTHING,
    RECEIVINGS
}; /* ANYTHING: if closed */
enum completing { BY_WAITALL, BY_WAIT, BY_TEST, COMPLETINGS };
enum collective {
    BARRIER,
    BCAST,
    REDUCE,
    ALLREDUCE,
    GATHER,
    SCATTER,
    ALLGATHER,
    ALLTOALL,
    SHIFT,
    COLLECTIVES
};

struct message {
    int from, to, tag, size;
    enum sending sending;
    int got; /* 1: by a receive that has been checked */
};

struct round {
    uint64_t seed;
    int count;
    struct message messages[MESSAGES];
    int early;  /* everybody asks for its messages first */
    int closed; /* a barrier ends it */
    enum collective collective;
    int root, elements;
};

struct receive {
    int from, tag; /* what it asks for */
    unsigned char *data;
    MPI_Request request;
    MPI_Status status;
};

static uint64_t program;
static int rank, size, most;
static uint64_t digest;

/* ---- Chance ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = a * UINT64_C(0x9e3779b97f4a7c15) + b + UINT64_C(0x632be59bd9b4e019);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int draw(uint64_t *state, int below)
{
    *state = mix(*state, 1);
    return (int)(*state >> 33) % below;
}

static int draw_size(uint64_t *state)
{
    int kind = draw(state, 10), bound = kind < 6 ? 64 : kind < 9 ? 8192 : most;

    return draw(state, (bound < most ? bound : most) + 1);
}

static void draw_round(struct round *round, int number)
{
    uint64_t state = mix(program, (uint64_t)number);

    *round = (struct round){.seed = state,
                            .count = draw(&state, MESSAGES + 1),
                            .early = draw(&state, 2),
                            .closed = draw(&state, 2)};
    for (int i = 0; i < round->count; i++)
        round->messages[i] = (struct message){.from = draw(&state, size),
                                              .to = draw(&state, size),
                                              .tag = draw(&state, TAGS) + TAGS * number,
                                              .size = draw_size(&state),
                                              .sending = draw(&state, 3)};
    round->collective = draw(&state, COLLECTIVES);
    round->root = draw(&state, size);
    round->elements = 1 + draw(&state, COUNT);
}

/* A chance that only this process has. */
static uint64_t own_state(const struct round *round, int whose)
{
    return mix(round->seed, UINT64_C(1000) + (uint64_t)whose);
}

/* ---- Contents -------------------------------------------------------------------------------- */

static void fill(unsigned char *to, const struct round *round, int number)
{
    uint64_t state = mix(round->seed, (uint64_t)number + 7);

    for (int i = 0; i < round->messages[number].size; i++) {
        if (i % 8 == 0)
            state = mix(state, 3);
        to[i] = (unsigned char)(state >> i % 8 * 8);
    }
}

static uint64_t sum_of(const unsigned char *data, int bytes)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (int i = 0; i < bytes; i++)
        sum = (sum ^ data[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static int element(const struct round *round, int whose, int index)
{
    return (int)(mix(round->seed, (uint64_t)(whose * 4096 + index) + UINT64_C(99999)) % 1000000);
}

static void wrong(int round, const char *what, long got, long wanted)
{
    fprintf(stderr, "mpi_player: seed %llu: process %d of %d, round %d: %s: %ld, should be %ld\n",
            (unsigned long long)program, rank, size, round, what, got, wanted);
    MPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
}

static void *room_for(size_t bytes)
{
    void *room = malloc(bytes + 1);

    if (!room)
        exit(4);
    return room;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* What this process asks for, in a random order; returns how many. */
static int ask_for(const struct round *round, enum receiving how, uint64_t *state,
                   struct receive *receives)
{
    int count = 0;

    for (int i = 0; i < round->count; i++) {
        const struct message *message = &round->messages[i];
        int any_source =
            how == ANY_SOURCE || how == ANYTHING || (how == ODD_TAGS_FROM_ANY && message->tag % 2);
        int any_tag = how == ANY_TAG || how == ANYTHING;
        int place;
        struct receive moved;

        if (message->to != rank)
            continue;
        place = draw(state, count + 1);
        moved = receives[place];
        receives[place] = (struct receive){.from = any_source ? MPI_ANY_SOURCE : message->from,
                                           .tag = any_tag ? MPI_ANY_TAG : message->tag};
        if (place < count)
            receives[count] = moved;
        count++;
    }
    for (int i = 0; i < count; i++) {
        receives[i].data = room_for((size_t)most + GUARD);
        memset(receives[i].data, 0xa5, (size_t)most + GUARD);
    }
    return count;
}

/* Of a receive, in the order in which they were asked for. */
static void check_receive(struct round *round, int number, struct receive *receive)
{
    unsigned char *wanted;
    int bytes, i;

    for (i = 0; i < round->count; i++) {
        const struct message *message = &round->messages[i];

        if (!message->got && message->to == rank && message->from == receive->status.MPI_SOURCE &&
            (receive->from == MPI_ANY_SOURCE || receive->from == message->from) &&
            (receive->tag == MPI_ANY_TAG || receive->tag == message->tag))
            break;
    }
    if (i == round->count)
        wrong(number, "a message of this process that was not sent", receive->status.MPI_SOURCE,
              -1);
    round->messages[i].got = 1;
    if (receive->status.MPI_TAG != round->messages[i].tag)
        wrong(number, "the tag", receive->status.MPI_TAG, round->messages[i].tag);
    MPI_Get_count(&receive->status, MPI_BYTE, &bytes);
    if (bytes != round->messages[i].size)
        wrong(number, "the number of bytes", bytes, round->messages[i].size);
    wanted = room_for((size_t)bytes);
    fill(wanted, round, i);
    if (memcmp(wanted, receive->data, (size_t)bytes) != 0)
        wrong(number, "the bytes of a message", i, i);
    for (int j = bytes; j < most + GUARD; j++)
        if (receive->data[j] != 0xa5)
            wrong(number, "what is behind a message", receive->data[j], 0xa5);
    digest += mix(sum_of(receive->data, bytes), (uint64_t)(rank * 64 + i));
    free(wanted);
    free(receive->data);
}

static int send_all(const struct round *round, MPI_Request *requests, unsigned char **contents)
{
    int count = 0;

    for (int i = 0; i < round->count; i++) {
        const struct message *message = &round->messages[i];
        enum sending sending = round->early ? message->sending : BY_ISEND;

        if (message->from != rank)
            continue;
        contents[count] = room_for((size_t)message->size);
        fill(contents[count], round, i);
        requests[count] = MPI_REQUEST_NULL;
        if (sending == BY_SEND)
            MPI_Send(contents[count], message->size, MPI_BYTE, message->to, message->tag,
                     MPI_COMM_WORLD);
        else if (sending == BY_SSEND)
            MPI_Ssend(contents[count], message->size, MPI_BYTE, message->to, message->tag,
                      MPI_COMM_WORLD);
        else
            MPI_Isend(contents[count], message->size, MPI_BYTE, message->to, message->tag,
                      MPI_COMM_WORLD, &requests[count]);
        count++;
    }
    return count;
}

static void complete(struct receive *receives, int count, enum completing how)
{
    for (int i = 0; i < count && how != BY_WAITALL; i++) {
        int at = how == BY_WAIT ? i : count - 1 - i, done = 0;

        if (how == BY_WAIT)
            MPI_Wait(&receives[at].request, &receives[at].status);
        while (how == BY_TEST && !done)
            MPI_Test(&receives[at].request, &done, &receives[at].status);
    }
    if (how == BY_WAITALL) {
        MPI_Request requests[MESSAGES];
        MPI_Status statuses[MESSAGES];

        for (int i = 0; i < count; i++)
            requests[i] = receives[i].request;
        MPI_Waitall(count, requests, statuses);
        for (int i = 0; i < count; i++)
            receives[i].status = statuses[i];
    }
}

static void receive_now(struct receive *receive, uint64_t *state)
{
    int how = draw(state, 3), from = receive->from, tag = receive->tag, there = how == 0;
    MPI_Status seen;

    if (how == 1)
        MPI_Probe(from, tag, MPI_COMM_WORLD, &seen);
    while (how == 2 && !there)
        MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, &seen);
    if (how > 0) {
        from = seen.MPI_SOURCE;
        tag = seen.MPI_TAG;
    }
    MPI_Recv(receive->data, most, MPI_BYTE, from, tag, MPI_COMM_WORLD, &receive->status);
}

static void play_messages(struct round *round, int number)
{
    struct receive receives[MESSAGES + 1];
    MPI_Request requests[MESSAGES];
    unsigned char *contents[MESSAGES];
    uint64_t state = own_state(round, rank);
    enum receiving how = draw(&state, round->closed ? RECEIVINGS : ANYTHING);
    int wanted = ask_for(round, how, &state, receives), sent;

    for (int i = 0; i < wanted && round->early; i++)
        MPI_Irecv(receives[i].data, most, MPI_BYTE, receives[i].from, receives[i].tag,
                  MPI_COMM_WORLD, &receives[i].request);
    sent = send_all(round, requests, contents);
    if (round->early)
        complete(receives, wanted, draw(&state, COMPLETINGS));
    for (int i = 0; i < wanted && !round->early; i++)
        receive_now(&receives[i], &state);
    for (int i = 0; i < wanted; i++)
        check_receive(round, number, &receives[i]);
    MPI_Waitall(sent, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < sent; i++)
        free(contents[i]);
    if (round->closed)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- Collective operations ------------------------------------------------------------------- */

static void check_elements(const struct round *round, int number, const int *got, int whose,
                           int first)
{
    for (int i = 0; i < round->elements; i++)
        if (got[i] != element(round, whose, first + i))
            wrong(number, "an element of a collective operation", got[i],
                  element(round, whose, first + i));
}

static void check_sums(const struct round *round, int number, const int *got)
{
    for (int i = 0; i < round->elements; i++) {
        int sum = 0;

        for (int pid = 0; pid < size; pid++)
            sum += element(round, pid, i);
        if (got[i] != sum)
            wrong(number, "a sum", got[i], sum);
    }
}

static void play_collective(const struct round *round, int number)
{
    int n = round->elements, all = n * size, root = round->root, up = (rank + 1) % size,
        down = (rank + size - 1) % size;
    int *own = room_for(sizeof(int) * (size_t)all), *got = room_for(sizeof(int) * (size_t)all);

    for (int i = 0; i < all; i++)
        own[i] = element(round, rank, i);
    switch (round->collective) {
    case BARRIER:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case BCAST:
        memcpy(got, own, sizeof(int) * (size_t)n);
        MPI_Bcast(got, n, MPI_INT, root, MPI_COMM_WORLD);
        check_elements(round, number, got, root, 0);
        break;
    case REDUCE:
        MPI_Reduce(own, got, n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        if (rank == root)
            check_sums(round, number, got);
        break;
    case ALLREDUCE:
        MPI_Allreduce(own, got, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        check_sums(round, number, got);
        break;
    case GATHER:
        MPI_Gather(own, n, MPI_INT, got, n, MPI_INT, root, MPI_COMM_WORLD);
        for (int pid = 0; pid < size && rank == root; pid++)
            check_elements(round, number, got + pid * n, pid, 0);
        break;
    case SCATTER:
        MPI_Scatter(own, n, MPI_INT, got, n, MPI_INT, root, MPI_COMM_WORLD);
        check_elements(round, number, got, root, rank * n);
        break;
    case ALLGATHER:
        MPI_Allgather(own, n, MPI_INT, got, n, MPI_INT, MPI_COMM_WORLD);
        for (int pid = 0; pid < size; pid++)
            check_elements(round, number, got + pid * n, pid, 0);
        break;
    case ALLTOALL:
        MPI_Alltoall(own, n, MPI_INT, got, n, MPI_INT, MPI_COMM_WORLD);
        for (int pid = 0; pid < size; pid++)
            check_elements(round, number, got + pid * n, pid, rank * n);
        break;
    default:
        MPI_Sendrecv(own, n, MPI_INT, up, SHIFTED, got, n, MPI_INT, down, SHIFTED, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        check_elements(round, number, got, down, 0);
        break;
    }
    free(own);
    free(got);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void show(unsigned long long sum)
{
    printf("seed %llu, %d processes: %016llx\n", (unsigned long long)program, size, sum);
}

static int model(int rounds)
{
    static struct round round;

    for (int number = 0; number < rounds; number++) {
        draw_round(&round, number);
        for (int i = 0; i < round.count; i++) {
            unsigned char *data = room_for((size_t)round.messages[i].size);

            fill(data, &round, i);
            digest += mix(sum_of(data, round.messages[i].size),
                          (uint64_t)(round.messages[i].to * 64 + i));
            free(data);
        }
    }
    show(digest);
    return 0;
}

int main(int argc, char **argv)
{
    static struct round round;
    int modelled = argc > 2 && strcmp(argv[1], "--model") == 0 ? 2 : 0, rounds;
    unsigned long own, sum = 0;
    struct timespec pause = {0, 0};

    if (argc < 4 + modelled)
        return 2;
    program = strtoull(argv[1 + modelled], NULL, 10);
    rounds = atoi(argv[2 + modelled]);
    most = atoi(argv[3 + modelled]);
    if (modelled) {
        size = atoi(argv[2]);
        return model(rounds);
    }
    pause.tv_nsec = argc > 4 ? atol(argv[4]) * 1000 : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int number = 0; number < rounds; number++) {
        draw_round(&round, number);
        play_messages(&round, number);
        play_collective(&round, number);
        if (pause.tv_nsec > 0)
            nanosleep(&pause, NULL);
    }
    own = digest;
    MPI_Reduce(&own, &sum, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        show(sum);
    MPI_Finalize();
    return 0;
}
