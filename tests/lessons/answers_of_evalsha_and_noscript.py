"""The answers to the questions of evalsha-and-noscript: for each path and step the question, and words of the
readout."""

from __future__ import annotations

EVALSHA_AND_NOSCRIPT = {
    "flush": [
        ("How many bytes have become forty digits?", "text   leased/enqueue.lua, "),
        ("Are the two the same?", "The server computed the same SHA-1 from the text that it got."),
        ("How many calls does this step make?", "wire   EVALSHA"),
        ("Does the job move?", "The server has forgotten every script. Nothing moved."),
        ("What does the caller send between the two EVALSHA?", "one SCRIPT LOAD, the same EVALSHA again."),
        ("How many calls does this step make?", "wire   EVALSHA"),
    ],
    "restart": [
        ("Which place does the id enter?", "enters pending."),
        ("Will w1's next EVALSHA find its script?", "the queue's 2 keys were put back, the script cache was not."),
        ("Does w1 get the job in this step?", "JOB0KHTOWnGLuC leaves pending, enters active."),
        ("Where is the id after this?", "enters nothing: its row is gone."),
        ("Is it a duplicate?", "enqueue answered 1, new, to an id that it had before: its row was gone."),
    ],
    "bytes": [
        ("Which place does the id enter?", "enters pending."),
        ("Which token does w1 hold?", "1 is w1's token"),
        ("How many bytes does one call take?", " bytes in 20 calls, "),
        ("How many bytes does that save?", " more, "),
    ],
    "wrong-sha": [
        ("Which place does the id enter?", "enters pending."),
        ("Which place does the id enter now?", "enters active."),
        ("What does the server do with it?", "Refused: NOSCRIPT (no script). Nothing moved."),
        ("What in active changes?", "stays in active; its score is new."),
        ("Does the id leave active?", "Nothing moved."),
        ("Why does the caller not send its EVALSHA again?", "our SHA-1 would get NOSCRIPT again"),
        ("How many calls does it take?", "one SCRIPT LOAD, the same EVALSHA again."),
    ],
}
