// Below: the selected statement as the next agent reads it, and the whole text that it was given.

const HEADING = /^#{1,6} /;

function drawBriefing() {
  const one = handoff().briefing, whole = byId("whole");
  whole.hidden = !one;
  if (!one) {
    byId("briefing").hidden = true;
    byId("next").removeAttribute("data-open");
    return;
  }
  byId("next").toggleAttribute("data-open", !byId("briefing").hidden);
  whole.textContent = byId("briefing").hidden ? "Whole briefing" : "Close briefing";
  whole.setAttribute("aria-expanded", !byId("briefing").hidden);
  if (byId("briefing").hidden) return;
  const corrections = new Set(one.corrections);
  const own = new Set((isLastVersion() ? selected()?.read ?? [] : []).map((each) => each.line));
  const rows = one.lines.map((text, at) => {
    const line = at + 1, corrected = corrections.has(line);
    return el(`div.b${HEADING.test(text) ? ".heading" : ""}${corrected ? ".correction" : ""}${own.has(line) ? ".on" : ""}`,
      el("i", line), el("em", corrected ? "correction" : ""), el("span", text || " "));
  });
  const left = one.left_out.map((each) => el("p.left-out", `Left out: ${each.agent_name ? `${each.agent_name}, ` : ""}${each.field}: ${each.text}`));
  byId("briefing").replaceChildren(...rows, ...left);
  reveal(byId("briefing"), byId("briefing").querySelector(".on"));
}

function toggleBriefing() {
  if (!handoff().briefing) return;
  byId("briefing").hidden = !byId("briefing").hidden;
  drawBriefing();
  lightWords();
  lightRecord();
  setTimeout(drawThreads, 250);
  drawThreads();
}

function drawNext() {
  const one = selected(), briefing = handoff().briefing;
  byId("h-next").textContent = briefing ? `As the ${briefing.reader} reads it` : "As the next agent reads it";
  const [rows, meta] = !briefing ? [[silent("not sent", handoff().no_briefing)], ""]
    : !isLastVersion() ? [[silent("not sent", "This version was sent back. The next agent never saw it.")], "Only the last version is handed on."]
    : one ? readingOf(one, briefing) : [[], ""];
  byId("read").replaceChildren(...rows);
  const receipt = briefing?.sha256 ? `Receipt: SHA-256 ${briefing.sha256.slice(0, 12)}…` : briefing && !briefing.is_sent ? briefing.note || "Not sent yet." : "";
  byId("next-meta").replaceChildren(...[meta, receipt].filter(Boolean).flatMap((text) => [`${text} `, el("br")]));
  if (!byId("briefing").hidden) drawBriefing();
}

function readingOf(one, briefing) {
  const rows = one.read.map((place) => el(`div${place.is_correction ? ".correction" : ""}`,
    el("span.origin", `line ${place.line}`), el("span", briefing.lines[place.line - 1].trim())));
  const corrected = one.read.some((each) => each.is_correction);
  if (one.is_left_out && !rows.length) return [[silent("left out", "The budget had no room for it. The agent can ask for it with recall.")], "Not in the text."];
  if (FOUND.includes(one.mark)) {
    if (corrected) return [[silent("not said", "The handoff is silent about this. Segue adds:"), ...rows], "Added under “Corrections”, which is never cut."];
    return [[silent("not said", "The handoff is silent about this, and no correction was added.")], ""];
  }
  if (!rows.length) return [[silent("not found", "These words are not in the text, or stand there in another form.")], ""];
  return [rows, corrected ? "Corrected under “Corrections”, which is never cut." : "Passed on as written. Nothing was added."];
}

const silent = (origin, words) => el("div", el("span.origin", origin), el("span.silent", words));
