// Moves: the chosen row, the keys of the screen, links to calls.

let selected = null;

function markSelected(element) {
  element.classList.add("selected");
  element.setAttribute("aria-current", "true");
}

function setOpen(row, isOpen) {
  if (row.isOpen === isOpen) return;
  row.isOpen = isOpen;
  if (row.isHead) updateRows();
  rebuild(row);
}

// Chooses a row, and brings it into sight; the subagent that it belongs to is opened.
function select(row, { opens = false, isAtTop = false, focuses = true } = {}) {
  if (row.at < 0) {
    if (transcriptFilter() !== null) setFilter("");
    const head = heads.get(row.root);
    if (head !== undefined && !row.isHead && !head.isOpen) setOpen(head, true);
  }
  const before = selected;
  selected = row;
  before?.element?.classList.remove("selected");
  before?.element?.removeAttribute("aria-current");
  if (opens) setOpen(row, true);
  reveal(row, isAtTop);
  if (row.element !== null) {
    markSelected(row.element);
    if (focuses) focusRow(row);
  }
  showInList();
  drawStrip();
}

function goToCall(call, { focuses = true } = {}) {
  if (call === undefined) return;
  select(rowOf(call), { opens: true, isAtTop: true, focuses });
  noteInAddress(call);
}

function noteInAddress(call) {
  try {
    history.replaceState(null, "", `#${call.n}`);
  } catch {
    // some places that show a file allow no change of its address
  }
}

function openHash() {
  const number = /^#(\d{1,9})$/.exec(location.hash)?.[1];
  if (number !== undefined) goToCall(callByNumber.get(Number(number)));
}

// The row at which a move begins: the chosen one, else the first in sight.
const startOfMove = () => (selected !== null && selected.at >= 0 ? selected.at : rowAt(position() + barHeight()) - 1);

function moveBy(by) {
  const at = Math.min(Math.max(startOfMove() + by, 0), rows.length - 1);
  if (rows.length) select(rows[at]);
}

function goToStart() {
  if (rows.length) select(rows[0]);
  scrollTo({ top: 0, behavior: "instant" });
}

// The next call after the chosen row for which a condition holds, or the one before; wraps around.
function callFrom(by, holds) {
  const found = (filter === null ? calls : listed).filter(holds);
  if (!found.length) return undefined;
  const here = selected === null ? (by > 0 ? -1 : entries.length) : selected.entry.index;
  const after = by > 0 ? found.find((call) => call.index > here) : found.findLast((call) => call.index < here);
  return after || (by > 0 ? found[0] : found.at(-1));
}

// Opens the next call or the one before, and folds the one that was open.
function stepCall(by) {
  const call = callFrom(by, () => true);
  if (call === undefined) return;
  if (selected !== null && selected.isCall && selected.entry !== call) setOpen(selected, false);
  goToCall(call);
}

function showThoughts() {
  const thoughts = allRows.filter((row) => row.entry.k === "reasoning");
  const isOpen = !thoughts.some((row) => row.isOpen);
  for (const row of thoughts) {
    row.isOpen = isOpen;
    row.height = 0;
    if (row.element !== null) dropped(row.element);
  }
  thoughtsButton.setAttribute("aria-pressed", String(isOpen));
  layOut();
  render();
}

function wrapLines() {
  const wraps = document.documentElement.toggleAttribute("data-wraps");
  wrapButton.setAttribute("aria-pressed", String(wraps));
  schedule();
}

function goBack() {
  if (find.pattern !== null || findField.value) {
    findField.value = "";
    clearFind();
  } else if (filter !== null || filterField.value) setFilter("");
  else if (selected !== null && selected.isOpen) setOpen(selected, false);
  document.activeElement?.closest("input")?.blur();
}

async function copyLink(number, button) {
  const address = `${location.href.split("#")[0]}#${number}`;
  try {
    await navigator.clipboard.writeText(address);
    button.textContent = "copied";
  } catch {
    button.textContent = address;  // the browser forbids copying: the user can select it
  }
}

const KEYS = [
  ["j", "k", "next and previous entry", () => moveBy(1), () => moveBy(-1)],
  ["J", "K", "open the next and the previous call", () => stepCall(1), () => stepCall(-1)],
  ["g", "G", "start and end", () => goToStart(), () => rows.length && select(rows.at(-1))],
  ["e", "E", "next and previous failure", () => goToCall(callFrom(1, isFailure)), () => goToCall(callFrom(-1, isFailure))],
  ["/", null, "search everything", () => { findField.focus(); findField.select(); }],
  ["n", "N", "next and previous match", () => nextFound(1), () => nextFound(-1)],
  ["f", null, "filter the calls: failed, shell, a path, agent:12", () => { filterField.focus(); filterField.select(); }],
  ["t", null, "show or fold thinking", () => showThoughts()],
  ["w", null, "wrap long lines", () => wrapLines()],
  ["p", null, "print, with the contents of the calls", () => printAll()],
  ["?", null, "this help", () => showHelp()],
];
const isFailure = (call) => call.o === "failed";
const actions = new Map();
for (const [key, other, , act, actOther] of KEYS) {
  actions.set(key, act);
  if (other !== null) actions.set(other, actOther);
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.ctrlKey || event.metaKey) {
    if (event.key === "p" && !event.shiftKey) { event.preventDefault(); printAll(); }
    return;
  }
  if (event.key === "Escape") { goBack(); return; }
  if (event.target.closest("input")) { enterIn(event); return; }
  if (event.key === "Enter") { enter(event); return; }
  const act = actions.get(event.key);
  if (act === undefined) return;
  event.preventDefault();
  act();
});

async function enterIn(event) {
  if (event.key !== "Enter") return;
  event.preventDefault();
  if (event.target === filterField) {
    setFilter(filterField.value);
    if (listed.length) goToCall(listed[0]);
    return;
  }
  clearTimeout(finding);
  const same = findField.value.trim() === find.text;
  const searching = startFind(findField.value);
  if (!same) await searching;
  nextFound(event.shiftKey ? -1 : 1);
}

// Opens or folds the chosen row, unless a button or a link has the focus, which does so itself.
function enter(event) {
  if (event.target.closest("a, button, summary") || selected === null) return;
  if (selected.isHead || selected.isCall || selected.entry.k === "reasoning") setOpen(selected, !selected.isOpen);
}

layer.addEventListener("click", (event) => {
  const copied = event.target.closest("[data-copy]");
  if (copied !== null) { copyLink(copied.dataset.copy, copied); return; }
  const button = event.target.closest("button.line");
  if (button === null || String(getSelection())) return;
  const { row } = button.closest("article");
  selected?.element?.classList.remove("selected");
  select(row, { focuses: false });
  setOpen(row, !row.isOpen);
  if (row.isCall && row.isOpen) noteInAddress(row.entry);
  focusRow(row);
});
addEventListener("hashchange", openHash);
