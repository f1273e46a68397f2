"""How ids, edges and crowded places become text in the cells of a board."""

from __future__ import annotations

from visualizer.ids import is_branded
from visualizer.picture import SIGN, Edge, MemberView, Picture, PlaceView
from visualizer.visible import short_id, visible


def member_text(member: MemberView, width: int) -> str:
    """An id cut in the middle; what is no id of ours is only made visible."""
    if width <= 0:
        return ""
    if is_branded(member.id):
        return short_id(member.id, min(width, 12))
    return visible(member.id, width)


def elsewhere(picture: Picture) -> tuple[str, bool]:
    """Captured ids that no place of the board holds: in a lane, in a key that is no place, or nowhere; and whether
    that is lawful."""
    lawful, broken = [], []
    for lane in picture.lanes:
        held = " ".join(f"{SIGN[member.mark]} {short_id(member.id)}".strip() for member in lane.members[:2])
        if held:
            lawful.append(f"lane {visible(lane.name, 24)}: {held}")
    for job, keys in picture.elsewhere.items():
        broken.append(f"{short_id(job)} is in {visible(', '.join(keys), 30)}, which is no place")
    if picture.nowhere:
        ids = ", ".join(short_id(job) for job in picture.nowhere[:2])
        broken.append(f"nowhere {len(picture.nowhere)}: {ids}")
    return " · ".join((*broken, *lawful)), not broken


def edge_text(edge: Edge) -> str:
    return f"{edge.name}: {visible(edge.source or 'new')} ═▶ {visible(edge.target or 'nothing')}"


def rows_of(member: MemberView) -> int:
    return 2 if member.note and member.mark != "resting" else 1


def marked_first(place: PlaceView) -> list[MemberView]:
    order = ("entered", "left", "rescored", "own", "no_row", "foreign", "resting")
    return sorted(place.members, key=lambda member: order.index(member.mark))


def in_room(place: PlaceView, room: int) -> tuple[list[MemberView], int]:
    """The members that fit into that many rows, the marked ones always first to stay; and how many do not show."""
    kept: list[MemberView] = []
    used = 0
    tight = room < 2
    total = sum(1 if tight else rows_of(member) for member in place.members)
    budget = room if tight or (total <= room and not place.hidden) else room - 1
    for member in marked_first(place):
        rows = 1 if tight else rows_of(member)
        if used + rows > budget:
            continue
        kept.append(member)
        used += rows
    shown = [member for member in place.members if member in kept]
    left = sum(member.mark == "left" for member in place.members if member not in kept)
    hidden = place.hidden + len(place.members) - len(shown) - left
    return shown, hidden
