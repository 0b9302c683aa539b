"""Requests as functions for models: `definitions` to hand over, `dispatch` to run what they call."""

from bae_source.adapters.functions import close, definitions, dispatch

__all__ = ["close", "definitions", "dispatch"]
