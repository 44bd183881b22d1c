// Printing: rows out of sight do not exist, so those of the filter are built, with long contents cut.

const MOST_PRINTED = 2000;
const MOST_PRINTED_LINES = 30;
const MOST_PRINTED_CHARACTERS = 2400;
let isPrinting = false;
let before = null;  // what was shown before printing

// Inflates what is printed, then opens the browser's dialog.
async function printAll() {
  for (const row of printedRows()) {
    row.printed = await content(row.entry);
  }
  print();
}

const printedRows = () => shownRows(filter).slice(0, MOST_PRINTED);

function beforePrint() {
  if (isPrinting) return;
  before = { y: scrollY, open: new Set(allRows.filter((row) => row.isOpen)) };
  isPrinting = true;
  const all = shownRows(filter);
  const shown = all.slice(0, MOST_PRINTED);
  for (const row of shown) row.isOpen = row.isCall || row.isOpen;
  layer.replaceChildren(...shown.map(printedRow));
  const more = all.length - shown.length;
  if (more > 0) layer.append(make("p", { class: "cut" }, `… ${more} more entries are not printed`));
  layer.style.top = "0";
  feed.style.height = "auto";
}

function printedRow(row) {
  const element = builtRow(row);
  const body = element.querySelector(":scope > .body, :scope > .text");
  const nodes = row.printed || contentNow(row.entry);
  if (body !== null) {
    body.style.minHeight = "";
    if (nodes !== null) body.replaceChildren(...(row.isCall ? cutNodes(nodes) : nodes).map(built));
    else body.replaceChildren(make("p", { class: "cut" }, "… the content was not loaded: the key p prints it"));
  }
  row.printed = undefined;
  return element;
}

// The beginning of the content of a call, without its folded fields.
function cutNodes(nodes) {
  const left = { lines: MOST_PRINTED_LINES, characters: MOST_PRINTED_CHARACTERS, isCut: false };
  const cut = (node) => {
    if (left.lines <= 0 || left.characters <= 0) { left.isCut = true; return null; }
    if (typeof node !== "string") {
      if (node[0] === "details" || node[1] === "numbers") return null;  // numbers of lines do not print either
      return [node[0], node[1], ...node.slice(2).map(cut).filter((each) => each !== null)];
    }
    const lines = node.split("\n");
    const text = lines.slice(0, Math.max(left.lines, 1)).join("\n").slice(0, left.characters);
    left.isCut ||= text.length < node.length;
    left.lines -= lines.length - 1;
    left.characters -= text.length;
    return text;
  };
  const shown = nodes.map(cut).filter((node) => node !== null);
  if (left.isCut) shown.push(["p", "cut", "… cut on paper"]);
  return shown;
}

function afterPrint() {
  if (!isPrinting) return;
  isPrinting = false;
  layer.replaceChildren();
  for (const row of allRows) {
    row.isOpen = before.open.has(row);
    row.element = null;
  }
  updateRows();
  scrollTo({ top: before.y, behavior: "instant" });
}

addEventListener("beforeprint", beforePrint);
addEventListener("afterprint", afterPrint);
