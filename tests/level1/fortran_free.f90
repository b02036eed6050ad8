! fbsp.h in free form under implicit none, and a subroutine of the program's own that has a name of
! the library's.
!
! @flags -w
program free
  implicit none
  include 'fbsp.h'
  include 'fbsp_level1.h'
  real(8) :: vector(1000)
  logical :: flag
  integer :: i

  call bspbegin(bspnprocs())
  flag = .false.
  vector = 0
  if (bsppid() == 0) vector = [(i * 0.5d0, i = 1, 1000)]
  call bsppushreg(vector, size(vector) * BSPDOUBLE)
  call bsppushreg(flag, BSPLOGICAL)
  call bspsync
  call bspbcast(0, vector, vector, size(vector) * BSPDOUBLE)
  if (any(vector /= [(i * 0.5d0, i = 1, 1000)])) call bspabort('bcast')
  call bspput(mod(bsppid() + 1, bspnprocs()), .true., flag, 0, BSPLOGICAL)
  call bspsync
  if (.not. flag) call bspabort('logical')
  if (bspsumi(1) /= bspnprocs()) call bspabort('sumi')
  i = 3
  call bspscan(i)
  if (i /= 4) call bspabort('own bspscan')
  call bspend
  print '(a)', 'ok'
end program

subroutine bspscan(i)
  integer :: i
  i = i + 1
end subroutine
