// The left pane: the agent's own words, each statement underlined in the way of its verdict.

const LONG_SILENCE = 24;
const WORST_FIRST = ["refuted", "partly", "unverifiable", "confirmed", "none", "unjudged"];

// Of several statements in the same words, the one that a reader must know of.
function foremost(ids, marks) {
  return [...ids].sort((a, b) => WORST_FIRST.indexOf(marks.get(a)) - WORST_FIRST.indexOf(marks.get(b)))[0];
}

function runOf([text, ids], marks) {
  if (!ids.length) return withCode(text);
  const id = ids.includes(now.statement) ? now.statement : foremost(ids, marks);
  const mark = marks.get(foremost(ids, marks));
  return [el(`span.said.m-${mark}`, {
    "data-ids": ids.join(" "), title: WORDS[mark], click: () => select(nextOf(ids) ?? id, "words"),
  }, withCode(text))];
}

// A second click on words that make several statements goes on to the next of them.
function nextOf(ids) {
  return ids[(ids.indexOf(now.statement) + 1) % ids.length];
}

// What Markdown puts before the words of a line is set apart.
function lineOf(runs, number, marks, inCode) {
  const first = runs.length ? runs[0] : ["", []];
  const mark = inCode || first[1].length ? null : first[0].match(/^(\s*)(#{1,6} |[-*+] (?:\[[ xX]\] )?|\d+[.)] )/);
  const rest = mark ? [[first[0].slice(mark[0].length), first[1]], ...runs.slice(1)] : runs;
  const words = rest.flatMap((run) => runOf(run, marks));
  const kind = inCode ? ".code" : mark ? (mark[2].startsWith("#") ? ".heading" : ".item") : "";
  const shown = mark ? [el("span.syntax", mark[2].trim() + (kind === ".heading" ? " " : "")), el("span", words)] : words;
  return el(`p.w${kind}`, { "data-line": number }, el("span", shown.length ? shown : " "));
}

function drawWords() {
  const box = byId("words"), one = version();
  const marks = new Map(one.statements.map((each) => [each.id, each.mark]));
  const lines = [];
  let inCode = false;
  one.words.forEach((runs, at) => {
    const fence = /^\s*(```|~~~)/.test(runs.map((run) => run[0]).join(""));
    lines.push({ silent: !runs.some((run) => run[1].length), draw: ((code) => () => lineOf(runs, at + 1, marks, code))(inCode || fence) });
    if (fence) inCode = !inCode;
  });
  const made = [];
  for (let at = 0; at < lines.length;) {
    let end = at;
    while (end < lines.length && lines[end].silent) end++;
    if (end - at > LONG_SILENCE) {
      const quiet = lines.slice(at + 4, end - 4);
      made.push(...lines.slice(at, at + 4).map((each) => each.draw()));
      made.push(foldWords(quiet));
      made.push(...lines.slice(end - 4, end).map((each) => each.draw()));
      at = end;
    } else {
      made.push(...lines.slice(at, Math.max(end, at + 1)).map((each) => each.draw()));
      at = Math.max(end, at + 1);
    }
  }
  box.replaceChildren(...made);
  if (one.note) box.prepend(el("p.empty", one.note));
  byId("writer").textContent = [handoff().writer, ...handoff().facts].join(" · ");
}

function foldWords(lines) {
  return fold(`${plural(lines.length, "line")} without a statement`, () => {
    const made = lines.slice(0, MOST_AT_ONCE).map((each) => each.draw());
    if (lines.length > MOST_AT_ONCE) made.push(foldWords(lines.slice(MOST_AT_ONCE)));
    return made;
  });
}

function lightWords(from) {
  let first = null;
  for (const each of byId("words").querySelectorAll(".said")) {
    const on = each.dataset.ids.split(" ").includes(now.statement);
    each.classList.toggle("on", on);
    first ??= on ? each : null;
  }
  if (from !== "words") reveal(byId("words"), first);
}
