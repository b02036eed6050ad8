/* page_texts.h - the files that a page consists of; made by lib/page/embed when this is built. */
#ifndef BSPZ_PAGE_TEXTS_H
#define BSPZ_PAGE_TEXTS_H

#include <stddef.h>

extern const char page_style[], page_common[], page_d3_license[], page_d3[];
extern const size_t page_style_size, page_common_size, page_d3_license_size, page_d3_size;

#endif
