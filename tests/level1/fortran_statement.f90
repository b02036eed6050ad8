! A function that synchronises may be called inside a statement of input or output: its unit is
! locked meanwhile, and must not be flushed.  A later bsp_sync flushes it.
! @procs 1 3
! @flags -O0
! @flags -O0 -static
! @flags -O0 -fshared-libbsp
! @stdin 7
! @stdout sum 3
! @stdout twice 14
! @stdout text 12
! @stdout ok
program statement
  implicit none
  include 'fbsp.h'
  include 'fbsp_level1.h'
  integer :: values(20), p
  character(len=20) :: text

  call bspbegin(0)
  p = bspnprocs()
  ! Every process is inside a statement when it comes to the barriers.
  if (bsppid() == 0) then
     print '(A,I2)', 'sum', bspsumi(3) / p
     values = 0
     read (*, *) values(bspsumi(1))
     print '(A,I3)', 'twice', 2 * values(p)
     write (text, '(A,I3)') 'text', synchronised(12)
     print '(A)', trim(text)
     flush (6)
  else
     write (text, '(I3)') bspsumi(3)
     write (text, '(I3)') bspsumi(1)
     write (text, '(I3)') synchronised(12)
  end if
  call bspsync
  if (bsppid() == 0) print '(A)', 'ok'
  call bspsync
  call bspend

contains

  integer function synchronised(value)
    integer, intent(in) :: value

    call bspsync
    synchronised = value
  end function synchronised
end program statement
