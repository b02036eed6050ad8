C     The collective operations from Fortran, the COMMON addressing and
C     the numbered syncs.
C
C     @flags -w
C     @flags -w -fsecond-underscore
      PROGRAM LEVEL1
      INCLUDE 'fbsp.h'
      INCLUDE 'fbsp_level1.h'
      EXTERNAL COMPOSE
      INTEGER P, ME, I, X, Y, ALL(64), RIGHT, LEFT
      INTEGER A(10), B
      REAL*8 MAP(2), TOTAL(2), WANT(2)
      COMMON /BLOCK/ A, B
      CALL BSPBEGIN(0)
      P = BSPNPROCS()
      ME = BSPPID()
      RIGHT = MOD(ME + 1, P)
      LEFT = MOD(ME + P - 1, P)
      CALL BSPSYNC_NUMBER(1)
      CALL BSPPUSHREG(A, 11*BSPINT)
      CALL BSPPUSHREG(Y, BSPINT)
      CALL BSPPUSHREG(ALL, 64*BSPINT)
      CALL BSPSYNC_NUMBER(2)
C
      X = ME*10 + 3
      CALL BSPBCAST(P - 1, X, Y, BSPINT)
      CALL ASSERT(Y .EQ. (P - 1)*10 + 3, 'bcast')
      CALL BSPGATHER(0, X, ALL, BSPINT)
      IF (ME .EQ. 0) THEN
        DO 10 I = 1, P
          CALL ASSERT(ALL(I) .EQ. (I - 1)*10 + 3, 'gather')
 10     CONTINUE
      ENDIF
C
      WANT(1) = 1
      WANT(2) = 0
      DO 20 I = 0, P - 1
        WANT(2) = WANT(1)*I + WANT(2)
        WANT(1) = WANT(1)*(MOD(I, 3) + 1)
        IF (I .EQ. ME) THEN
          TOTAL(1) = WANT(1)
          TOTAL(2) = WANT(2)
        ENDIF
 20   CONTINUE
      MAP(1) = MOD(ME, 3) + 1
      MAP(2) = ME
      CALL BSPSCAN(COMPOSE, MAP, MAP, 2*BSPDOUBLE)
      CALL ASSERT(MAP(1) .EQ. TOTAL(1), 'scan 1')
      CALL ASSERT(MAP(2) .EQ. TOTAL(2), 'scan 2')
      MAP(1) = MOD(ME, 3) + 1
      MAP(2) = ME
      CALL BSPFOLD(COMPOSE, MAP, TOTAL, 2*BSPDOUBLE)
      CALL ASSERT(TOTAL(1) .EQ. WANT(1), 'fold 1')
      CALL ASSERT(TOTAL(2) .EQ. WANT(2), 'fold 2')
C
      I = ME + 1
      CALL ASSERT(BSPSUMI(I) .EQ. P*(P + 1)/2, 'sumi')
      CALL ASSERT(BSPSUMR(REAL(I)) .EQ. P*(P + 1)/2, 'sumr')
      CALL ASSERT(BSPSUMD(DBLE(I)) .EQ. P*(P + 1)/2, 'sumd')
      CALL ASSERT(BSPPRODUCTI(2) .EQ. 2**P, 'producti')
      CALL ASSERT(BSPPRODUCTR(2.0) .EQ. 2**P, 'productr')
      CALL ASSERT(BSPPRODUCTD(2D0) .EQ. 2**P, 'productd')
      CALL ASSERT(BSPMINI(-I) .EQ. -P, 'mini')
      CALL ASSERT(BSPMINR(REAL(I)) .EQ. 1, 'minr')
      CALL ASSERT(BSPMIND(DBLE(-I)) .EQ. -P, 'mind')
      CALL ASSERT(BSPMAXI(I) .EQ. P, 'maxi')
      CALL ASSERT(BSPMAXR(REAL(I)) .EQ. P, 'maxr')
      CALL ASSERT(BSPMAXD(DBLE(-I)) .EQ. -1, 'maxd')
      CALL ASSERT(BSPSUMI_PREFIX(I) .EQ. I*(I + 1)/2, 'sumi_p')
      CALL ASSERT(BSPSUMR_PREFIX(1.0) .EQ. I, 'sumr_p')
      CALL ASSERT(BSPSUMD_PREFIX(5D-1) .EQ. 0.5D0*I, 'sumd_p')
      CALL ASSERT(BSPPRODUCTI_PREFIX(2) .EQ. 2**I, 'producti_p')
      CALL ASSERT(BSPPRODUCTR_PREFIX(2.0) .EQ. 2**I, 'productr_p')
      CALL ASSERT(BSPPRODUCTD_PREFIX(3D0) .EQ. 3D0**I, 'productd_p')
      CALL ASSERT(BSPMINI_PREFIX(-I) .EQ. -I, 'mini_p')
      CALL ASSERT(BSPMINR_PREFIX(REAL(I)) .EQ. 1, 'minr_p')
      CALL ASSERT(BSPMIND_PREFIX(DBLE(-I)) .EQ. -I, 'mind_p')
      CALL ASSERT(BSPMAXI_PREFIX(I) .EQ. I, 'maxi_p')
      CALL ASSERT(BSPMAXR_PREFIX(REAL(-I)) .EQ. -1, 'maxr_p')
      CALL ASSERT(BSPMAXD_PREFIX(DBLE(I)) .EQ. I, 'maxd_p')
      CALL ASSERT(BSPALL(1) .EQ. 1, 'all')
      CALL ASSERT(BSPALL(ME) .EQ. 0, 'all 2')
      CALL ASSERT(BSPANY(0) .EQ. 0, 'any')
      CALL ASSERT(BSPS() .GT. 0 .AND. BSPL() .GT. 0, 'parameters')
      CALL ASSERT(BSPG() .GT. 0 .AND. BSPNHALF() .GT. 0, 'parameters')
C
      DO 30 I = 1, 10
 30   A(I) = -1
      B = 1000 + ME
      CALL BSPSYNC_NUMBER(3)
      CALL BSPPUT_COMMON(RIGHT, ME, A, A(4), BSPINT)
      CALL BSPHPPUT_COMMON(RIGHT, P, A, A(6), BSPINT)
      CALL BSPGET_COMMON(RIGHT, A, B, X, BSPINT)
      CALL BSPSYNC_NUMBER(4)
      CALL ASSERT(A(4) .EQ. LEFT .AND. A(6) .EQ. P, 'put_common')
      CALL ASSERT(A(3) .EQ. -1 .AND. A(5) .EQ. -1, 'beside')
      CALL ASSERT(X .EQ. 1000 + RIGHT, 'get_common')
      CALL BSPHPGET_COMMON(LEFT, A, A(4), X, BSPINT)
      CALL BSPSYNC_NUMBER(5)
      CALL ASSERT(X .EQ. MOD(LEFT + P - 1, P), 'hpget_common')
      CALL BSPEND
      WRITE (*,'(A)') 'ok'
      END

C     X -> a*x + b, first the right one; as integers would do, exactly.
      SUBROUTINE COMPOSE(RESULT, L, R, N)
      INTEGER N
      REAL*8 RESULT(2), L(2), R(2)
      IF (N .NE. 16) CALL BSPABORT('n')
      RESULT(1) = L(1)*R(1)
      RESULT(2) = L(1)*R(2) + L(2)
      END

      SUBROUTINE ASSERT(TRUTH, TEXT)
      LOGICAL TRUTH
      CHARACTER*(*) TEXT
      IF (.NOT. TRUTH) CALL BSPABORT(TEXT)
      END
