"""Reads the expectations at the head of a conformance program.

The first comment of a program holds lines `KEY: value`; every other line is prose.  A line
`CASE: name` starts a case, which inherits what stands before the first CASE.  Values may contain
${expression}: Python over p (processes), i (this process), file (the source as compiled) and
line('mark'), the line of the comment /* @mark */.  README.md lists the keys.
"""

import re
import shlex

KEYS = {
    'P', 'RUN', 'SHELL', 'ARGS', 'ENV', 'STDIN', 'STDOUT', 'STATUS', 'OUT', 'OUT-EACH', 'OUT-ANY',
    'OUT-RE', 'OUT-NOT', 'ERR', 'ERR-RE', 'ERR-NOT', 'ERROR', 'FACT', 'CC', 'NEEDS',
    'MEMORY', 'TIMEOUT', 'CASE',
}
LINE = re.compile(r'^ \* ([A-Z][A-Z-]*):(?: (.*))?$')
EXPRESSION = re.compile(r'\$\{([^{}]*)\}')


class SpecError(Exception):
    """The head of a program says something the runner does not understand."""


class Case:
    """One way to run a program, and what must come of it."""

    def __init__(self, name, directives):
        self.name = name
        self.directives = directives

    def all(self, key):
        return [value for (k, value) in self.directives if k == key]

    def one(self, key, default=None):
        values = self.all(key)
        return values[-1] if values else default

    def words(self, key):
        return [word for value in self.all(key) for word in shlex.split(value)]

    def has(self, *keys):
        return any(k in keys for (k, _) in self.directives)


class Program:
    """A source file, its cases and its marked lines."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding='utf-8') as source:
            self.text = source.read()
        self.marks = {}
        for number, text in enumerate(self.text.split('\n'), 1):
            for mark in re.findall(r'/\* @(\w+) \*/', text):
                self.marks[mark] = number
        self.cases = self._cases()

    def line(self, mark):
        if mark not in self.marks:
            raise SpecError(f'{self.path}: no line is marked @{mark}')
        return self.marks[mark]

    def expand(self, text, p, i=0, quote=lambda s: s):
        """Replaces each ${expression}; quote guards the result where text is a pattern."""
        names = {'__builtins__': {'min': min, 'max': max, 'sum': sum, 'range': range,
                                  'str': str},
                 'p': p, 'i': i, 'file': self.path, 'line': self.line}
        return EXPRESSION.sub(lambda m: quote(str(eval(m.group(1), names))), text)

    def _cases(self):
        head = re.match(r'\s*/\*(.*?)\*/', self.text, re.S)
        if not head:
            raise SpecError(f'{self.path}: no comment at its head')
        common, cases = [], []
        for text in head.group(0).removesuffix('*/').split('\n'):
            found = LINE.match(text.rstrip())
            if not found:
                continue
            key, value = found.group(1), found.group(2) or ''
            if key not in KEYS:
                raise SpecError(f'{self.path}: unknown key {key}')
            if key == 'CASE':
                cases.append(Case(value, list(common)))
            elif cases:
                cases[-1].directives.append((key, value))
            else:
                common.append((key, value))
        return cases or [Case('', common)]
