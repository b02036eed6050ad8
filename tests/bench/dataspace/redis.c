/* redis.c - objects in Redis: redis SOCKET MOST.  A put is SET, a read is GET; a get, which may
 * have to wait for one, is BLPOP of a list with one element (RPUSH), as Redis has no other call
 * that waits.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/dataspace/objects.h"

static redisContext *redis;

static redisReply *reply_or_die(void *reply)
{
    redisReply *got = reply;

    if (!got || got->type == REDIS_REPLY_ERROR) {
        fprintf(stderr, "redis: %s\n", got ? got->str : redis->errstr);
        exit(1);
    }
    return got;
}

static void do_put(const char *tag, const void *bytes, size_t size)
{
    freeReplyObject(reply_or_die(redisCommand(redis, "SET %s %b", tag, bytes, size)));
}

static void do_read(const char *tag, void *bytes, size_t size)
{
    redisReply *reply = reply_or_die(redisCommand(redis, "GET %s", tag));

    if (reply->len != size)
        exit(1);
    memcpy(bytes, reply->str, size);
    freeReplyObject(reply);
}

static void push(const char *tag, const void *bytes, size_t size)
{
    freeReplyObject(reply_or_die(redisCommand(redis, "RPUSH %s-list %b", tag, bytes, size)));
}

static void pop(const char *tag, void *bytes, size_t size)
{
    redisReply *reply = reply_or_die(redisCommand(redis, "BLPOP %s-list 0", tag));

    if (reply->elements != 2 || reply->element[1]->len != size)
        exit(1);
    memcpy(bytes, reply->element[1]->str, size);
    freeReplyObject(reply);
}

/* Bytes of the element that the list has; 0: none.  It gets one with a put of the string, if a get
 * has taken it: in the batches of which the puts are not timed. */
static size_t waiting;

static void timed_put(const char *tag, const void *bytes, size_t size)
{
    do_put(tag, bytes, size);
    if (waiting == size)
        return;
    if (waiting > 0) { /* of another size */
        void *old = malloc(waiting);

        pop(tag, old, waiting);
        free(old);
    }
    push(tag, bytes, size);
    waiting = size;
}

static void timed_get(const char *tag, void *bytes, size_t size)
{
    pop(tag, bytes, size);
    waiting = 0;
}

int main(int argc, char **argv)
{
    static const struct objects_calls calls = {timed_put, do_read, timed_get};

    if (argc < 3)
        return 2;
    redis = redisConnectUnix(argv[1]);
    if (!redis || redis->err) {
        fprintf(stderr, "redis: %s\n", redis ? redis->errstr : "no memory");
        return 1;
    }
    freeReplyObject(reply_or_die(redisCommand(redis, "FLUSHALL")));
    objects_measure(&calls, "object", 1, (size_t)atol(argv[2]));
    redisFree(redis);
    return 0;
}
