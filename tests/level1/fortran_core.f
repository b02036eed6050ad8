C     The primitives from fixed-form Fortran 77, started in the old way:
C     data is read and put into a COMMON block before BSPBEGIN, and
C     every process finds it there.  What was printed before comes once,
C     and in order.
C
C     @flags -w
C     @stdin 17 2.5\n42\n
C     @stdout before
C     @stdout sum done
C     @stdout after 42
      PROGRAM CORE
      EXTERNAL SPMD
      INTEGER N, M
      REAL*8 X
      COMMON /INPUT/ X, N
      READ (*,*) N, X
      WRITE (*,'(A)') 'before'
      CALL BSPINIT(SPMD)
      CALL SPMD
C     Only process 0 comes back, and goes on reading where it was.
      READ (*,*) M
      WRITE (*,'(A,I3)') 'after', M
      END

      SUBROUTINE SPMD
      INCLUDE 'fbsp.h'
      INTEGER N, P, ME, RIGHT, LEFT, I, GOT, TARGET(4), SIZE, NB, STAT
      INTEGER TAG, PAY, FROM(64)
      REAL*8 X, T
      COMMON /INPUT/ X, N
      CALL BSPBEGIN(0)
      P = BSPNPROCS()
      ME = BSPPID()
      IF (N .NE. 17 .OR. X .NE. 2.5D0) CALL BSPABORT('no input here')
      RIGHT = MOD(ME + 1, P)
      LEFT = MOD(ME + P - 1, P)
C
      DO 10 I = 1, 4
 10   TARGET(I) = -1
      CALL BSPPUSHREG(TARGET, 4*BSPINT)
      CALL BSPSYNC
      CALL BSPPUT(RIGHT, ME, TARGET, 1*BSPINT, BSPINT)
      CALL BSPHPPUT(RIGHT, N, TARGET, 3*BSPINT, BSPINT)
      CALL BSPSYNC
      IF (TARGET(2) .NE. LEFT) CALL BSPABORT('put')
      IF (TARGET(4) .NE. 17) CALL BSPABORT('hpput')
      IF (TARGET(1) .NE. -1) CALL BSPABORT('put beside')
      CALL BSPGET(RIGHT, TARGET, 1*BSPINT, GOT, BSPINT)
      CALL BSPSYNC
      IF (GOT .NE. ME) CALL BSPABORT('get')
      CALL BSPHPGET(LEFT, TARGET, 1*BSPINT, GOT, BSPINT)
      CALL BSPSYNC
      IF (GOT .NE. MOD(LEFT + P - 1, P)) CALL BSPABORT('hpget')
      CALL BSPPOPREG(TARGET)
      CALL BSPPUSHREGISTER(FROM, 64*BSPINT)
      CALL BSPSYNC
      CALL BSPPOPREGISTER(FROM)
C
      SIZE = BSPINT
      CALL BSPSETTAGSIZE(SIZE)
      IF (SIZE .NE. 0) CALL BSPABORT('old tag size')
      CALL BSPSYNC
      CALL BSPSEND(RIGHT, ME, X, BSPDOUBLE)
      CALL BSPSEND(RIGHT, N, ME, BSPINT)
      CALL BSPSYNC
      CALL BSPQSIZE(I, NB)
      IF (I .NE. 2 .OR. NB .NE. 12) CALL BSPABORT('qsize')
      CALL BSPGETTAG(STAT, TAG)
      IF (STAT .NE. 8 .OR. TAG .NE. LEFT) CALL BSPABORT('gettag')
      CALL BSPMOVE(T, BSPDOUBLE)
      IF (T .NE. 2.5D0) CALL BSPABORT('move')
      CALL BSPGETTAG(STAT, TAG)
      IF (STAT .NE. 4 .OR. TAG .NE. 17) CALL BSPABORT('gettag 2')
      CALL BSPMOVE(PAY, BSPINT)
      IF (PAY .NE. LEFT) CALL BSPABORT('move 2')
      CALL BSPGETTAG(STAT, TAG)
      IF (STAT .NE. -1) CALL BSPABORT('empty queue')
C
      T = BSPTIME()
      IF (T .LE. 0 .OR. BSPDTIME() .LT. 0) CALL BSPABORT('time')
      IF (ME .EQ. P - 1) WRITE (*,'(A)') 'sum done'
      CALL BSPSYNC
      CALL BSPEND
      END
