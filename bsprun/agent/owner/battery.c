/* battery.c - whether this host runs on its battery; see parts.h. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "bsprun/agent/owner/parts.h"
#include "lib/base/io.h"

#define SUPPLIES   "/sys/class/power_supply"
#define WORD_BYTES 64

/* The first word of an attribute of a supply; "": it has none. */
static void read_word(const char *root, const char *supply, const char *attribute,
                      char word[WORD_BYTES])
{
    char path[OWNER_PATH];

    snprintf(path, sizeof path, "%s" SUPPLIES "/%s/%s", root, supply, attribute);
    if (!bspz_read_text(path, word, WORD_BYTES))
        word[0] = '\0';
    word[strcspn(word, " \n")] = '\0';
}

bool owner_on_battery(const char *root)
{
    bool adapter = false, power = false, discharging = false;
    char path[OWNER_PATH], type[WORD_BYTES], word[WORD_BYTES];
    struct dirent *entry;
    DIR *supplies;

    snprintf(path, sizeof path, "%s" SUPPLIES, root);
    supplies = opendir(path);
    while (supplies && (entry = readdir(supplies))) {
        if (entry->d_name[0] == '.')
            continue;
        read_word(root, entry->d_name, "type", type);
        if (strcmp(type, "Battery") == 0) {
            read_word(root, entry->d_name, "status", word);
            discharging = discharging || strcmp(word, "Discharging") == 0;
        } else if (strcmp(type, "Mains") == 0 || strncmp(type, "USB", strlen("USB")) == 0) {
            read_word(root, entry->d_name, "online", word);
            adapter = adapter || strcmp(word, "0") == 0;
            power = power || (word[0] && strcmp(word, "0") != 0);
        }
    }
    if (supplies)
        closedir(supplies);
    return discharging && adapter && !power;
}
