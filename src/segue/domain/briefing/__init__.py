"""What an agent is given at the start of its step, rendered from saved records alone."""

from segue.domain.briefing.compose import brief
from segue.domain.briefing.fencing import neutralise
from segue.domain.briefing.model import Briefing, ItemPlace, KnownFact, LeftOut, Predecessor

__all__ = ["Briefing", "ItemPlace", "KnownFact", "LeftOut", "Predecessor", "brief", "neutralise"]
