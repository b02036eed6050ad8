/* note.h - the ELF note that bspcc adds to a program for bsprun to read; it survives strip(1).
 *
 * Name "bspzero", type BSPZ_NOTE_CHECKPOINT, contents: seconds between snapshots (-fcheckpointing),
 * a 32-bit number.  Without the option there is no note. */
#ifndef BSPZ_BASE_NOTE_H
#define BSPZ_BASE_NOTE_H

#define BSPZ_NOTE_NAME       "bspzero"
#define BSPZ_NOTE_CHECKPOINT 1

#endif
