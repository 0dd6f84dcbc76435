"""The Autobahn suite's `wstest` (Python 2.7) with two changes: its check of UTF-8, by far the slowest part of the
compression cases, leaves most bytes to Python's own decoder; and WSTEST_MESSAGES limits the messages of each of those
cases, which have 1,000.

usage: wstest.py -m MODE -s SPECIFICATION
"""
import codecs
import os
import sys
import warnings

warnings.simplefilter("ignore")

import autobahn.websocket.utf8validator as utf8validator  # noqa: E402


class Validator(object):
    """The suite's contract: bytes to (valid, ends on a character, index in these bytes, index in all)."""

    def __init__(self):
        self.strict = StrictValidator()
        self.reset()

    def reset(self):
        self.strict.reset()
        self.is_at_boundary = True
        self.total = 0

    def validate(self, chunk):
        data = bytes(chunk)
        plain = 0
        # Python 2 takes surrogates, which begin with ED, for characters.
        if self.is_at_boundary and b"\xed" not in data:
            try:
                plain = codecs.utf_8_decode(data, "strict", False)[1]
            except UnicodeDecodeError:
                pass
        index = 0
        valid = True
        if plain < len(data):
            valid, ends, index = self.strict.validate(data[plain:])[:3]
            self.is_at_boundary = bool(ends)
        self.total += plain + index
        return valid, valid and self.is_at_boundary, plain + index, self.total


StrictValidator = utf8validator.Utf8Validator
utf8validator.Utf8Validator = Validator

from autobahntestsuite.case import Cases  # noqa: E402
from autobahntestsuite.wstest import run  # noqa: E402

messages = int(os.environ.get("WSTEST_MESSAGES", "1000"))
for case in Cases:
    if case.__name__.startswith(("Case12", "Case13")) and hasattr(case, "COUNT"):
        case.COUNT = min(case.COUNT, messages)

sys.argv[0] = "wstest"
sys.exit(run())
