"""Text that would do harm if it were read as markup, or shown as it is."""

from __future__ import annotations

SCRIPTS = (
    "</script><script>window.harmed = 1</script>",
    "<img src=x onerror='window.harmed = 1'>",
    "<svg onload=window.harmed=1>",
    "<!--<script>",
    "]]><a href='javascript:window.harmed=1'>click</a>",
    "{{script}} {{data}}",
    "\"'`<>&",
)
UNSEEN = ("\x00", "\x1b[31m", "\u202e", "\u2066", "\u200b", "\ufeff", "\u2028", "\ud800", "\U000e0041")
HOSTILE = " ".join((*SCRIPTS, *UNSEEN))
