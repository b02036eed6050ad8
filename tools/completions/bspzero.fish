# fish completion for the commands of bspzero.  Options are those that --help shows; jobs are the user's
# present ones.

function __bspzero_options
    set -l command (commandline -poc)[1]
    $command --help 2>/dev/null | grep -oE '(^|[^[:alnum:]_-])--?[A-Za-z][A-Za-z0-9-]*' | sed 's/^[^-]*//' | sort -u
    # What there is no room for in --help.
    if test (basename $command) = bsprun
        string split ' ' -- '--attach-on-error --connect-timeout --dataspace-memory --debug --report-bindings --stacks --verbose --xterm'
    end
end

function __bspzero_jobs
    bspstat --json 2>/dev/null | sed -n 's/^{"pid":\([0-9]*\),.*/\1/p'
end

# The words so far that are no options, without the command.
function __bspzero_given
    string match -v -- '-*' (commandline -poc)[2..-1]
end

function __bspzero_hosts
    bspctl (__bspzero_given)[1] hosts 2>/dev/null | awk 'NR > 1 { print $1 }'
end

for command in bsprun bspcc bspcxx bspc++ bspfront bspf77 bspf90 bspmpicc bspstat bspctl bspkill bspckpt bspload bspparam \
        bspprof bspsig bspcgprof bspsim bsparch bsplibd bspshutd
    complete -c $command -n 'string match -q -- "-*" (commandline -ct)' -a '(__bspzero_options)'
end
function __bspzero_after
    contains -- (commandline -poc)[-1] $argv
end
complete -c bsprun -f -n '__bspzero_after --bind-to --bind' -a 'core hwthread package socket numa none'
complete -c bsprun -f -n '__bspzero_after --map-by' -a 'slot node core hwthread package socket numa'
for command in bspstat bspctl bspkill bspload bsparch bsplibd bspshutd
    complete -c $command -f
end
for command in bspstat bspkill
    complete -c $command -a '(__bspzero_jobs)'
end
complete -c bspctl -n 'test (count (__bspzero_given)) -eq 0' -a '(__bspzero_jobs)'
complete -c bspctl -n 'test (count (__bspzero_given)) -eq 1' -a 'hosts stacks save drain remove add move rebalance replicas'
complete -c bspctl -n 'test (count (__bspzero_given)) -ge 2' -a '(__bspzero_hosts)'
complete -c bspload -a '(__fish_print_hostnames)'
