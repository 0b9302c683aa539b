"""Requests as functions for models: `definitions` to hand over, `dispatch` to run what they call."""

from bae_source.adapters.functions import INSTRUCTIONS, close, definitions, dispatch

__all__ = ["INSTRUCTIONS", "close", "definitions", "dispatch"]
