/* elsewhere.c - files of a process that is restored on another host while the saved one goes on.
 *
 * A file open for reading counts as the same when path, size and time of the last change are equal:
 * copies on several hosts will do.  Writes must go to one file: that must be proved, by the kernel
 * being the same or by a file system with the same identification on every host.
 */
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/restore.h"

#ifndef CIFS_SUPER_MAGIC
#define CIFS_SUPER_MAGIC 0xff534d42
#endif
#define SMB2_MAGIC   0xfe534d42
#define LUSTRE_MAGIC 0x0bd00bd0
#define GPFS_MAGIC   0x47504653
#define BEEGFS_MAGIC 0x19830326

/* File systems whose inode numbers are those of a server. */
static bool is_of_a_server(int fd)
{
    struct statfs system;

    if (bspz_sys2(SYS_fstatfs, fd, &system) != 0)
        return false;
    switch ((uint32_t)system.f_type) {
    case NFS_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_MAGIC:
    case LUSTRE_MAGIC:
    case GPFS_MAGIC:
    case BEEGFS_MAGIC:
    case CEPH_SUPER_MAGIC:
        return true;
    default:
        return false;
    }
}

static bool is_same_machine(const struct bspz_restore *restore)
{
    char id[BSPZ_BOOT_SIZE];

    bspz_boot_id(id);
    return id[0] && strcmp(id, restore->thread->boot) == 0;
}

bool bspz_same_file(const struct bspz_restore *restore, const struct bspz_image_descriptor *saved,
                    int fd)
{
    struct stat now;

    if (saved->kind != BSPZ_DESCRIPTOR_FILE)
        return true;
    if (bspz_sys2(SYS_fstat, fd, &now) != 0)
        return false;
    if (now.st_ino == saved->inode && now.st_dev == saved->device && is_same_machine(restore))
        return true;
    if ((uint64_t)now.st_size != saved->size ||
        (uint64_t)now.st_mtim.tv_sec * 1000000000 + (uint64_t)now.st_mtim.tv_nsec !=
            saved->modified)
        return false;
    return ((int)saved->flags & O_ACCMODE) == O_RDONLY ||
           (now.st_ino == saved->inode && is_of_a_server(fd));
}

/* Nothing is ever mapped at the descriptor's initial offset, an address. */
int bspz_lost_file(const struct bspz_image_descriptor *saved)
{
    return bspz_sys_open("/proc/self/mem", ((int)saved->flags & O_ACCMODE) | O_CLOEXEC);
}
