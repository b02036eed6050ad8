"""Where in the sources a defect goes.

A defect quotes the code that it replaces.  What counts of a quote are its tokens, not how they are laid
out, and it may move from file to file: it must occur once in the file that the defect names, or else
once in all sources of the product.
"""
import os
import re

SOURCES = ("include", "lib", "coordinator", "ckpt", "bsprun", "tools", "bin")


def pattern(quote):
    """Its tokens, with any white space between them; the first and the last are whole words."""
    tokens = re.findall(r"\w+|[^\w\s]", quote)
    parts = tokens[:1]
    for before, token in zip(tokens, tokens[1:]):
        both_words = re.match(r"\w", before[-1]) and re.match(r"\w", token)
        parts.append((r"\s+" if both_words else r"\s*") + re.escape(token))
    if not parts:
        return None
    start = r"(?<!\w)" if re.match(r"\w", tokens[0]) else ""
    end = r"(?!\w)" if re.match(r"\w", tokens[-1]) else ""
    return re.compile(start + re.escape(parts[0]) + "".join(parts[1:]) + end)


class Sources:
    """The texts of a tree, as they were when they were first read."""

    def __init__(self, root):
        self.root = root
        self.texts = {}

    def text(self, path):
        if path not in self.texts:
            try:
                with open(os.path.join(self.root, path), encoding="utf-8") as file:
                    self.texts[path] = file.read()
            except OSError:
                self.texts[path] = ""
        return self.texts[path]

    def paths(self):
        for top in SOURCES:
            for directory, _, names in os.walk(os.path.join(self.root, top)):
                for name in names:
                    if name.endswith((".c", ".h")):
                        yield os.path.relpath(os.path.join(directory, name), self.root)

    def spans(self, path, quote):
        """Where the tokens are; where they are more than once, only what is laid out in the same way."""
        text = self.text(path)
        found = [(path, *match.span()) for match in pattern(quote).finditer(text)]
        if len(found) > 1 and text.count(quote) == 1:
            start = text.index(quote)
            found = [(path, start, start + len(quote))]
        return found

    def find(self, edit):
        """(path, start, end), or None and what is wrong."""
        quote = edit["find"]
        if not quote.strip():
            return None, "an empty quote"
        found = self.spans(edit["file"], quote) if "file" in edit else []
        if not found:
            found = [span for path in self.paths() for span in self.spans(path, quote)]
        if len(found) == 1:
            return found[0], ""
        places = ", ".join(sorted({path for path, _, _ in found})) or "nowhere"
        return None, f"found {len(found)} times, {places}: {quote.strip()[:80]!r}"

    def changed(self, edits):
        """The texts with the edits by path, or None and what is wrong."""
        texts, spans = {}, []
        for edit in edits:
            span, wrong = self.find(edit)
            if not span:
                return None, wrong
            spans.append((span, edit["replace"]))
        # From the end of a file to its beginning, so that the places stay right.
        for (path, start, end), replacement in sorted(spans, reverse=True):
            text = texts.get(path, self.text(path))
            texts[path] = text[:start] + laid_out(replacement) + text[end:]
        return texts, ""


def laid_out(replacement):
    """A directive needs a line of its own."""
    text = replacement.strip()
    return f"\n{text}\n" if re.search(r"^\s*#", text, re.M) else text
