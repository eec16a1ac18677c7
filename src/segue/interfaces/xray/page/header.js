// The top: which handoff, one sentence, all claims as a strip, the slider over the repairs.

function drawSteps() {
  const box = byId("steps");
  box.hidden = page.handoffs.length < 2;
  box.replaceChildren(...page.handoffs.map((each, at) => {
    const refuted = tally(each.versions[each.versions.length - 1]).refuted || 0;
    return el("button", { type: "button", click: () => show({ handoff: at }), ...(at === now.handoff ? { "aria-current": "page" } : {}) },
      el("span.number", each.number ?? ""), `${each.writer}${each.reader ? ` → ${each.reader}` : ""}`,
      refuted ? el("span.badge.m-refuted", sign(), `${refuted} refuted`) : null);
  }));
}

function drawSentence() {
  const counts = tally(version()), one = handoff();
  const claims = VERDICTS.reduce((sum, mark) => sum + (counts[mark] || 0), 0);
  const button = (mark, text) => el(`button.tally.m-${mark}`, {
    type: "button", "aria-pressed": now.filter === mark, title: `Only ${WORDS[mark]}`, click: () => filter(mark),
  }, sign(), text);
  const verdicts = VERDICTS.filter((mark) => counts[mark]).map((mark) => button(mark, `${counts[mark]} ${mark}`));
  const found = FOUND.filter((mark) => counts[mark]).map((mark) => button(mark, foundInWords(mark, counts[mark])));
  const all = [...verdicts, ...found];
  const ends = all.map((each, i) => (i === all.length - 1 ? "." : i === verdicts.length - 1 ? ";" : ","));
  const opening = claims ? `${plural(claims, "claim")}: ` : `No claim could be checked${found.length ? "; " : "."}`;
  byId("sentence").replaceChildren(opening, ...all.flatMap((each, i) => [el("span.part", each, ends[i]), " "]));
  byId("from").replaceChildren(
    el("b", one.number ? `Handoff ${one.number}` : "Handoff"),
    el("span", one.reader && one.number ? `${one.writer} → ${one.reader}` : one.writer),
    one.versions.length > 1 ? el("span", `${version().label}${isLastVersion() ? sentOn(one) : ", sent back for repair"}`) : "",
    isLastVersion() && one.versions[now.version].note ? el("span", one.versions[now.version].note) : "");
  byId("strip").replaceChildren(...drawStrip());
}

const sentOn = (one) => (one.briefing?.is_sent ? ", sent" : "");

function drawStrip() {
  const made = [];
  let gap = false;
  for (const each of statements().filter((one) => !SILENT.includes(one.mark))) {
    if (FOUND.includes(each.mark) && !gap && made.length) made.push(el("span.gap"));
    gap ||= FOUND.includes(each.mark);
    const name = `${WORDS[each.mark]}: ${each.words}`;
    made.push(el(`button.m-${each.mark}`, { type: "button", "data-id": each.id, tabindex: "-1", "aria-label": name, title: name, click: () => select(each.id, "strip") }));
  }
  return made;
}

function lightStrip() {
  for (const each of byId("strip").querySelectorAll("button")) {
    if (each.dataset.id === now.statement) each.setAttribute("aria-current", "true");
    else each.removeAttribute("aria-current");
  }
}

function drawVersions() {
  const all = handoff().versions, slider = byId("version");
  byId("versions").hidden = all.length < 2;
  slider.max = String(all.length - 1);
  slider.value = String(now.version);
  slider.setAttribute("aria-valuetext", version().label);
  byId("stops").replaceChildren(...all.map((each, at) => {
    const refuted = tally(each).refuted || 0;
    const says = each.is_compared ? `${refuted} refuted` : "not compared";
    return el("button", { type: "button", "aria-pressed": at === now.version, click: () => show({ version: at }) },
      el("b", each.label), at === all.length - 1 ? says + sentOn(handoff()) : says);
  }));
}

function drawFrame() {
  byId("title").textContent = page.title;
  byId("subtitle").textContent = [page.subtitle, page.sentence].filter(Boolean).join(" · ");
  byId("foot").textContent = `Made by Segue ${page.segue} on ${page.made_at.slice(0, 10)} at ${clock(page.made_at)} UTC. This file is complete in itself and loads nothing.`;
}
