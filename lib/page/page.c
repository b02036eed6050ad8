/* page.c - writes pages of HTML; see page.h. */
#include "lib/page/page.h"

#include <string.h>

#include "lib/page/page_texts.h"

const char page_missing[] = "built without D3: rebuild it where libjs-d3 is installed";

bool page_is_there(void)
{
    return page_d3_size > 0;
}

void page_text(FILE *file, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        case '&':
            fputs("&amp;", file);
            break;
        case '"':
            fputs("&quot;", file);
            break;
        default:
            fputc(*text, file);
        }
}

/* JSON has < in texts only, where it may be written so that no markup comes of it. */
static void write_data(FILE *file, const char *data, size_t size)
{
    const char *end = data + size;
    while (data < end) {
        const char *less = memchr(data, '<', (size_t)(end - data));
        size_t count = (size_t)((less ? less : end) - data);
        fwrite(data, 1, count, file);
        data += count;
        if (less) {
            fputs("\\u003c", file);
            data++;
        }
    }
}

void page_write(FILE *file, const char *title, const char *data, size_t size, const char *script)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n<title>",
          file);
    page_text(file, title);
    fputs("</title>\n<style>\n", file);
    fwrite(page_style, 1, page_style_size, file);
    fputs("</style>\n</head>\n<body>\n<main id=\"page\"><noscript>This page draws its pictures by "
          "a script: switch JavaScript on.</noscript></main>\n"
          "<script type=\"application/json\" id=\"data\">",
          file);
    write_data(file, data, size);
    fputs("</script>\n<!--\n", file);
    fwrite(page_d3_license, 1, page_d3_license_size, file);
    fputs("-->\n<script>\n", file);
    fwrite(page_d3, 1, page_d3_size, file);
    fputs("\n</script>\n<script>\n", file);
    fwrite(page_common, 1, page_common_size, file);
    fputs(script, file);
    fputs("</script>\n</body>\n</html>\n", file);
}
