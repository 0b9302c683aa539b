"""The one way in which MCP, function-calling models and sessions call tools: an outcome comes back, whatever happens.

    toolbox = Toolbox(Service(root), who="agent")
    toolbox.call("read", {"target": "app.client.Client.send"})

Invariant: a call never raises: an error is an outcome, one of our own bugs as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bae_source.adapters.bug import bug
from bae_source.adapters.tools import Tool, as_called, tools
from bae_source.engine.registry import REQUESTS, called
from bae_source.engine.service import Service
from bae_source.errors import RequestError, ResourceError
from bae_source.model.context import Context
from bae_source.model.outcome import Outcome, failed
from bae_source.model.page import USUAL
from bae_source.model.shortened import shortened_error


class Toolbox:
    """Tools on one project.

    Parameters:
        service: the engine on the project; one thread at a time may call.
        offered: the tools that may be called; all of them if left out.
        who: the caller, for the history; None for the user.
        budget: bytes of an answer where a call says nothing; None for any number.
    """

    def __init__(
        self,
        service: Service,
        *,
        offered: Iterable[Tool] | None = None,
        who: str | None = None,
        budget: int | None = USUAL,
    ) -> None:
        self.service = service
        self.tools = {tool.name: tool for tool in (tools() if offered is None else offered)}
        self.context = Context(who=who, budget=budget, by_model=True, calls="tool")

    def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Call a tool; an error is an outcome with the status `error`."""
        try:
            if name not in self.tools:
                raise self._not_offered(name)
            return self.service.run(*called(name, arguments, self.context))
        except ResourceError as error:
            return as_called(name, failed(shortened_error(error, self.context.budget)))
        except Exception as error:  # noqa: BLE001  # the edge: a model gets one sentence, and the server goes on
            return as_called(name, bug(error, name))

    def _not_offered(self, name: str) -> RequestError:
        from difflib import get_close_matches  # only for a tool that is not there

        close = get_close_matches(name, self.tools)
        what = "not offered here" if name in REQUESTS.verbs else "no tool"
        return RequestError(
            "unknown_operation",
            f"{name!r} is {what}.",
            hints=[*(f"Did you mean {each}?" for each in close), f"There are {', '.join(self.tools)}."],
        )
