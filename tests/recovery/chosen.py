"""Which tests of a script are run.

Without arguments those that are not long, for the default run; --long: the others, for a suite of their own; --all: both;
patterns: those with such names.
"""
import re
import sys


def long(function):
    """Marks a test as a long one: of a kind that the others, or a simulator, have a shorter one of."""
    function.is_long = True
    return function


def chosen(tests):
    """Of tests (functions, or pairs of a name and a function) those that the arguments choose, as pairs."""
    wanted = sys.argv[1:]
    named = [test if isinstance(test, tuple) else (test.__name__, test) for test in tests]
    if wanted == ["--all"]:
        return named
    if wanted in ([], ["--long"]):
        return [test for test in named if getattr(test[1], "is_long", False) == bool(wanted)]
    return [test for test in named if any(re.fullmatch(pattern, test[0]) for pattern in wanted)]
