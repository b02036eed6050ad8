!     fbsp_level1.h - the functions among BSPlib's collective
!     operations, for Fortran 77; include it behind fbsp.h.  Fits
!     fixed and free source form.
!
!     Each takes this process's value and gives the same type: the
!     result over all processes or, with _prefix, over this one and
!     those before it.
      INTEGER BSPSUMI, BSPPRODUCTI, BSPMINI, BSPMAXI
      REAL BSPSUMR, BSPPRODUCTR, BSPMINR, BSPMAXR
      REAL*8 BSPSUMD, BSPPRODUCTD, BSPMIND, BSPMAXD
      INTEGER BSPSUMI_PREFIX, BSPPRODUCTI_PREFIX
      INTEGER BSPMINI_PREFIX, BSPMAXI_PREFIX
      REAL BSPSUMR_PREFIX, BSPPRODUCTR_PREFIX
      REAL BSPMINR_PREFIX, BSPMAXR_PREFIX
      REAL*8 BSPSUMD_PREFIX, BSPPRODUCTD_PREFIX
      REAL*8 BSPMIND_PREFIX, BSPMAXD_PREFIX
!     Truth values, 1 or 0.
      INTEGER BSPANY, BSPALL
!     The machine: flop/s, flops, flops per word, words.
      REAL*8 BSPS, BSPL, BSPG
      INTEGER BSPNHALF
