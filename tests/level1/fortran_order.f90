! Lines that the processes print in turn, a superstep each, come in that order, although Fortran
! buffers them; what stands in a buffer at bspbegin or bspabort is printed once.
!
! @procs 3
! @stdout first
! @stdout 0 of 3
! @stdout 1 of 3
! @stdout 2 of 3
! @stdout last
program order
  include 'fbsp.h'
  integer :: i

  print '(a)', 'first'
  call bspbegin(3)
  do i = 0, bspnprocs() - 1
    if (bsppid() == i) print '(i0,a,i0)', i, ' of ', bspnprocs()
    call bspsync
  end do
  call bspend
  print '(a)', 'last'
end program
