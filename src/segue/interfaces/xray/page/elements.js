// Making elements. Text becomes text nodes alone: nothing that an agent wrote is ever read as markup.

const byId = (id) => document.getElementById(id);

// el("p.note", "words"), el("button.link", { type: "button" }, "words", node, ...)
function el(name, ...parts) {
  const [tag, ...classes] = name.split(".");
  const made = document.createElement(tag);
  if (classes.length) made.className = classes.join(" ");
  for (const part of parts.flat()) {
    if (part === null || part === undefined || part === "") continue;
    if (part instanceof Node || typeof part === "string" || typeof part === "number") made.append(part);
    else for (const [key, value] of Object.entries(part)) setPart(made, key, value);
  }
  return made;
}

// Handlers are functions of this page; a value from the data is only ever an attribute that runs nothing.
const HARMLESS = /^(aria-[a-z]+|data-[a-z]+|id|role|type|title|tabindex|scope|colspan)$/;
function setPart(made, key, value) {
  if (key === "click" || key === "toggle") made.addEventListener(key, value);
  else if (HARMLESS.test(key)) made.setAttribute(key, value);
  else throw new Error(`no attribute of this page: ${key}`);
}

const sign = () => el("i.sign", { "aria-hidden": "true" });
const badge = (mark) => el(`span.badge.m-${mark}`, sign(), WORDS[mark]);

// Words with `code` in code marks set as code.
function withCode(text) {
  return text.split(/(`[^`]+`)/).map((part) =>
    part.length > 2 && part.startsWith("`") && part.endsWith("`") ? el("code", part.slice(1, -1)) : part);
}

// A button in the place of lines: a click puts `more()` there.
function fold(label, more) {
  const made = el("button.fold", { type: "button", click: () => made.replaceWith(...more()) }, label);
  return made;
}

const calm = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth");
const isNarrow = () => matchMedia("(max-width: 1000px)").matches;

// Scrolls a box so that an element is in sight; a box that does not scroll by itself stays where it is.
function reveal(box, target, where = 0.3) {
  if (!target || getComputedStyle(box).overflowY === "visible") return;
  const a = target.getBoundingClientRect(), b = box.getBoundingClientRect();
  if (a.top >= b.top + 20 && a.bottom <= b.bottom - 20) return;
  box.scrollTo({ top: box.scrollTop + a.top - b.top - b.height * where, behavior: calm() });
}
