// Hunks: numbered lines, the deciding ones marked, the rest folded; with a little colour for code.

const AROUND = 3, MOST_AT_ONCE = 400, FIRST_LOOK = 24;
const KEYWORDS = new Set(("abstract and as assert async await break case catch class const continue def default defer del do elif else "
  + "enum except export extends False final finally fn for from func function go if impl implements import in interface is lambda let "
  + "match mod module new nil None nonlocal not null or package pass private protected pub public raise return self static struct super "
  + "switch this throw trait True try type undefined use var void while with yield true false").split(" "));
const HASH_NOTES = /\.(py|pyi|rb|sh|ya?ml|toml|cfg|ini|pl|r|mk|env|dockerfile)$|(^|\/)(Makefile|Dockerfile|\.gitignore|do)$/i;
const PROSE = /\.(md|txt|rst|lock|csv|json|svg|html?|xml)$/i;

function coloured(text, path) {
  if (PROSE.test(path) || text.length > 400) return [text];
  const note = HASH_NOTES.test(path) ? "#.*" : "\\/\\/.*|\\/\\*.*?(?:\\*\\/|$)";
  const parts = new RegExp(`(${note})|("(?:[^"\\\\]|\\\\.)*"?|'(?:[^'\\\\]|\\\\.)*'?|\`[^\`]*\`?)|(\\b\\d[\\w.]*)|([A-Za-z_]\\w*)`, "g");
  const made = [];
  let end = 0;
  for (const found of text.matchAll(parts)) {
    const kind = found[1] ? "c" : found[2] ? "q" : found[3] ? "n" : KEYWORDS.has(found[0]) ? "k" : "";
    if (!kind) continue;
    made.push(text.slice(end, found.index), el(`span.${kind}`, found[0]));
    end = found.index + found[0].length;
  }
  return [...made, text.slice(end)];
}

function diffLine(line, path, decides) {
  const [mark, old, fresh, text] = line;
  const kind = mark === "+" ? ".added" : mark === "-" ? ".taken" : "";
  const made = el(`span.l${kind}${decides ? ".decides" : ""}`,
    el("i", fresh ?? old ?? ""), el("b", mark === "-" ? "−" : mark.trim()), el("span", coloured(text, path)));
  if (decides) made.querySelector("span").prepend(el("span.sr", "decides: "));
  return made;
}

// All lines of a file in one list; a heading of a hunk is a string.
function flatten(file) {
  const flat = [];
  let at = 0;
  for (const hunk of file.hunks) {
    flat.push(hunk.heading);
    for (const line of hunk.lines) flat.push({ line, at: at++ });
  }
  return flat;
}

function hunksOf(file, deciding) {
  const flat = flatten(file), marks = new Set(deciding);
  const near = (each, index) => {
    if (!marks.size) return index < FIRST_LOOK;
    for (let other = index - AROUND; other <= index + AROUND; other++)
      if (typeof flat[other] === "object" && marks.has(flat[other].at)) return true;
    return false;
  };
  const draw = (each) => (typeof each === "string" ? el("span.l.hunk", el("span", each)) : diffLine(each.line, file.path, marks.has(each.at)));
  const box = el("pre.lines", { tabindex: "0", role: "region", "aria-label": `Changed lines of ${file.path}` });
  let hidden = [];
  const put = () => {
    if (hidden.length > 2) box.append(foldLines(hidden, draw));
    else box.append(...hidden.map(draw));
    hidden = [];
  };
  flat.forEach((each, index) => {
    if (!near(each, index)) return void hidden.push(each);
    put();
    box.append(draw(each));
  });
  put();
  return box;
}

function foldLines(lines, draw) {
  return fold(`Show ${plural(Math.min(lines.length, MOST_AT_ONCE), "more line")}${lines.length > MOST_AT_ONCE ? ` of ${lines.length.toLocaleString("en")}` : ""}`, () => {
    const made = lines.slice(0, MOST_AT_ONCE).map(draw);
    if (lines.length > MOST_AT_ONCE) made.push(foldLines(lines.slice(MOST_AT_ONCE), draw));
    return made;
  });
}
