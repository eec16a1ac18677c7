// What ties the panes together: select a statement, show another version or handoff, filter; and the beginning.

function select(id, from) {
  now.statement = id;
  lightWords(from);
  lightRecord(from);
  lightStrip();
  drawEvidence();
  if (from !== "evidence") byId("evidence").scrollTop = 0;
  drawNext();
  drawThreads();
  for (const wait of [80, 200, 400]) setTimeout(drawThreads, wait);
  if (from !== "start") remember();
  if (isNarrow() && from === "record") showPane("evidence");
  if (isNarrow() && (from === "words" || from === "strip")) showPane("record");
}

function show({ handoff: other = now.handoff, version: wanted }, from = "show") {
  const moved = other !== now.handoff || from === "start";
  now.handoff = other;
  now.version = wanted ?? (moved ? handoff().versions.length - 1 : now.version);
  if (moved && from !== "start") now.filter = null;
  drawSteps();
  draw();
  select(selected() && !(moved && from !== "start") ? now.statement : worst(), from);
}

function filter(mark) {
  now.filter = mark && now.filter !== mark ? mark : null;
  draw();
  if (!walkable().some((each) => each.id === now.statement)) now.statement = walkable()[0]?.id ?? "";
  select(now.statement, "filter");
}

function draw() {
  drawSentence();
  drawVersions();
  drawWords();
  drawRecord();
  drawBriefing();
}

// The address says what is selected, so that a link shows the same to someone else.
function remember() {
  try {
    history.replaceState(null, "", `#h${now.handoff + 1}-v${now.version + 1}-${now.statement}`);
  } catch { /* a page in a frame without an address of its own */ }
}

function begin() {
  const [, one, two, id] = location.hash.match(/^#h(\d+)-v(\d+)-(\w+)$/) ?? [];
  const first = page.handoffs.findIndex((each) => tally(each.versions[each.versions.length - 1]).refuted);
  const at = page.handoffs[one - 1] ? one - 1 : Math.max(0, first);
  now.statement = id ?? "";
  show({ handoff: at, version: page.handoffs[at].versions[two - 1] ? two - 1 : undefined }, "start");
}

// Paper shows all that was measured, and all of the briefing.
function unfold() {
  for (const each of document.querySelectorAll(".rest details")) each.open = true;
  if (byId("briefing").hidden) toggleBriefing();
}

drawFrame();
bindKeys();
showPane("record");
begin();
for (const id of ["words", "record", "evidence"])
  byId(id).addEventListener("scroll", () => requestAnimationFrame(drawThreads), { passive: true });
addEventListener("resize", drawThreads);
addEventListener("hashchange", begin);
addEventListener("beforeprint", unfold);
document.fonts?.ready.then(drawThreads);
