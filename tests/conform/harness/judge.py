"""Compares what came of a job with what its case expects."""

import re
from collections import Counter

# A message of libbsp that ends the job.
MESSAGE = re.compile(r'bspzero: [^ ]+: [a-zA-Z_0-9]+: pid -?[0-9]+(?: of [0-9]+, superstep [0-9]+)?: ')


def plain_lines(text):
    lines = text.split('\n')
    return lines[:-1] if lines and lines[-1] == '' else lines


def excerpt(text, limit=1500):
    return text if len(text) <= limit else text[:limit] + f'... ({len(text)} characters)'


class Judge:
    """Collects the complaints about one run."""

    def __init__(self, program, case, p):
        self.program, self.case, self.p = program, case, p
        self.complaints = []

    def complain(self, text):
        self.complaints.append(text)

    def expand(self, text, i=0):
        return self.program.expand(text, self.p, i)

    def pattern(self, text, i=0):
        return self.program.expand(text, self.p, i, quote=re.escape)

    def examine(self, outcome):
        if outcome.timed_out:
            self.complain('not finished in time; processes then:')
        for name in outcome.left:
            self.complain(f'left behind: {name}')
        if not outcome.timed_out:
            self._status(outcome.status)
        self._stdout(outcome.out)
        self._stderr(outcome.err)
        if self.complaints:
            self.complain(f'status: {outcome.status}')
            self.complain(f'stdout: {excerpt(outcome.out)!r}')
            self.complain(f'stderr: {excerpt(outcome.err)!r}')
        return self.complaints

    def _status(self, status):
        wanted = self.expand(self.case.one('STATUS', '0'))
        if wanted == 'any':
            return
        if wanted in ('nonzero', 'failed'):
            if status == 0:
                self.complain('status 0, expected another')
            if wanted == 'nonzero' and (status < 0 or status >= 128):
                self.complain(f'ended by a signal ({status})')
        elif status != int(wanted):
            self.complain(f'status {status}, expected {wanted}')

    def _stdout(self, out):
        case = self.case
        exact = [line for v in case.all('OUT') for line in self.expand(v).split('\n')]
        anywhere = [line for v in case.all('OUT-ANY') for line in self.expand(v).split('\n')]
        for value in case.all('OUT-EACH'):
            for i in range(self.p):
                anywhere += self.expand(value, i).split('\n')
        lines = plain_lines(out)
        if exact and lines != exact:
            self.complain(f'stdout is not {exact!r}')
        if anywhere and Counter(lines) != Counter(anywhere):
            missing = Counter(anywhere) - Counter(lines)
            surplus = Counter(lines) - Counter(anywhere)
            self.complain(excerpt(f'stdout lacks {dict(missing)!r}, has too much {dict(surplus)!r}'))
        for value in case.all('OUT-RE'):
            if not re.search(self.pattern(value), out, re.M):
                self.complain(f'stdout has nothing like {value}')
        for value in case.all('OUT-NOT'):
            if re.search(self.pattern(value), out, re.M):
                self.complain(f'stdout must not have {value}')

    def _stderr(self, err):
        case = self.case
        if not case.has('ERR', 'ERR-RE', 'ERROR') and case.one('STATUS', '0') == '0' and err:
            self.complain('stderr is not empty')
        exact = [self.expand(v) for v in case.all('ERR')]
        if exact and plain_lines(err) != exact:
            self.complain(f'stderr is not {exact!r}')
        for value in case.all('ERR-RE'):
            if not re.search(self.pattern(value), err, re.M):
                self.complain(f'stderr has nothing like {value}')
        for value in case.all('ERR-NOT'):
            if re.search(self.pattern(value), err, re.M):
                self.complain(f'stderr must not have {value}')
        if case.has('ERROR'):
            self._message(err)

    def _message(self, err):
        """ERROR: function place pid superstep, with the FACTs on the same line."""
        said = [line for line in plain_lines(err) if MESSAGE.match(line)]
        if len(said) > 1:
            self.complain(f'{len(said)} messages, expected one')
        prefixes = [self._prefix(v.split()) for v in self.case.all('ERROR')]
        facts = [self.pattern(v) for v in self.case.all('FACT')]
        found = False
        for line in plain_lines(err):
            for prefix in prefixes:
                match = re.match(prefix, line)
                if match and all(re.search(f, line[match.end():]) for f in facts):
                    found = True
        if not found:
            self.complain(f'no line of stderr matches one of {prefixes!r} with {facts!r}')

    def _prefix(self, words):
        function, place, pid, superstep = words
        if place.startswith('@'):
            where = f'{re.escape(self.program.path)}:{self.program.line(place[1:])}'
        elif place == 'unprofiled':
            where = 'unprofiled:0'
        elif place == '?':
            where = r'\S[^\n]*?:[0-9]+'
        else:
            raise ValueError(f'{place} is no place: @mark, unprofiled or ?')
        if pid == '-1':  # before bsp_begin there is neither a number of processes nor a superstep
            return f'bspzero: {where}: {function}: pid -1: '
        number = '[0-9]+' if pid == '?' else self.expand(pid)
        who = f'pid (?:{number}) of {self.p}'
        step = '[0-9]+' if superstep == '?' else superstep
        return f'bspzero: {where}: {function}: {who}, superstep (?:{step}): '
