/* pagemap_scan.h - PAGEMAP_SCAN of Linux 6.7, which older headers lack: what the page tables say
 * about ranges of pages. */
#ifndef CKPT_CAPTURE_PAGEMAP_SCAN_H
#define CKPT_CAPTURE_PAGEMAP_SCAN_H

#include <stdint.h>

struct bspz_scan {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
struct bspz_scan_run {
    uint64_t start, end, categories;
};

#define BSPZ_SCAN_REQUEST   0xc0606610ul /* _IOWR('f', 16, struct bspz_scan) */

#define BSPZ_SCAN_PROTECT   (1 << 0) /* flags: protect those listed, which the process may write */
#define BSPZ_SCAN_CHECK     (1 << 1) /* -EPERM where that is not possible */

#define BSPZ_SCAN_WRITTEN   (1 << 1) /* categories: not protected */
#define BSPZ_SCAN_FILE      (1 << 2)
#define BSPZ_SCAN_PRESENT   (1 << 3)
#define BSPZ_SCAN_SWAPPED   (1 << 4)
#define BSPZ_SCAN_ZERO_PAGE (1 << 5)
#define BSPZ_SCAN_GUARD     (1 << 8) /* since Linux 6.15: touching it is an error */

#endif
