"""The answers to the questions of codemojex: for each path and step the question, and words of the readout."""

from __future__ import annotations

CODEMOJEX = {
    "a-guess": [
        ("Which place does the id enter?", "JOB0KHTOWnGLuC enters g:PLR0KCUfUXQup6:pending."),
        ("How often is Ann on the ring now?", "ring   1 ann\n"),
        ("What is the fourth thing in the reply?", ' 61 B, 1, "PLR0KCUfUXQup6"]'),
        ("What is left of the job?", "no field is left"),
        ("Why does Ann leave the ring?", "ann (PLR0KCUf…up6) leaves the ring: nothing more waits in its lane."),
        ("Who is on the ring now?", "ring   empty: no group has a turn   out ann 1 → 0"),
    ],
    "three-players": [
        ("Who has the next turn?", "ann (PLR0KCUf…up6) joins the ring, alone on it: 1 job waits in its lane."),
        ("Does a second job give Ann a second turn?", "ring   1 ann\n"),
        ("Which lane does it enter?", "JOB0KHTOfMv2X2 enters g:PLR0KCUfUXQup6:pending."),
        (
            "Where on the ring does Ben begin?",
            "ben (PLR0KCUg…cSm) joins the ring, at its tail: 1 job waits",
        ),
        ("What changes on the ring?", "ring   1 ann   2 ben\n"),
        ("Whose turns come before Cem's?", "ring   1 ann   2 ben   + cem"),
        ("Whose job does the worker get?", "JOB0KHTOWnGLuC leaves g:PLR0KCUfUXQup6:pending, enters active."),
        ("Is the older guess served now?", "JOB0KHTOik7POa leaves g:PLR0KCUg0agcSm:pending, enters active."),
        ("Why does Cem leave the ring?", "cem (PLR0KCUg…K6S) leaves the ring: nothing more waits in its lane."),
        ("Whose turn is next after this one?", "from the ring's head to its tail: the next turn is ben's."),
        ("Who is left on the ring?", "ring   1 ann   − ben"),
        ("Why does Ann leave the ring?", "ann (PLR0KCUf…up6) leaves the ring: nothing more waits in its lane."),
    ],
    "limit-of-one": [
        ("How many may Ann have out?", "limit ann none → 1"),
        ("Does Ann get a turn?", "ring   + ann"),
        ("Who is on the ring?", "ring   1 ann\n"),
        ("Who has the next turn?", "ring   1 ann   + ben"),
        ("Why does Ann leave the ring?", "ann (PLR0KCUf…up6) leaves the ring: its limit of 1 is reached."),
        ("Whose job does w2 get?", "JOB0KHTOik7POa leaves g:PLR0KCUg0agcSm:pending, enters active."),
        ("What does w3 get?", "Nothing moved.  lane_claim answered []: empty.\nring   empty"),
        ("Where is Ann now?", "ann (PLR0KCUf…up6) joins the ring, alone on it: 1 job waits in its lane."),
        ("How many of Ann's are out after this?", "out ann 0 → 1 of 1"),
        ("What becomes of the count of her leases?", "out ann 1 → 0 of 1"),
    ],
}
