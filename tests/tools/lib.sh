# lib.sh: what the shell tests of this directory share.
#
# A test is called with the source and the build directory.  It works in a directory of its own,
# which is removed at the end, and sets TMPDIR to a directory in there that must be empty again when
# the test ends: whatever a tool leaves behind is a failure.

source_root=$1
build_root=$2
bin=$build_root/bin

scratch=$(mktemp -d) || exit 99
mkdir "$scratch/tmp" "$scratch/work"
TMPDIR=$scratch/tmp
export TMPDIR
unset BSPCC_CC BSPCC_CXX BSPCC_FC BSP_INCLUDE_DIR XDG_CONFIG_HOME BSP_SLG BSP_PROCS BSP_COMPAT \
    BSP_DEVICE BSP_MACHINE
cd "$scratch/work" || exit 99

failures=0
cases=0

cleanup() {
    cd /
    rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

fail() {
    failures=$((failures + 1))
    echo "FAILED: $1"
    [ ! -s "$scratch/log" ] || sed 's/^/    /' "$scratch/log"
}

# check NAME COMMAND...: the command must succeed.
check() {
    name=$1
    shift
    cases=$((cases + 1))
    "$@" >"$scratch/log" 2>&1 || fail "$name (status $?)"
}

# check_fails NAME STATUS TEXT COMMAND...: the command must end with this status, or any but 0 when
# it is "any", and say TEXT.
check_fails() {
    name=$1 wanted=$2 text=$3
    shift 3
    cases=$((cases + 1))
    status=0
    "$@" >"$scratch/log" 2>&1 || status=$?
    case $wanted in
    any) [ "$status" -ne 0 ] || fail "$name: succeeded" ;;
    *) [ "$status" -eq "$wanted" ] || fail "$name: status $status, not $wanted" ;;
    esac
    grep -qF -e "$text" "$scratch/log" || fail "$name: does not say '$text'"
}

# check_says NAME TEXT COMMAND...: the command must succeed and print a line that contains TEXT.
check_says() {
    name=$1 text=$2
    shift 2
    cases=$((cases + 1))
    "$@" >"$scratch/log" 2>&1 || fail "$name (status $?)"
    grep -qF -e "$text" "$scratch/log" || fail "$name: does not say '$text'"
}

# check_silent NAME COMMAND...: the command must succeed and print nothing.
check_silent() {
    name=$1
    shift
    cases=$((cases + 1))
    "$@" >"$scratch/log" 2>&1 || fail "$name (status $?)"
    [ ! -s "$scratch/log" ] || fail "$name: prints something"
}

# Ends the test; at least one case must have run.
finish() {
    : >"$scratch/log"
    left=$(ls -A "$TMPDIR")
    [ -z "$left" ] || fail "left behind in TMPDIR: $left"
    echo "$cases cases, $failures failed"
    [ "$cases" -gt 0 ] && [ "$failures" -eq 0 ]
    exit
}
