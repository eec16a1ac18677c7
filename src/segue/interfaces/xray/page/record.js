// The middle pane: the typed record, a verdict beside every statement; what Segue found at the end.

function rowOf(each) {
  const words = each.is_code ? el("span.mono", each.words) : el("span", withCode(each.words));
  const ending = el("span.row-end", badge(each.mark), each.change ? el("span.change", each.change) : null);
  return el(`div.row.m-${each.mark}`, {
    role: "option", id: `row-${each.id}`, "data-id": each.id, "aria-selected": "false", click: () => select(each.id, "record"),
  }, el("span", words, each.detail ? el("span.detail", withCode(each.detail)) : null, el("span.printed", each.reason)), ending);
}

function withdrawnRow(each) {
  return el("div.row.gone", { role: "option", "aria-disabled": "true", "aria-selected": "false" },
    el("span", el("s", each.words)),
    el("span.row-end", el("span.change", `withdrawn, was ${WORDS[each.mark]}`)));
}

function drawRecord() {
  const box = byId("record"), groups = new Map();
  const add = (name, row, found) => {
    if (!groups.has(name))
      groups.set(name, el("div.group", { role: "group", "aria-label": name }, el(`div.field${found ? ".found" : ""}`, { "aria-hidden": "true" }, name)));
    groups.get(name).append(row);
  };
  for (const each of walkable()) add(groupOf(each), rowOf(each), FOUND.includes(each.mark));
  if (!now.filter) {
    for (const each of version().withdrawn) add("withdrawn by this repair", withdrawnRow(each), true);
  }
  box.replaceChildren(...groups.values());
  if (!groups.size) box.append(el("p.empty", now.filter ? `Nothing here is ${WORDS[now.filter]}.` : "Nothing could be read out of these words."));
  if (!version().is_compared) box.prepend(el("p.empty", "There was nothing to compare this with: no verdicts."));
  for (const each of handoff().problems) box.append(el("p.empty", `Form: ${each}`));
  byId("show-all").hidden = !now.filter;
}

function lightRecord(from) {
  const box = byId("record");
  let row = null;
  for (const each of box.querySelectorAll("[data-id]")) {
    const on = each.dataset.id === now.statement;
    each.classList.toggle("on", on);
    each.setAttribute("aria-selected", on);
    row = on ? each : row;
  }
  if (row) box.setAttribute("aria-activedescendant", row.id);
  else box.removeAttribute("aria-activedescendant");
  if (from !== "record") reveal(box, row);
}
