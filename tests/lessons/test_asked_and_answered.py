"""Every question of our lessons is answered by the very next readout: asked before a step, read after it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lessons.answers_of_codemojex import CODEMOJEX
from tests.lessons.answers_of_evalsha_and_noscript import EVALSHA_AND_NOSCRIPT
from tests.lessons.answers_of_every_transition import EVERY_TRANSITION
from tests.lessons.answers_of_read_decide_write import READ_DECIDE_WRITE
from tests.lessons.answers_of_the_lock_protocol import LOCK_PROTOCOL
from tests.lessons.writing import read
from visualizer.engine import Engine, open_engine
from visualizer.lesson import Lesson, all_lessons, find
from visualizer.player import Player, why_not_here
from visualizer.readout import readout

# For each path of a lesson, each step's question and what in the next readout answers it. A question that is written
# anew needs its answer looked up anew: that is what this table is for.
ANSWERS = {
    "codemojex": CODEMOJEX,
    "eight-states": {
        "all-eight": [
            ("When did the round begin to wait?", "it began to wait at 00:00.010"),
            ("Which field of the row names the parent's row?", 'parentKey + "emq:{cm}:JOB0KHTOfMv2X2"'),
            ("Where does the queue note that it is paused?", "meta paused nothing → 1"),
            ("Which place does the id enter, and is the note still there?", "meta paused 1 → nothing"),
            ("Whose token is in the lock?", "w1:1 is w1's token"),
            ("When is the job due, and in which slot?", "1700000005060 · 4096 + slot 0, so it is due at 00:05.060"),
            ("Which priority and which counter are in this score?", "2 · 2^32 + 1: priority 2, number 1 by arrival"),
            ("Which place does the urgent job leave?", "JOB0KHTOYgD5Um leaves prioritized"),
            ("Which field says why it failed?", 'failedReason + "timeout"'),
            ("Is the id in wait once it is due?", "Nothing moved.\nJOB0KHTO…LuC is due, and nothing moves by itself"),
            ("Does anybody see the id in wait?", "no one saw it in wait"),
            (
                "Which place does the round leave, and which does it enter?",
                "JOB0KHTO…2X2 leaves waiting-children, enters wait.",
            ),
        ],
        "paused-reads-as-waiting": [
            ("Does any field of the row say wait?", 'row    name + "guess"'),
            ("How many keys go over the wire, and which name comes back?", '8 keys 2 args → "waiting"'),
            ("Which key holds the id now?", "enters paused."),
            ("Which place does the new id enter, and when is its turn?", "is number 2 of 2 in paused"),
            ("Does the answer differ from the last one?", '8 keys 2 args → "waiting"'),
            ("What does w1 get, and why?", "The queue is paused: nothing is handed out."),
            ("Which of the two is served first?", "JOB0KHTO…LuC is number 1 of 2 in wait"),
            ("Which id does w1 get?", "JOB0KHTOWnGLuC leaves wait, enters active."),
            ("Which name comes back now?", '8 keys 2 args → "active"'),
            ("Which name does getState have for an id that is nowhere?", '8 keys 2 args → "unknown"'),
        ],
    },
    "evalsha-and-noscript": EVALSHA_AND_NOSCRIPT,
    "every-transition": EVERY_TRANSITION,
    "lock-protocol": LOCK_PROTOCOL,
    "read-decide-write": READ_DECIDE_WRITE,
    "lifecycle": {
        "happy": [
            ("Which fields does a new row have?", 'row    name + "guess"'),
            ("Which token does the lock hold, and for how long?", "lock   + w1:1  for 30.0 s"),
            ("What does the score in completed say?", "it completed at 00:00.030"),
        ],
        "retry": [
            ("Which field keeps the number of runs?", 'opts + "{"attempts":3}"'),
            ("Which two fields does the pickup write?", 'row    processedOn + "1700000000020"   ats + "1"   w1:1'),
            ("Of which two numbers is the score in delayed made?", "1700000005030 · 4096 + slot 0"),
            ("What does the reply tell a worker that gets no job?", "the next is due in 5.0 s"),
            ("Does the id leave delayed when its time comes?", "Nothing moved.\nJOB0KHTO…LuC is due"),
            ("Which place does the id leave, and which does it enter?", "leaves delayed, enters active."),
            ("How many runs have been made, by the row?", "atm 1 → 2"),
        ],
        "retry-with-a-rival": [
            ("Which place does the id enter?", "enters wait."),
            ("How long would the lock last by itself?", "for 30.0 s"),
            ("What becomes of w1's lock?", "lock   − w1:1"),
            ("Which place does the rival enter?", "JOB0KHTOYgD5Um enters wait."),
            ("Does the due job join wait by itself?", "JOB0KHTO…LuC is due, and nothing moves by itself"),
            ("Which of the two does w1 get?", "w1 gets JOB0KHTO…5Um, locked with w1:2."),
            ("From which place does w2 get the job?", "JOB0KHTOWnGLuC leaves wait, enters active."),
            ("Whose lock is given back?", "lock   − w2:1"),
        ],
        "retry-by-promote": [
            ("What does the script answer to the sender?", '→ "JOB0KHTOWnGLuC"'),
            ("How many items of the row come back with the id?", "→ [[16 items]"),
            ("Which of the two is a time?", "so it is due at 00:05.030"),
            ("Where does the id go, and what becomes of delay?", "delay 5000 → 0"),
            ("What does the second promote answer?", "promote looks in delayed; the id is in wait."),
            ("Which number does ats get?", "ats 1 → 2"),
            ("Which two fields are new?", 'returnvalue + "{"black":1,"white":2}"   finishedOn + '),
        ],
    },
    "states-as-locations": {
        "happy": [
            ("Which of the four places does a new job enter?", "enters pending."),
            ("What does the score say in the place the id enters?", "the lease ends at"),
            ("Which place does a finished job enter?", "enters nothing"),
        ],
        "retry": [
            ("Which score does every waiting id have?", "score  0  always 0"),
            ("Which field changes besides state?", "attempts 0 → 1"),
            ("Which place does the id enter, and what does its score say there?", "it may run at"),
            ("Does the id move?", "Nothing moved."),
            ("Does the id leave schedule when its time comes?", "Nothing moved."),
            ("Where does the id go, and with which score?", "enters pending."),
            ("Which token does w2 get?", "2 is w2's token"),
            ("What is left under this id?", "no field is left"),
        ],
        "dead": [
            ("Which three fields does a new row have?", 'state + "pending"   attempts + "0"   payload + '),
            ("How many attempts does the row show now?", "attempts 0 → 1"),
            ("Which place does the id enter this time?", "enters dead."),
            ("Do the attempts start again at 0?", "attempts stay 1"),
        ],
        "lease-lapses": [
            ("Which place holds a job that no worker has asked for?", "enters pending."),
            ("When does w1's hold on the job end?", "the lease ends at"),
            ("Is the id still in active after that?", "Nothing moved."),
            ("Where does reap put the id?", "enters pending."),
            ("Which number does the row hold now?", "attempts 1 → 2"),
            ("What does the script do with w1's late success?", "Refused: EMQSTALE complete token mismatch"),
            ("Is w2's success accepted?", "leaves active and enters nothing: its row is gone."),
        ],
        "place-not-flag": [
            ("Which of the two commands puts the id into its place?", "ZADD emq:{cm}:pending 0 JOB0KHTOWnGLuC"),
            ("Do flag and place still agree?", "is in pending, its row says active"),
            ("In which place is the job now?", "leaves pending and enters nothing."),
            ("Where would a reaper find this id?", "has a row and is in no place"),
            ("Does a second enqueue bring the job back?", "Nothing moved.  enqueue answered 0: duplicate."),
            ("Which place does the second id enter?", "JOB0KHTOYgD5Um enters pending."),
            ("Which runs ahead now, the row or the place?", "JOB0KHTOYgD5Um is in pending, its row says active"),
            ("How many of the two ids are in no place now?", "JOB0KHTOYgD5Um has a row and is in no place"),
            ("Do row and place of this job agree again?", "JOB0KHTOYgD5Um enters active."),
            ("What does this command write?", "Nothing moved."),
            ("What is left of the job at this moment?", "has a row that no place points to"),
            ("Does anything on the server change when w2 dies?", "Nothing moved."),
            ("How many calls does this sender need?", "wire   EVALSHA"),
            ("After this script, which places hold the id?", "leaves pending, enters active."),
            ("Does the id leave active when its worker dies?", "Nothing moved."),
            ("What in active shows that w3's time is up?", "The lease of JOB0KHTO…2X2 had ended"),
            ("How many of the three jobs does it bring back?", "wire   EVALSHA"),
            ("Which token does w4 hold?", "2 is w4's token"),
            (
                "Which of the three rows is gone after this?",
                "JOB0KHTOfMv2X2 leaves active and enters nothing: its row is gone.",
            ),
        ],
    },
}


@pytest.fixture(scope="module", params=list(ANSWERS))
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return read(find(request.param), pace=0.05)


@pytest.fixture(scope="module")
def player(lesson: Lesson) -> Iterator[Player]:
    engine: Engine = open_engine("fakeredis", queue=lesson.queue)
    if any(why_not_here(path, engine) for path in lesson.paths):
        engine.close()
        engine = open_engine("valkey", queue=lesson.queue)
    yield Player(lesson, engine, keep_dumps=False)
    engine.close()


def test_every_question_of_ours_is_in_the_table(lesson: Lesson) -> None:
    assert set(ANSWERS) == {file.stem for file in all_lessons()}
    asked = {path.name: [step.ask for step in path.steps] for path in lesson.paths}
    answered = ANSWERS[lesson.slug]
    assert asked == {path: [ask for ask, _ in steps] for path, steps in answered.items()}


def test_the_next_readout_answers(player: Player) -> None:
    for path, steps in ANSWERS[player.lesson.slug].items():
        player.choose(path)
        for ask, answer in steps:
            frames = player.step().frames
            told = "\n".join(line.text for line in readout(player.machine, frames[-1], frames[:-1]))
            assert answer in told, f"{path}: {ask}\n{told}"


def test_a_naive_sender_sends_two_commands_in_one_frame_and_the_lesson_says_so() -> None:
    lesson = read(find("states-as-locations"))
    senders = [step.say for step in lesson.path("place-not-flag").steps if step.do == "naive_enqueue"]
    assert len(senders) == 2
    assert all("two" in say for say in senders)
    engine = open_engine("fakeredis", queue=lesson.queue)
    player = Player(lesson, engine, keep_dumps=False)
    player.choose("place-not-flag")
    assert [call.command for call in player.step().frames[-1].calls] == ["HSET", "ZADD"]
    engine.close()


def test_what_is_said_of_the_clock_is_true_however_late_it_is_read() -> None:
    (early,) = [step for step in read(find("states-as-locations")).path("retry").steps if step.needs]
    assert "Sent in time" in early.say
    assert "Sent late" in early.say
