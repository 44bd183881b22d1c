// Builds the element of a row. Its content is filled in when its chunk is inflated.

const NAMES = { prompt: "Prompt", answer: "Answer", notice: "Notice" };
const LINE_PX = 24;

function builtRow(row) {
  const { entry } = row;
  const element = make("article", { class: `entry ${row.isHead ? "agent" : entry.k}`, tabindex: "-1" });
  if (row.level) element.classList.add(`level-${row.level}`);
  if (row.isHead) buildHead(row, element);
  else if (entry.k === "call") buildCall(row, element);
  else if (entry.k === "reasoning") buildThought(row, element);
  else if (entry.k === "result") buildResult(row, element);
  else {
    element.append(make("h3", { class: "hidden" }, NAMES[entry.k] || entry.k), bodyOf(row, "text"));
    element.setAttribute("aria-label", NAMES[entry.k] || entry.k);
  }
  return element;
}

function buildHead(row, element) {
  element.append(make("h3", {}, toggleOf(row, make("span", { class: "words" }, headWords(row)))));
  element.setAttribute("aria-label", `Subagent: ${headWords(row)}`);
}

function buildCall(row, element) {
  const { entry } = row;
  element.dataset.call = entry.n;
  element.dataset.outcome = entry.o;
  element.setAttribute("aria-label", `Call ${entry.n}, ${entry.o}`);
  element.append(make("h3", {}, toggleOf(row, ...callLine(entry))));
  if (!row.isOpen) return;
  const copy = make("button", { class: "quiet", type: "button", "data-copy": entry.n }, "copy link");
  const address = make("a", { href: `#${entry.n}` }, `link to #${entry.n}`);
  element.append(bodyOf(row, "body"), make("p", { class: "links" }, address, copy));
}

function resultWords(entry) {
  const note = entry.r || "";
  if (!note) return entry.o === "succeeded" ? "" : entry.o;
  const isSaid = entry.o === "succeeded" || entry.v || note.startsWith(entry.o);
  return isSaid ? note : `${entry.o}: ${note}`;
}

// The name of the style of a call's result: a red test verdict of a call that succeeded is drawn as a failure.
const styleOf = (entry) => entry.v < 0 ? "failed" : entry.o;

function callLine(entry) {
  const words = resultWords(entry);
  const verdict = entry.v ? (entry.v < 0 ? "✗ " : "✓ ") : "";
  return [
    make("span", { class: `sign ${entry.o}`, "aria-hidden": "true" }, SIGNS[entry.o]),
    make("span", { class: "number" }, `#${entry.n}`),
    make("span", { class: "phrase" }, entry.p || entry.t || ""),
    ...(entry.g ? [make("span", { class: "target" }, entry.g)] : []),
    ...(words ? [make("span", { class: `result ${styleOf(entry)}` }, verdict + words)] : []),
    make("span", { class: "took" }, entry.d || ""),
  ];
}

function buildThought(row, element) {
  const words = row.entry.d ? `thinking ${row.entry.d}` : "thinking";
  element.append(make("h3", {}, toggleOf(row, make("span", { class: "words" }, words))));
  element.setAttribute("aria-label", "Thinking");
  if (row.isOpen) element.append(bodyOf(row, "body"));
}

function buildResult(row, element) {
  const { entry } = row;
  const words = `${SIGNS[entry.o]} ${entry.w}${entry.d ? ` in ${entry.d}` : ""}`;
  element.append(make("h3", { class: `outcome ${entry.o}` }, words), bodyOf(row, "text"));
  element.setAttribute("aria-label", `Result: ${entry.w}`);
}

function toggleOf(row, ...children) {
  return make("button", { class: "line", type: "button", "aria-expanded": String(row.isOpen) }, ...children);
}

function bodyOf(row, name) {
  const body = make("div", { class: name });
  const nodes = contentNow(row.entry);
  if (nodes !== null) {
    body.append(...nodes.map(built));
    return body;
  }
  body.style.minHeight = `${Math.min(row.entry.h || 3, 5000) * LINE_PX}px`;
  body.setAttribute("aria-busy", "true");
  row.filling = content(row.entry).then((found) => {
    body.style.minHeight = "";
    body.removeAttribute("aria-busy");
    body.replaceChildren(...found.map(built));
  });
  return body;
}

// The height of a row that is not measured yet, in px.
function estimate(row) {
  if (row.height) return row.height;
  const { entry } = row;
  if (row.isHead || entry.k === "call" || entry.k === "reasoning") return row.isOpen ? 300 : 32;
  return (entry.h || 0) * LINE_PX + (entry.k === "result" ? 48 : 24);
}
