// Threads: from the words to the record to the evidence, in the colour of the verdict.

const SVG = "http://www.w3.org/2000/svg";

function drawThreads() {
  const svg = byId("threads"), one = selected();
  svg.replaceChildren();
  svg.setAttribute("class", `threads m-${one ? one.mark : "none"}`);
  if (!one || isNarrow()) return;
  const frame = byId("panes").getBoundingClientRect();
  const said = lastOfFirstLine(byId("words").querySelectorAll(".said.on")), row = byId("record").querySelector(".row.on"), block = byId("evidence").querySelector(".block.deciding");
  const words = end(said, byId("words")), middle = end(row, byId("record")), proof = end(block, byId("evidence"));
  const record = byId("record").getBoundingClientRect();
  const left = record.left - frame.left, right = record.right - frame.left;
  if (words && middle) {
    const start = Math.min(words.right - frame.left + 5, left - 14);
    line(svg, `M${start} ${words.y - frame.top}H${left - 14}${curve(left - 14, words.y - frame.top, left + 9, middle.y - frame.top)}`);
    dot(svg, left + 10, middle.y - frame.top);
  }
  if (middle && proof) {
    const far = proof.left - frame.left;
    line(svg, `M${right - 10} ${middle.y - frame.top}${curve(right - 10, middle.y - frame.top, far, proof.y - frame.top)}`);
    dot(svg, right - 9, middle.y - frame.top);
    dot(svg, far, proof.y - frame.top);
  }
}

// Words that others cut into pieces are tied at their end.
function lastOfFirstLine(pieces) {
  const first = pieces[0]?.closest(".w");
  return [...pieces].filter((each) => each.closest(".w") === first).pop();
}

// Where a thread is tied to an element; nowhere if it is out of sight.
function end(element, box) {
  const rects = element ? [...element.getClientRects()] : [];
  const rect = rects[rects.length - 1];
  if (!rect) return null;
  const around = box.getBoundingClientRect(), y = rect.top + Math.min(rect.height / 2, 16);
  return y < around.top + 4 || y > around.bottom - 4 ? null : { left: rect.left, right: rect.right, y };
}

const curve = (x1, y1, x2, y2) => `C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`;

function line(svg, d) {
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", d);
  svg.append(path);
}

function dot(svg, x, y) {
  const circle = document.createElementNS(SVG, "circle");
  for (const [key, value] of Object.entries({ cx: x, cy: y, r: 3 })) circle.setAttribute(key, value);
  svg.append(circle);
}
