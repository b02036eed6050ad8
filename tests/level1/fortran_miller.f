C     The Miller library from Fortran, also as compilers do that append
C     two underscores to a name with an underscore.
C
C     @flags -w
C     @flags -w -fsecond-underscore
      PROGRAM MILLER
      EXTERNAL ADD
      INTEGER P, ME, RIGHT, LEFT, GOT, WORD, TOTAL
      INTEGER A(100)
      REAL*8 BSP_TIME, BSP_DTIME
      COMMON /SHARED/ A
      CALL BSP_START(0, P, ME)
      RIGHT = MOD(ME + 1, P)
      LEFT = MOD(ME + P - 1, P)
      CALL BSP_SSTEP(1)
      CALL BSP_STORE(RIGHT, ME, A(50), 4)
      CALL BSP_SSTEP_END(1)
      IF (A(50) .NE. LEFT) CALL BSPABORT('store')
      IF (A(49) .NE. 0 .OR. A(51) .NE. 0) CALL BSPABORT('beside')
      CALL BSP_SSTEP(2)
      CALL BSP_FETCH(RIGHT, A(50), GOT, 4)
      CALL BSP_SSTEP_END(2)
      IF (GOT .NE. ME) CALL BSPABORT('fetch')
      WORD = ME + 1
      CALL BSP_REDUCE(ADD, WORD, TOTAL, 4)
      IF (TOTAL .NE. P*(P + 1)/2) CALL BSPABORT('reduce')
      CALL BSP_BROADCAST(P - 1, WORD, GOT, 4)
      IF (GOT .NE. P) CALL BSPABORT('broadcast')
      IF (BSP_TIME() .LE. 0) CALL BSPABORT('time')
      IF (BSP_DTIME() .LT. 0) CALL BSPABORT('dtime')
      CALL BSP_FINISH
      WRITE (*,'(A)') 'ok'
      END

      SUBROUTINE ADD(RESULT, L, R, N)
      INTEGER RESULT, L, R, N
      IF (N .NE. 4) CALL BSPABORT('n')
      RESULT = L + R
      END
