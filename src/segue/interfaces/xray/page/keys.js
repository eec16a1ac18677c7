// Keys, buttons and gestures.

function walk(step) {
  const all = walkable(), at = all.findIndex((each) => each.id === now.statement);
  const target = at < 0 ? all[0] : all[Math.max(0, Math.min(all.length - 1, at + step))];
  if (target) select(target.id, "keys");
}

function jump(mark) {
  const all = walkable(), at = all.findIndex((each) => each.id === now.statement);
  const found = [...all.slice(at + 1), ...all.slice(0, at + 1)].find((each) => each.mark === mark);
  if (found) select(found.id, "keys");
}

const step = (name, by, most) => show({ [name]: Math.max(0, Math.min(most, now[name] + by)) });
const KEYS = {
  j: () => walk(1), k: () => walk(-1), r: () => jump("refuted"), u: () => jump("unverifiable"),
  f: () => filter(now.filter ?? selected()?.mark),
  "[": () => step("version", -1, handoff().versions.length - 1), "]": () => step("version", 1, handoff().versions.length - 1),
  h: () => step("handoff", -1, page.handoffs.length - 1), l: () => step("handoff", 1, page.handoffs.length - 1),
  b: toggleBriefing, "?": () => byId("keys").showModal(),
};
const IN_RECORD = {
  ArrowDown: () => walk(1), ArrowUp: () => walk(-1), Home: () => walk(-Infinity), End: () => walk(Infinity),
};

function bindKeys() {
  addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || byId("keys").open) return;
    const act = KEYS[event.key] ?? (document.activeElement === byId("record") ? IN_RECORD[event.key] : null);
    if (!act) return;
    event.preventDefault();
    act();
  });
  byId("show-keys").addEventListener("click", () => byId("keys").showModal());
  byId("show-all").addEventListener("click", () => filter(null));
  byId("whole").addEventListener("click", toggleBriefing);
  byId("version").addEventListener("input", (event) => show({ version: Number(event.target.value) }));
  for (const each of document.querySelectorAll("[data-go]"))
    each.addEventListener("click", () => ({ previous: () => walk(-1), next: () => walk(1), refuted: () => jump("refuted") })[each.dataset.go]());
  bindPanes();
  bindTheme();
}

function bindPanes() {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  for (const [at, tab] of tabs.entries()) {
    tab.addEventListener("click", () => showPane(tab.dataset.pane));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      const other = tabs[(at + by + tabs.length) % tabs.length];
      showPane(other.dataset.pane);
      other.focus();
    });
  }
}

function showPane(name) {
  byId("panes").dataset.pane = name;
  for (const tab of document.querySelectorAll("[role=tab]")) {
    tab.setAttribute("aria-selected", tab.dataset.pane === name);
    tab.tabIndex = tab.dataset.pane === name ? 0 : -1;
  }
}

// The theme follows the system until the button is used; a file has no place where it could keep the choice.
function bindTheme() {
  byId("theme").addEventListener("click", () => {
    const chosen = document.documentElement.dataset.theme;
    const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  });
}
