!     fbsp.h - BSPlib for Fortran 77: to be included in every program
!     unit that calls it.  Fits fixed and free source form.
!
!     Subroutines; arguments in the order of the C calls, processes
!     and offsets counted from 0, sizes in bytes:
!       bspinit(sub)           bspbegin(maxprocs)     bspend
!       bspabort(text)         bspsync
!       bsppushreg(x, n)       bsppopreg(x)
!       bspput(pid, src, dst, offset, n)         and bsphpput
!       bspget(pid, src, offset, dst, n)         and bsphpget
!       bspsettagsize(n)       bspsend(pid, tag, payload, n)
!       bspqsize(packets, n)   bspgettag(status, tag)
!       bspmove(payload, n)
!     By an address in a registered COMMON block instead of an offset:
!       bspput_common(pid, src, common, dst, n)  and bsphpput_common
!       bspget_common(pid, common, src, dst, n)  and bsphpget_common
!     Collective operations; op is a subroutine op(result, l, r, n):
!       bspbcast(root, src, dst, n)   bspgather(root, src, dst, n)
!       bspfold(op, src, dst, n)      bspscan(op, src, dst, n)
!       bspsync_number(i), a bspsync that checks that all give one i
!
!     Sizes of the types, in bytes.
      INTEGER BSPWORD, BSPINT, BSPREAL, BSPLOGICAL
      INTEGER BSPDOUBLE, BSPCOMPLEX
      PARAMETER (BSPWORD = 4, BSPINT = 4, BSPREAL = 4)
      PARAMETER (BSPLOGICAL = 4, BSPDOUBLE = 8, BSPCOMPLEX = 8)
!
      INTEGER BSPPID, BSPNPROCS
      REAL*8 BSPTIME, BSPDTIME
