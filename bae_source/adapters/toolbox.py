"""The one way in which MCP, function-calling models and sessions call tools: an outcome comes back, whatever happens.

    toolbox = Toolbox(Service(root), who="agent")
    toolbox.call("read", {"target": "app.client.Client.send"})

Invariant: a call never raises: an error is an outcome, one of our own bugs as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bae_source.adapters.bug import bug
from bae_source.adapters.offer import HELP, Offer
from bae_source.adapters.tools import as_called
from bae_source.engine.registry import called
from bae_source.engine.service import Service
from bae_source.errors import ResourceError
from bae_source.model.context import Context
from bae_source.model.outcome import Outcome, failed
from bae_source.model.page import USUAL
from bae_source.model.shortened import shortened_error


class Toolbox:
    """Tools on one project.

    Parameters:
        service: the engine on the project; one thread at a time may call.
        offer: the tools that may be called; all of them if left out.
        who: the caller, for the history; None for the user.
        budget: bytes of an answer where a call says nothing; None for any number.
    """

    def __init__(
        self, service: Service, *, offer: Offer | None = None, who: str | None = None, budget: int | None = USUAL
    ) -> None:
        self.service = service
        self.offer = offer or Offer()
        through = dict(self.offer.through)
        self.context = Context(who=who, budget=budget, by_model=True, calls="tool", through=through)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Call a tool; an error is an outcome with the status `error`."""
        try:
            name, arguments = self.offer.opened(name, arguments)
            if name == HELP:
                return self.offer.helped(arguments)
            return self.service.run(*called(name, arguments, self.context))
        except ResourceError as error:
            return as_called(name, failed(shortened_error(error, self.context.budget)))
        except Exception as error:  # noqa: BLE001  # the edge: a model gets one sentence, and the server goes on
            return as_called(name, bug(error, name))
