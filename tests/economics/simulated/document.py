"""What is made by a command, inside a document that is written by hand."""
import sys

BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"


def put_into(path, text):
    """Replaces what is between the two marks."""
    with open(path, encoding="utf-8") as file:
        old = file.read()
    before, _, rest = old.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        sys.exit(f"{path}: {BEGIN} and {END} are not there")
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n\n" + text + "\n" + END + after)
