// The list of calls: rows of one height, of which only those in sight exist. Its filter is that of the screen.

const CALL_PX = 30;
const AROUND = 8;  // rows above and below those in sight

const grid = make("div", {
  class: "grid", id: "calls", role: "grid", tabindex: "0", "aria-label": "Calls", "aria-readonly": "true",
});
const gridRows = make("div", { class: "rows", role: "rowgroup" });
grid.append(gridRows);
const filterField = make("input", {
  type: "search", id: "filter", placeholder: "Filter: failed, shell, a path…  f", "aria-label": "Filter calls",
  autocomplete: "off", spellcheck: "false",
});
const filterStatus = make("p", { class: "status", role: "status" });
let listed = calls;
let listedAt = new Map();  // by the number of a call, its place in the list
let filter = null;
const isNarrow = matchMedia("(max-width: 60rem)");  // the list of calls is folded into the transcript

// The filter of the transcript: only where there is no list that it could narrow, and on paper.
const transcriptFilter = () => (isNarrow.matches || isPrinting ? filter : null);

function updateRows() { setRows(shownRows(transcriptFilter())); }

function setFilter(text) {
  if (filterField.value !== text) filterField.value = text;
  filter = filterOf(text);
  listed = filter === null ? calls : calls.filter(filter);
  listedAt = new Map(listed.map((call, at) => [call.n, at]));
  filterStatus.textContent = filter === null ? "" : `${listed.length} of ${calls.length} calls`;
  for (const button of document.querySelectorAll("[data-filter]")) {
    button.setAttribute("aria-pressed", String(button.dataset.filter === text.trim()));
  }
  grid.setAttribute("aria-rowcount", listed.length);
  gridRows.style.height = `${listed.length * CALL_PX}px`;
  gridRows.replaceChildren();
  drawList();
  if (isNarrow.matches) updateRows();
  showInList();
}

function drawList() {
  const first = Math.max(Math.floor(grid.scrollTop / CALL_PX) - AROUND, 0);
  const end = Math.min(Math.ceil((grid.scrollTop + grid.clientHeight) / CALL_PX) + AROUND, listed.length);
  for (const element of [...gridRows.children]) {
    if (element.at < first || element.at >= end) element.remove();
  }
  const existing = new Set([...gridRows.children].map((element) => element.at));
  for (let at = first; at < end; at++) {
    if (!existing.has(at)) gridRows.append(listRow(at));
  }
  markInList();
}

function listRow(at) {
  const call = listed[at];
  const cell = (name, ...children) => make("span", { class: name, role: "gridcell" }, ...children);
  const note = call.v ? `${call.v < 0 ? "✗" : "✓"} ${call.r}` : resultWords(call).replace(/^failed: /, "");
  const row = make("div", {
    class: `row ${call.o}`, role: "row", id: `row-${call.n}`, "aria-rowindex": at + 1, "aria-selected": "false",
    "data-list": call.n,
  },
    cell("number", `${call.n}`),
    cell(`sign ${call.o}`, make("span", { "aria-hidden": "true" }, SIGNS[call.o]), make("span", { class: "hidden" }, call.o)),
    cell("tool", call.u === undefined ? call.t : `└ ${call.t}`),
    cell("target", call.g || ""),
    cell(`result ${styleOf(call)}`, note),
    cell("took", call.d || ""));
  row.at = at;
  row.style.top = `${at * CALL_PX}px`;
  return row;
}

function markInList() {
  const number = selected !== null && selected.isCall ? selected.entry.n : null;
  for (const element of gridRows.children) {
    element.setAttribute("aria-selected", String(Number(element.dataset.list) === number));
  }
  const isThere = number !== null && document.getElementById(`row-${number}`) !== null;
  if (isThere) grid.setAttribute("aria-activedescendant", `row-${number}`);
  else grid.removeAttribute("aria-activedescendant");
}

// Scrolls the list to the chosen call.
function showInList() {
  const at = selected !== null && selected.isCall ? listedAt.get(selected.entry.n) : undefined;
  if (at !== undefined) {
    const top = at * CALL_PX;
    if (top < grid.scrollTop + CALL_PX) grid.scrollTop = top - CALL_PX;
    else if (top + 2 * CALL_PX > grid.scrollTop + grid.clientHeight) grid.scrollTop = top + 2 * CALL_PX - grid.clientHeight;
    drawList();
  } else markInList();
}

grid.addEventListener("scroll", drawList, { passive: true });
new ResizeObserver(drawList).observe(grid);
grid.addEventListener("click", (event) => {
  const row = event.target.closest("[data-list]");
  if (row === null || String(getSelection())) return;
  goToCall(callByNumber.get(Number(row.dataset.list)), { focuses: false });
  grid.focus({ preventScroll: true });
});
grid.addEventListener("keydown", (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
  const to = { Home: 0, End: listed.length - 1 }[event.key];
  if ((by === undefined && to === undefined) || !listed.length) return;
  event.preventDefault();
  const at = selected !== null && selected.isCall ? listedAt.get(selected.entry.n) ?? -1 : -1;
  const wanted = to === undefined ? Math.min(Math.max(at + by, 0), listed.length - 1) : to;
  select(rowOf(listed[wanted]), { focuses: false, isAtTop: true });
});
let filtering = 0;
filterField.addEventListener("input", () => {
  clearTimeout(filtering);
  filtering = setTimeout(() => setFilter(filterField.value), 80);
});
isNarrow.addEventListener("change", updateRows);
