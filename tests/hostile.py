"""Byte strings that break screens, parsers and exports: each one a kind of fault, as (name, bytes).

Whatever shows, writes or stores data is run over all of them. ``NAMES`` are the test ids for parametrizing over
``HOSTILE``: pytest would otherwise spell out the bytes.
"""

from __future__ import annotations

ONE_MEBIBYTE = 1_048_576

# Text that some layer on the way to the screen would read as markup or as a format.
MARKUP: tuple[tuple[str, bytes], ...] = (
    ("closing tag alone", b"[/]"),
    ("closing tag inside", b"a[/b]"),
    ("opening tag", b"[red]x"),
    ("number in brackets", b"[0]"),
    ("link tag", b"[link=https://e.x]"),
    ("lex range with a bracket", b"ZLEXCOUNT z [b +"),
    ("action tag", b"[@click=app.quit]x[/]"),
    ("escaped tag", rb"\[red]x\[/red]"),
    ("unclosed bracket", b"["),
    ("emoji code", b":warning:"),
    ("format fields", b"{0} {x!r} %s %(x)s $x ${x}"),
    ("html", b"<script>alert(1)</script>&amp;"),
    ("TOML and JSON quotes", b'"""\'\'\'"\\'),
)

# Bytes that a terminal obeys.
CONTROL: tuple[tuple[str, bytes], ...] = (
    ("ESC clears the screen", b"\x1b[2J"),
    ("C1 byte sets a colour", b"\x9b31m"),
    ("C1 character sets a colour", "\x9b31m".encode()),
    ("OSC 52 writes the clipboard", b"\x1b]52;c;aG9zdGlsZQ==\x07"),
    ("OSC 52 with C1 bytes", b"\x9d52;c;aG9zdGlsZQ==\x9c"),
    ("OSC 8 links", b"\x1b]8;;https://e.x\x1b\\text\x1b]8;;\x1b\\"),
    ("OSC 0 sets the title", b"\x1b]0;hostile\x07"),
    ("DCS asks for an answer", b"\x1bP$q q\x1b\\"),
    ("ESC leaves the alternate screen", b"\x1b[?1049l"),
    ("ESC asks where the cursor is", b"\x1b[6n"),
    ("ESC at the end", b"x\x1b"),
    ("ESC behind a long text", b"JOB0KHTOWnGLuC" * 5 + b"\x1b[31m"),
    ("BEL", b"\x07"),
    ("NUL", b"a\x00b"),
    ("shift out and in", b"\x0eabc\x0f"),
    ("backspaces over", b"safe\x08\x08\x08\x08evil"),
    ("carriage return over", b"safe\revil"),
    ("lines and tabs", b"one\r\ntwo\n\tthree\x0b\x0c"),
    ("DEL", b"a\x7fb"),
    ("every C0 control", bytes(range(0x20))),
    ("every C1 control", "".join(map(chr, range(0x80, 0xA0))).encode()),
)

# Characters that hide, turn, stack or stretch what stands around them.
UNSTEADY: tuple[tuple[str, bytes], ...] = (
    ("right-to-left override", "a\u202etxt.exe".encode()),
    ("bidi isolates", "a\u2066b\u2067c\u2069d".encode()),
    ("zero-width space and joiners", "a\u200bb\u200cc\u200dd\u2060e".encode()),
    ("byte order mark", b"\xef\xbb\xbfx"),
    ("soft hyphen", "a\u00adb".encode()),
    ("line and paragraph separators", "a\u2028b\u2029c".encode()),
    ("stacked combining marks", ("Z" + "\u0300\u0316\u0489" * 20 + "x").encode()),
    ("spacing mark", "\u0915\u093f".encode()),
    ("enclosing keycap", "1\ufe0f\u20e3".encode()),
    ("variation selectors", "\u26a0\ufe0f \u2714\ufe0e \u9089\U000e0100".encode()),
    ("regional indicators", "\U0001f1e9\U0001f1ea\U0001f1eb".encode()),
    ("skin tones", "\U0001f44b\U0001f3fd \U0001f3ff".encode()),
    ("emoji family", "\U0001f468\u200d\U0001f469\u200d\U0001f467".encode()),
    ("tag characters", "\U0001f3f4\U000e0067\U000e0062\U000e007f".encode()),
    ("joining Hangul letters", "\u1100\u1161\u11a8".encode()),
    ("blank Hangul fillers", "\u115f\u1160\u3164\uffa0".encode()),
    ("other spaces", "a\u00a0b\u2003c\u3000d".encode()),
    ("private use", "\ue000\U000f0000".encode()),
    ("unassigned", "\u0378\U0001fffe".encode()),
    ("look-alike letters", "JОB0KHTOWnGLuC".encode()),
    ("four bytes a letter", "".join(map(chr, range(0x1D400, 0x1D434))).encode()),
    ("double-width text", "日本語のジョブ 🔒".encode()),
    ("double-width at every cut", "a日本語の日本語の日本語の".encode()),
)

# Bytes that are no text, or text in an unexpected form.
NOT_TEXT: tuple[tuple[str, bytes], ...] = (
    ("Erlang term", bytes.fromhex("83 68 04 77 05 67 75 65 73 73 6d 00 00 00 02 67 31 6d 00 00 00 02 70 31 61 07")),
    ("no UTF-8 at all", bytes.fromhex("9c ff 00")),
    ("character cut short", "日本".encode()[:-1]),
    ("character begun late", "日本".encode()[1:]),
    ("overlong slash", b"\xc0\xaf"),
    ("lone surrogate", b"\xed\xa0\xbd"),
    ("beyond Unicode", b"\xf4\x90\x80\x80"),
    ("text between bad bytes", b"\xffabc\xfe"),
    ("every byte", bytes(range(256))),
    ("written escape", rb"\x1b[2J \u{202e} \n"),
    ("backslashes", rb"C:\new\table\\x"),
    ("ends in a backslash", b"a\\"),
    ("colons", b"order:42:lock::"),
    ("braces", b"a}b{c"),
    ("NUL-joined fields", b"cm\x00JOB0KHTOWnGLuC\x00ok"),
    ("number look-alike", b" 01.0e3 "),
    ("one space", b" "),
    ("empty", b""),
    ("one mebibyte", bytes(range(256)) * (ONE_MEBIBYTE // 256)),
)

HOSTILE: tuple[tuple[str, bytes], ...] = MARKUP + CONTROL + UNSTEADY + NOT_TEXT
NAMES: tuple[str, ...] = tuple(name for name, _ in HOSTILE)
