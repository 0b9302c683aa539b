"""Turn a place that a traceback, a linter or a test runner names by its path into an address."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from bae_source.model.call import Call
from bae_source.model.outcome import Notice, Outcome
from bae_source.model.request import Effect, Request, described
from bae_source.project.naming.places import Spot, parse_place, spot_at
from bae_source.project.workspace import Workspace, etag_of


class Where(Request, frozen=True, kw_only=True):
    """Tell which symbol stands at a line of a file.

    Understood are path:line[:column], a traceback's File "path", line N, the id of a test, and module:line. The answer
    is the innermost symbol that the line lies in, else the module, with the lines that it spans.
    """

    verb: ClassVar[str] = "where"
    lists_addresses: ClassVar[bool] = True
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it to turn a line of a traceback, a linter or pytest into a name."
    examples: ClassVar[tuple[str, ...]] = (
        "where app/net.py:12",
        "where 'File \"app/net.py\", line 12, in send'",
        "where tests/test_net.py::TestClient::test_send",
    )

    place: Annotated[
        str, described("The place, such as app/core.py:12 or tests/test_core.py::test_send.", min_length=1)
    ]

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        spot = spot_at(workspace, parse_place(self.place))
        if spot.problem is not None:
            return _unparsed(spot, str(spot.problem))
        if spot.first is None:
            return Outcome(
                status="answer",
                text=f"{spot.address}\n",
                address=spot.address,
                found=(spot,),
                next_actions=(Call("read", target=spot.address),),
            )
        lines = f"line {spot.first}" if spot.first == spot.last else f"lines {spot.first}-{spot.last}"
        text = f"{spot.address} ({lines})\n"
        if spot.line is not None:
            text += f"{spot.line:>4}  {spot.text}\n"
        return Outcome(
            status="answer",
            text=text,
            etag=etag_of(spot.source),
            address=spot.address,
            found=(spot,),
            next_actions=(Call("read", target=spot.address, numbers=True), Call("outline", target=spot.address))
            if spot.named
            else (),
        )


def _unparsed(spot: Spot, why: str) -> Outcome:
    """Answer with the module alone, since its definitions are not known."""
    code = spot.problem.code if spot.problem else "syntax_invalid"
    return Outcome(
        status="answer",
        text=f"{spot.address}: {why.removeprefix(spot.address).strip()}\n",
        address=spot.address,
        complete=False,
        warnings=(Notice(code, why),),
    )
