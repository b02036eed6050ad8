/* Input and output: what a C++ program writes to streams that do not share C's buffers is printed
 * once if it comes before bsp_begin, in the order of the supersteps, and before a job that fails ends.
 *
 * NEEDS: g++
 * CC: -x c++
 * P: 1 2 3 4
 *
 * CASE: prompt and rounds
 * OUT-RE: \Aready: \n${''.join('round %d process %d\n' % (r, i) for r in range(6) for i in range(p))}end\n\Z
 * ERR: log
 *
 * CASE: error
 * ARGS: error
 * STATUS: nonzero
 * OUT-RE: \Aready: \n${'mine\n' * p}\Z
 * ERROR: bsp_put @put ? 0
 */
#include "bsp.h"
#include <iostream>

int main(int argc, char **)
{
    int value = 0;

    std::ios::sync_with_stdio(false);
    std::cout << "ready: \n";
    if (argc == 1)
        std::clog << "log\n";
    bsp_begin(bsp_nprocs());
    if (argc > 1) {
        std::cout << "mine\n";
        bsp_put(-1, &value, &value, 0, sizeof value); /* @put */
    }
    for (int round = 0; round < 6; round++)
        for (int i = 0; i < bsp_nprocs(); i++) {
            if (bsp_pid() == i)
                std::cout << "round " << round << " process " << i << '\n';
            bsp_sync();
        }
    bsp_end();
    std::cout << "end\n";
    return 0;
}
