! fortran.f90 - a Fortran program with open units, saved and restored.
!
!   fortran IMAGE   writes the image and ends with status 10; restored, it checks and goes on.
module shared_numbers
  implicit none
  real(8), allocatable, save :: field(:, :)
  integer, save :: counter = 3
end module

program fortran
  use iso_c_binding
  use shared_numbers
  implicit none
  interface
    integer(c_int) function host_snapshot(path) bind(c)
      use iso_c_binding
      character(kind=c_char), intent(in) :: path(*)
    end function
    subroutine end_now(status) bind(c, name='_exit')
      use iso_c_binding
      integer(c_int), value :: status
    end subroutine
  end interface
  character(len=1000) :: image, line
  integer, dimension(3) :: fixed
  common /numbers/ fixed
  real(8) :: drawn(5), expected(5)
  integer, allocatable :: seed(:)
  integer :: i, size_of_seed, record

  call get_command_argument(1, image)
  call random_seed(size=size_of_seed)
  allocate(seed(size_of_seed))
  seed = 4711
  call random_seed(put=seed)
  call random_number(expected)
  call random_seed(put=seed)
  allocate(field(300, 400))
  do i = 1, 400
    field(:, i) = i * 0.5d0
  end do
  fixed = (/ 7, 8, 9 /)
  counter = counter + 1
  open(unit=21, file='formatted', status='replace', action='readwrite')
  write(21, '(a)') 'first line'
  open(unit=22, file='direct', status='replace', access='direct', form='unformatted', recl=16)
  write(22, rec=3) 33_8, 34_8
  open(unit=23, file='stream', status='replace', access='stream', form='unformatted')
  write(23) 1_4, 2_4
  write(*, '(a)', advance='no') 'printed '

  if (host_snapshot(trim(image) // c_null_char) == 0) then
    write(21, '(a)') 'never'
    flush(21)
    call end_now(10)
  end if

  if (counter /= 4 .or. any(fixed /= (/ 7, 8, 9 /))) stop 1
  if (any(abs(field(:, 400) - 200.0d0) > 0) .or. any(abs(field(300, :3) - (/ 0.5d0, 1d0, 1.5d0 /)) > 0)) stop 2
  call random_number(drawn)
  if (any(abs(drawn - expected) > 0)) stop 3
  write(21, '(a)') 'second line'
  rewind(21)
  read(21, '(a)') line
  if (line /= 'first line') stop 4
  read(21, '(a)') line
  if (line /= 'second line') stop 5
  read(22, rec=3) drawn(1:2)
  write(22, rec=1) 11_8, 12_8
  write(23) 3_4
  inquire(unit=23, pos=record)
  if (record /= 13) stop 6
  close(21)
  close(22)
  close(23)
  print '(a)', 'and printed'
end program
