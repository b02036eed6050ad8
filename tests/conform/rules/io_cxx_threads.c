/* Input and output: streams of C++ that do not share C's buffers have no locks, so that bsp_sync
 * leaves them alone in a program with threads, of which one may be writing to them.
 *
 * NEEDS: g++
 * CC: -x c++ -pthread
 * P: 1 2
 *
 * CASE: alone
 * OUT-RE: \A(flushed\n){${p}}\Z
 *
 * CASE: threads
 * ARGS: threads
 * OUT-RE: \A(left alone\n){${p}}\Z
 */
#include "bsp.h"
#include <cstdio>
#include <iostream>
#include <pthread.h>
#include <streambuf>
#include <unistd.h>

static int flushed;

class counting : public std::streambuf {
    int sync() override
    {
        flushed++;
        return 0;
    }
};

static void *wait_for_input(void *end)
{
    char byte;

    return read(*static_cast<int *>(end), &byte, 1) == 1 ? end : nullptr;
}

int main(int argc, char **)
{
    static counting buffer;
    std::streambuf *own;
    pthread_t thread;
    int ends[2], before;

    std::ios::sync_with_stdio(false);
    bsp_begin(bsp_nprocs());
    own = std::cout.rdbuf(&buffer);
    if (argc > 1 && (pipe(ends) != 0 || pthread_create(&thread, nullptr, wait_for_input, ends) != 0))
        bsp_abort("no thread");
    before = flushed;
    bsp_sync();
    std::printf(flushed > before ? "flushed\n" : "left alone\n");
    if (argc > 1) {
        if (write(ends[1], "", 1) != 1)
            bsp_abort("no pipe");
        pthread_join(thread, nullptr);
    }
    std::cout.rdbuf(own);
    bsp_end();
    return 0;
}
