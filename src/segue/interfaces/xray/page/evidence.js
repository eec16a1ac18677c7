// The right pane: the reason, what decides the selected statement, and everything else that was measured.

const NOTHING_TO_CHECK = "It is passed on as the agent's own words; there is nothing to check.";

function blockOf(one, lines, deciding) {
  const box = el(`section.block${deciding ? ".deciding" : ""}`, { "data-evidence": one.id }, headOf(one), ...bodyOf(one, lines));
  if (one.note) box.append(el("p.note", one.note));
  return box;
}

function headOf(one) {
  if (one.kind === "command") {
    const exit = one.exit_code === null ? null : el(`span.exit${one.exit_code ? ".bad" : ""}`, `exit ${one.exit_code}`);
    return el("header.block-head", el("span", one.by === "segue" ? "Segue ran" : "The agent ran"), el("h3", one.command),
      el("span.end", exit, exit && one.at ? " · " : "", clock(one.at)));
  }
  if (one.kind === "tree") return el("header.block-head", el("span", "Files after the step"), el("h3", one.path));
  const size = one.additions === null ? "" : `+${one.additions} −${one.deletions}`;
  const name = one.old_path ? `${one.old_path} → ${one.path}` : one.path;
  return el("header.block-head", el("span", "File"), el("h3", name), el("span.end", [one.change, size].filter(Boolean).join(" · ")));
}

function bodyOf(one, lines) {
  if (one.kind === "file") return one.hunks.length ? [hunksOf(one, lines)] : [];
  if (one.kind === "tree") return [el("p.note", "Segue looked for it among all files as they were after the step.")];
  const made = [];
  if (one.fault) made.push(el("p.note", one.fault));
  if (one.tests.length) made.push(countsOf(one));
  if (one.gone.length) made.push(el("p.note", `Collected before and not now: ${one.gone.join(", ")}`));
  if (one.output.length) made.push(outputOf(one, new Set(lines)));
  return made;
}

function countsOf(one) {
  const head = el("tr", ["Tests", "all", "passed", "failed", "skipped"].map((each) => el("th", { scope: "col" }, each)));
  const rows = one.tests.map((each) => el("tr", el("th", { scope: "row" }, each.when),
    [each.passed + each.failed + each.skipped, each.passed, each.failed, each.skipped].map((n) => el("td", n))));
  return el("table.counts", el("thead", head), el("tbody", rows));
}

function outputOf(one, deciding) {
  const box = el("pre.lines.output", { tabindex: "0", role: "region", "aria-label": `Output of ${one.command}` });
  if (one.is_cut) box.append(el("span.o", "… (only the end was kept)"));
  one.output.forEach((line, at) => box.append(el(`span.o${deciding.has(at) ? ".decides" : ""}`, deciding.has(at) ? el("span.sr", "decides: ") : null, line || " ")));
  return box;
}

function drawReason(one) {
  const box = byId("reason");
  box.className = `reason m-${one ? one.mark : "none"}`;
  if (!one) return box.replaceChildren(el("p", "Select a statement."));
  const said = [el("p", withCode(one.mark === "none" ? `${sentence(one.reason)} ${NOTHING_TO_CHECK}` : sentence(one.reason)))];
  if (one.unchecked.length) said.push(el("p.unchecked", "Not checked: ", withCode(one.unchecked.map((each) => `“${each}”`).join(", "))));
  if (one.detail && FOUND.includes(one.mark)) said.push(el("p.unchecked", one.detail));
  box.replaceChildren(badge(one.mark), el("div", said));
}

function sentence(text) {
  const words = text.trim();
  return words ? words[0].toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? "" : ".") : "";
}

function drawEvidence() {
  const one = selected(), box = byId("evidence");
  drawReason(one);
  const references = one ? one.references : [];
  const made = [];
  if (references.length && !references.some((each) => each.is_pointed))
    made.push(el("p.hint", "The ledger names no place; this is what its reason speaks of."));
  if (references.length && !isLastVersion())
    made.push(el("p.hint", "Files are shown as they were at the end of the step: this version was reviewed earlier."));
  for (const each of references) {
    const found = evidenceOf(each.evidence);
    if (found) made.push(blockOf(found, each.lines, true));
  }
  if (one && !references.length && !SILENT.includes(one.mark)) {
    const where = handoff().looked_at ? ` Segue looked at ${handoff().looked_at}.` : "";
    made.push(el("section.block.deciding", el("header.block-head", el("span", "Searched"), el("span.end", "nothing to show")),
      el("p.note", `No single line or output decides this.${where}`)));
  }
  box.replaceChildren(...made, restOf(new Set(references.map((each) => each.evidence))));
  box.className = `scroll evidence m-${one ? one.mark : "none"}`;
  byId("looked-at").textContent = handoff().looked_at;
}

// Everything that was measured, folded: a line each, drawn when it is opened.
function restOf(shown) {
  const rest = handoff().evidence.filter((each) => !shown.has(each.id) && each.kind !== "tree" && !each.id.startsWith("e-"));
  if (!rest.length) return "";
  const list = el("div.rest", rest.slice(0, MOST_AT_ONCE).map(foldedBlock));
  if (rest.length > MOST_AT_ONCE) list.append(fold(`Show ${plural(rest.length - MOST_AT_ONCE, "more")}`, () => rest.slice(MOST_AT_ONCE).map(foldedBlock)));
  return el("div", el("h3.rest-head", shown.size ? "Also measured" : "What was measured"), list);
}

function foldedBlock(one) {
  const about = statements().filter((each) => each.references.some((ref) => ref.evidence === one.id));
  const name = one.kind === "file" ? one.path : one.command;
  const word = one.kind === "file" ? one.change : one.exit_code === null ? "" : `exit ${one.exit_code}`;
  const made = el("details", { toggle: () => {
    if (!made.open || made.dataset.drawn) return;
    made.dataset.drawn = "yes";
    made.append(blockOf(one, linesDeciding(one.id), false));
    if (about.length) made.lastChild.append(el("div.about", about.map((each) => el("button", { type: "button", click: () => select(each.id, "evidence") }, badge(each.mark), el("span", each.words)))));
  } }, el("summary", el("span.mono", name), el("span.end", [word, about.length ? plural(about.length, "statement") : ""].filter(Boolean).join(" · "))));
  return made;
}

function linesDeciding(id) {
  return statements().flatMap((each) => each.references.filter((ref) => ref.evidence === id).flatMap((ref) => ref.lines));
}
