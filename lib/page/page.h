/* page.h - a page of HTML that is complete in itself: style, data, D3 and a script in one file.
 *
 * Such a page opens from a disk without a network.  Its data is JSON, which the script finds as the
 * text of the element `data`; D3 is there as `d3`, and what all pages share as `page`
 * (lib/page/page.js). */
#ifndef BSPZ_PAGE_PAGE_H
#define BSPZ_PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Whether D3 was there when this was built: without it there are no pages. */
bool page_is_there(void);

/* What to do where it was not; a sentence without its end. */
extern const char page_missing[];

/* Writes a page with that title, `data` (JSON, of `size` bytes) and the script.  That the file
 * cannot be written is found by ferror. */
void page_write(FILE *file, const char *title, const char *data, size_t size, const char *script);

/* Writes text as HTML: what would be markup is no longer. */
void page_text(FILE *file, const char *text);

#endif
