C     Messages of Fortran programs: the whole text of BSPABORT, the line
C     and file that rewritten calls carry, numbers of syncs that differ.
C
C     @procs 3
C     @fails abort => ABORT\(pid  [0-2]\):two words, and more$
C     @fails place => fortran_errors\.f:77: bsp_put: pid 1 of 3, superstep 0: .*process 99
C     @fails number => pid [0-2] of 3, superstep 1: .*number
C     @fails number => pid 1: number 6 at
C     @fails unmarked => unprofiled:0: bsp_put: pid 1 of 3
C     @fails missing => Cannot open file
C     @fails missing => pid 1 called exit\(2\) in superstep 0
C     @fails collective => fortran_errors\.f:99: bsp_bcast: pid 1 of 3, .*root 3 is not
      PROGRAM ERRORS
      INCLUDE 'fbsp.h'
      CHARACTER*20 MODE
      INTEGER X
      CALL GET_COMMAND_ARGUMENT(1, MODE)
      CALL BSPBEGIN(0)
      X = 0
      IF (MODE .EQ. 'number') THEN
        CALL BSPSYNC_NUMBER(5)
        CALL BSPSYNC_NUMBER(5 + BSPPID())
      ENDIF
      IF (BSPPID() .EQ. 1) THEN
        IF (MODE .EQ. 'abort') CALL BSPABORT('two words, and more   ')
        IF (MODE .EQ. 'place') THEN
          CALL CPPPUT(99, X, X, 0, 4, 77, 'fortran_errors.f')
        ENDIF
C       libgfortran ends the program while the unit is locked.
        IF (MODE .EQ. 'missing') THEN
          OPEN(10, FILE='no such file', STATUS='OLD')
        ENDIF
        IF (MODE .EQ. 'unmarked') CALL BSPPUT(99, X, X, 0, 4)
        IF (MODE .EQ. 'collective') THEN
          CALL CPPBCAST(3, X, X, 4, 99, 'fortran_errors.f')
        ENDIF
      ENDIF
      CALL BSPSYNC
      CALL BSPEND
      WRITE (*,'(A)') 'ok'
      END
