"""The colours of the chat: calm ones, for dark and for light terminals."""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="segue-dark",
    dark=True,
    background="#14171c",
    surface="#1b2027",
    panel="#1f252d",
    foreground="#d6dce4",
    primary="#6ba3c7",
    secondary="#8f9fb3",
    accent="#74b8a1",
    success="#86b87c",
    warning="#d9ab62",
    error="#dd7f76",
    variables={"block-cursor-background": "#6ba3c7", "block-cursor-foreground": "#14171c"},
)
LIGHT = Theme(
    name="segue-light",
    dark=False,
    background="#fbfaf7",
    surface="#f2f0ea",
    panel="#e9e6de",
    foreground="#2a2f36",
    primary="#2f6d93",
    secondary="#5f6b7a",
    accent="#22735c",
    success="#3c7a33",
    warning="#8f5d0c",
    error="#a63830",
    variables={"block-cursor-background": "#2f6d93", "block-cursor-foreground": "#fbfaf7"},
)
