// The data of the page, what is shown of it now, and questions about it.

const page = JSON.parse(document.getElementById("xray").textContent);
const now = { handoff: 0, version: 0, statement: "", filter: null };

// Mark -> the word for it. "none" is what claims nothing.
const WORDS = {
  refuted: "refuted", partly: "partly", confirmed: "confirmed", unverifiable: "unverifiable", none: "not a claim", unjudged: "no verdict",
  weakened: "weakened test", disclosed: "disclosed", edited: "edited test", removed: "removed", unmentioned: "unmentioned",
};
const VERDICTS = ["refuted", "partly", "confirmed", "unverifiable"];
const SILENT = ["none", "unjudged"];
const FOUND = ["weakened", "removed", "unmentioned", "disclosed", "edited"];

const handoff = () => page.handoffs[now.handoff];
const version = () => handoff().versions[now.version];
const isLastVersion = () => now.version === handoff().versions.length - 1;
const statements = () => version().statements;
const walkable = () => statements().filter((each) => !now.filter || each.mark === now.filter);
const selected = () => statements().find((each) => each.id === now.statement);
const evidenceOf = (id) => handoff().evidence.find((each) => each.id === id);

const plural = (number, noun, many = `${noun}s`) => `${number.toLocaleString("en")} ${number === 1 ? noun : many}`;

function tally(one) {
  const counts = {};
  for (const each of one.statements) counts[each.mark] = (counts[each.mark] || 0) + 1;
  return counts;
}

// "1 test weakened", for the sentence on top.
function foundInWords(mark, number) {
  if (mark === "weakened") return `${plural(number, "test")} weakened`;
  if (mark === "removed") return `${plural(number, "definition")} removed`;
  if (mark === "unmentioned") return `${plural(number, "changed file")} nobody mentioned`;
  if (mark === "disclosed") return `${plural(number, "weakened test")} disclosed`;
  return `${plural(number, "test")} edited`;
}

// `what_was_done[2]` -> `what_was_done`; what Segue found and what no field holds have names of their own.
function groupOf(statement) {
  if (FOUND.includes(statement.mark)) return "Found by Segue, not said by the agent";
  return statement.field.split(/[[.]/)[0] || "said, but in no field";
}

// Where the page begins: at the worst statement of the handoff.
function worst() {
  for (const mark of ["refuted", "weakened", "partly", "unmentioned", "removed"]) {
    const found = statements().find((each) => each.mark === mark);
    if (found) return found.id;
  }
  return statements()[0]?.id ?? "";
}

function clock(moment) {
  return moment ? moment.slice(11, 19) : "";
}
