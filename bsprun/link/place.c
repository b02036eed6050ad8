/* place.c - a place in words; see place.h. */
#include "bsprun/link/place.h"

#include "lib/base/formatted.h"
#include "lib/shm/exchange.h"

/* Nothing if the name is not known: it may still be on its way from another host. */
static void add_position(struct bspz_formatted *text, const struct bspz_board *board, int nprocs,
                         int pid, bspz_position position)
{
    unsigned file = position >> 24;

    if (position != 0 && file < BSPZ_NAME_COUNT &&
        file < atomic_load(&bspz_rank_of(board, pid)->file_count))
        bspz_formatted_add(text, ", at %.*s:%u", (int)BSPZ_NAME_BYTES - 1,
                           bspz_name_of(board, nprocs, pid, file), position & 0xffffffu);
}

static void add_chain(struct bspz_formatted *text, const struct link_place *place)
{
    static const char *const kinds[BSPZ_KINDS] = {[BSPZ_PUTS] = "puts",
                                                  [BSPZ_REQUESTS] = "gets",
                                                  [BSPZ_REPLIES] = "what was got",
                                                  [BSPZ_MESSAGES] = "messages"};

    bspz_formatted_add(text, "%s for process %u, at byte %llu",
                       place->kind < BSPZ_KINDS ? kinds[place->kind] : "records", place->to,
                       (unsigned long long)place->at);
    if (!place->known)
        return;
    bspz_formatted_add(text, " (");
    if (place->kind == BSPZ_PUTS || place->kind == BSPZ_REQUESTS)
        bspz_formatted_add(text, "slot %u, offset %llu, ", place->slot,
                           (unsigned long long)place->offset);
    bspz_formatted_add(text, "%llu bytes", (unsigned long long)place->bytes);
    if (place->kind == BSPZ_MESSAGES)
        bspz_formatted_add(text, " with a tag of %llu", (unsigned long long)place->tag_bytes);
}

static void add_call(struct bspz_formatted *text, const struct link_place *place)
{
    static const char *const names[] = {[BSPZ_OP_PUSH] = "bsp_push_reg",
                                        [BSPZ_OP_POP] = "bsp_pop_reg",
                                        [BSPZ_OP_TAG_SIZE] = "bsp_set_tagsize"};
    bool is_tag = place->kind == BSPZ_OP_TAG_SIZE;

    bspz_formatted_add(text, "registrations and tag sizes, at call %llu (%s",
                       (unsigned long long)place->at + 1,
                       place->kind <= BSPZ_OP_TAG_SIZE ? names[place->kind] : "unknown");
    if (!is_tag && place->slot != BSPZ_SLOT_WILDCARD)
        bspz_formatted_add(text, ", slot %u", place->slot);
    if (place->bytes != LINK_PLACE_NO_SIZE)
        bspz_formatted_add(text, ", %llu bytes", (unsigned long long)place->bytes);
}

void link_place_text(const struct bspz_board *board, int nprocs, int pid,
                     const struct link_place *place, char *bytes, size_t size)
{
    struct bspz_formatted text = {.at = bytes, .size = size};

    bytes[0] = '\0';
    switch (place->what) {
    case LINK_PLACE_CHAIN:
        add_chain(&text, place);
        break;
    case LINK_PLACE_CALL:
    case LINK_PLACE_AREA:
        add_call(&text, place);
        break;
    default:
        bspz_formatted_add(&text, "how the superstep ends (bsp_sync or bsp_end");
    }
    if (place->known)
        add_position(&text, board, nprocs, pid, place->position);
    if (place->known || place->what != LINK_PLACE_CHAIN)
        bspz_formatted_add(&text, ")");
}
