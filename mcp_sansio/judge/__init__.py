"""Verdicts over recorded or live traffic: what happened, which rules it broke, and what the usual complaints come from.

Feed a `Judge` the records of a recording; no side of the conversation need use this library.
"""

from __future__ import annotations

from .diagnosis import COMPLAINTS, Complaint, Diagnosis
from .judge import Judge
from .observation import BINDING, Asked, Happening, Observation, Summary

__all__ = [
    "BINDING",
    "COMPLAINTS",
    "Asked",
    "Complaint",
    "Diagnosis",
    "Happening",
    "Judge",
    "Observation",
    "Summary",
]
