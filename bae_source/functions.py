"""Requests as functions for models: `definitions` to hand over, `dispatch` to run what they call; `access` to look."""

from bae_source.adapters.access import Access, access
from bae_source.adapters.functions import INSTRUCTIONS, close, definitions, dispatch

__all__ = ["INSTRUCTIONS", "Access", "access", "close", "definitions", "dispatch"]
