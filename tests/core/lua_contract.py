"""Checks a script against its own header: every fault as a sentence. `parse_header` refuses what it cannot even read.

It reads Lua only as far as it needs: tokens, the depth of blocks, the bindings at the beginning of the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from visualizer.script import Header, Slot, parse_header

TOKEN = re.compile(r"--[^\n]*|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|[A-Za-z_]\w*|\d+|\.\.|[^\s\w]")
HEADER_ORDER = ("MOVES", "KEYS", "ARGV", "RETURNS", "CLOCK")
OPENS, CLOSES = {"function", "if", "do", "repeat"}, {"end", "until"}
ENDS_A_RETURN = {*CLOSES, "else", "elseif"}


def faults(name: str, source: str) -> list[str]:
    """What in the script does not keep its header's promises; empty where all is well. ScriptError as it is parsed."""
    header = parse_header(name, source)
    lines = source.splitlines()
    height = next((at for at, line in enumerate(lines) if not line.startswith("--")), len(lines))
    body = [token for token in TOKEN.findall("\n".join(lines[height:])) if not token.startswith("--")]
    bound, rest = _bindings(body)
    return [
        *_order(lines[1:height]),
        *_bound(bound, header),
        *_used_again(rest, header),
        *_replies(list(_returns(body)), header),
    ]


def _order(comments: Sequence[str]) -> Iterator[str]:
    words = [line[2:].split()[0] for line in comments]
    ranks = [HEADER_ORDER.index(word) for word in words]
    if ranks != sorted(ranks):
        yield f"the header's order is {', '.join(HEADER_ORDER)}"
    for word in ("MOVES", "CLOCK"):
        if words.count(word) > 1:
            yield f"the header has {word} twice"


# Positions ------------------------------------------------------------------------------------------------------------


def _bindings(body: list[str]) -> tuple[list[tuple[str, str, int]], list[str]]:
    """The bindings at the beginning, as (local, KEYS or ARGV, position), and what comes after them."""
    bound: list[tuple[str, str, int]] = []
    at = 0
    while at < len(body) and body[at] == "local" and body[at + 1] != "function":
        equals = body.index("=", at)
        names = [token for token in body[at + 1 : equals] if token != ","]
        values = []
        end = equals + 1
        while match := re.match(r"(tonumber \( )?(KEYS|ARGV) \[ (\d+) \]( \))?", " ".join(body[end:])):
            values.append((match[2], int(match[3])))
            end += len(match[0].split())
            if end >= len(body) or body[end] != ",":
                break
            end += 1
        if len(values) != len(names):
            break
        bound += [(name, *value) for name, value in zip(names, values, strict=True)]
        at = end
    return bound, body[at:]


def _bound(bound: list[tuple[str, str, int]], header: Header) -> Iterator[str]:
    for kind, slots in (("KEYS", header.keys), ("ARGV", header.args)):
        places = [place for _, of, place in bound if of == kind]
        for slot in slots:
            where = f"{kind} {slot.number} {slot.name}"
            names = [name for name, of, place in bound if (of, place) == (kind, slot.number)]
            if slot.unused or slot.repeats:
                if names:
                    yield f"{where} is {'unused' if slot.unused else 'repeated'}, yet it is bound"
            elif not names:
                yield f"{where} is declared and not bound"
            elif len(names) > 1:
                yield f"{where} is bound twice"
            elif names != [slot.name]:
                yield f"{where} is bound to a local called {names[0]}"
        for place in places:
            if place not in [slot.number for slot in slots]:
                yield f"{kind} {place} is bound and not declared"


def _used_again(rest: list[str], header: Header) -> Iterator[str]:
    """KEYS and ARGV after the bindings: only the loop over a repeating slot, from its declared position."""
    text = " ".join(rest)
    for kind, slots in (("KEYS", header.keys), ("ARGV", header.args)):
        repeating: Slot | None = next((slot for slot in slots if slot.repeats), None)
        loops = re.findall(rf"for (\w+) = (\d+) , # {kind}\b", text)
        remaining = re.sub(rf"for \w+ = \d+ , # {kind}\b", "", text)
        for variable, _ in loops:
            remaining = re.sub(rf"\b{kind} \[ {variable}( \+ 1)? \]", "", remaining)
        if re.search(rf"\b{kind}\b", remaining):
            yield f"{kind} is used again after its positions were bound"
        if repeating is None and loops:
            yield f"{kind} is read in a loop, and nothing is declared to repeat"
        if repeating is not None:
            if [int(start) for _, start in loops] != [repeating.number]:
                yield f"{kind} {repeating.number} {repeating.name} is not read in one loop that starts there"
            if repeating is not slots[-1]:
                yield f"{kind} {repeating.number} {repeating.name} repeats and is not the last"


# Replies --------------------------------------------------------------------------------------------------------------


def _returns(body: list[str]) -> Iterator[str]:
    """What the script itself returns, as text without blanks; its functions' own returns are left out."""
    blocks: list[str] = []
    for at, token in enumerate(body):
        if token in OPENS:
            blocks.append(token)
        elif token in CLOSES:
            blocks.pop()
        elif token == "return" and "function" not in blocks:
            end = next((to for to in range(at + 1, len(body)) if body[to] in ENDS_A_RETURN), len(body))
            yield "".join(body[at + 1 : end])


def _declared(returned: str) -> str:
    """How a header declares what a `return` gives: a literal as itself, anything else as ``…``."""
    if error := re.fullmatch(r"redis\.error_reply\((?:'(.*)'|\"(.*)\")\)", returned):
        return f'error "{error[1] or error[2]}"'
    if text := re.fullmatch(r"'(.*)'|\"(.*)\"", returned):
        return f'"{text[1] or text[2]}"'
    if re.fullmatch(r"-?\d+", returned):
        return returned
    return "[]" if returned == "{}" else "…"


def _replies(returned: list[str], header: Header) -> Iterator[str]:
    declared = [line.partition(" — ")[0] for line in header.returns]
    for line in header.returns:
        if " — " not in line:
            yield f"RETURNS {line} does not say what it means"
    literal = [reply for reply in declared if re.fullmatch(r'error ".*"|".*"|-?\d+|\[\]', reply)]
    computed = [reply for reply in declared if reply not in literal]
    found = {_declared(reply) for reply in returned}
    for reply in sorted(found - {"…"} - set(literal)):
        yield f"it returns {reply}, which RETURNS does not declare"
    if "…" in found and not computed:
        yield "it returns what it computed, which RETURNS does not declare"
    for reply in literal:
        # An empty list may also be the computed one.
        if reply not in found and not (reply == "[]" and "…" in found):
            yield f"RETURNS declares {reply}, which is never returned"
    if computed and "…" not in found:
        yield f"RETURNS declares {computed[0]}, which is never returned"
    if not returned:
        yield "it returns nothing"
