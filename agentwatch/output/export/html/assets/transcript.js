// The transcript: of many rows, only those in sight and a few around them exist. The window scrolls.

const OVERSCAN_PX = 800;
const FEW_ROWS = 300;  // so few are all built: the browser's own search and screen readers then find everything
const MOST_PX = 15e6;  // Firefox clamps an element near 17 million px: beyond this, scrolling is scaled

const layer = make("div", { class: "layer" });
const feed = make("div", { class: "feed", role: "feed", "aria-label": "Transcript" }, layer);
let rows = [];
let offsets = new Float64Array(1);
let held = null;  // the row that stays where it is while the rows around it change their heights
let isScheduled = false;
const sizes = new ResizeObserver(() => schedule());

function setRows(shown) {
  for (const row of rows) row.at = -1;
  rows = shown;
  rows.forEach((row, at) => { row.at = at; });
  layOut();
  render();
}

function layOut() {
  offsets = new Float64Array(rows.length + 1);
  for (let at = 0; at < rows.length; at++) offsets[at + 1] = offsets[at] + estimate(rows[at]);
  feed.style.height = `${Math.min(offsets[rows.length], MOST_PX)}px`;
}

function scale() {
  const total = offsets[rows.length];
  return total > MOST_PX ? (total - innerHeight) / (MOST_PX - innerHeight) : 1;
}

// The part of the rows that is at the top of the window, in px from the start of the first row.
const position = () => -feed.getBoundingClientRect().top * scale();

function scrollToPosition(wanted) {
  const by = wanted / scale() + feed.getBoundingClientRect().top;
  if (Math.abs(by) >= 1) scrollBy({ top: by, behavior: "instant" });
}

// The last row that begins at or before a position.
function rowAt(wanted) {
  let [low, high] = [0, Math.max(rows.length - 1, 0)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (offsets[middle] <= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}

function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => { isScheduled = false; render(); });
}

function render() {
  if (isPrinting) return;  // what is printed stands in the layer, and a change of the window would remove it
  for (let round = 0; round < 4 && placed(); round++);
  drawStrip();
  markFound();
}

// Builds and measures the rows in sight; returns whether the measures moved what is in sight.
function placed() {
  const [at, view] = [position(), innerHeight];
  const isWhole = rows.length <= FEW_ROWS;
  const first = isWhole ? 0 : rowAt(at - OVERSCAN_PX);
  const end = isWhole ? rows.length : Math.min(rowAt(at + view + OVERSCAN_PX) + 1, rows.length);
  const wanted = new Set(rows.slice(first, end));
  for (const element of [...layer.children]) {
    if (!wanted.has(element.row) || element.row.element !== element) dropped(element);
  }
  let next = layer.firstChild;
  for (const row of wanted) {
    if (row.element === null) added(row, next);
    else next = row.element.nextSibling;
  }
  const top = at / scale() - (at - offsets[first]);
  layer.style.top = `${top}px`;
  return measured(first, end, at, view);
}

function added(row, before) {
  row.element = builtRow(row);
  row.element.row = row;
  row.element.setAttribute("aria-posinset", row.at + 1);
  row.element.setAttribute("aria-setsize", rows.length);
  if (row === selected) markSelected(row.element);
  layer.insertBefore(row.element, before);
  sizes.observe(row.element);
}

function dropped(element) {
  sizes.unobserve(element);
  uncolour(element);
  if (element.row.element === element) element.row.element = null;
  element.remove();
}

function measured(first, end, at, view) {
  let hasChanged = false;
  const anchor = anchorOf(first, end, at, view);
  const distance = anchor === null ? 0 : offsets[anchor.at] - at;
  for (let index = first; index < end; index++) {
    const height = rows[index].element.getBoundingClientRect().height;
    if (Math.abs(height - rows[index].height) > 0.25) {
      rows[index].height = height;
      makeReachable(rows[index].element);
      colour(rows[index].element);
      hasChanged = true;
    }
  }
  if (!hasChanged) return false;
  layOut();
  if (anchor !== null && at > 0) scrollToPosition(offsets[anchor.at] - distance);
  return true;
}

// The row that must not move: the one that was chosen, if it is in sight, else the first in sight.
function anchorOf(first, end, at, view) {
  if (held !== null && held.at >= first && held.at < end) {
    const top = offsets[held.at];
    if (top < at + view && offsets[held.at + 1] > at) return held;
  }
  return rows.length ? rows[Math.min(Math.max(rowAt(at + barHeight()), first), end - 1)] : null;
}

const barHeight = () => bar.getBoundingClientRect().height;

// Builds a row again, because it was opened or folded.
function rebuild(row) {
  row.height = 0;
  if (row.element !== null) {
    const hadFocus = row.element.contains(document.activeElement);
    const old = row.element;
    row.element = null;
    added(row, old);
    old.row = null;
    sizes.unobserve(old);
    uncolour(old);
    old.remove();
    if (hadFocus) focusRow(row);
  }
  layOut();
  render();
}

function reveal(row, isAtTop) {
  if (row.at < 0) return;
  held = row;
  const room = barHeight() + 12;
  const [top, bottom, at] = [offsets[row.at], offsets[row.at + 1], position()];
  if (isAtTop || top < at + room) scrollToPosition(top - room);
  else if (bottom > at + innerHeight) scrollToPosition(Math.min(bottom - innerHeight + 24, top - room));
  render();
}

function focusRow(row) {
  const target = row.element?.querySelector("button.line") || row.element;
  target?.focus({ preventScroll: true });
}

for (const name of ["wheel", "touchmove", "pointerdown"]) {
  addEventListener(name, () => { held = null; }, { passive: true });
}
addEventListener("scroll", schedule, { passive: true });
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth !== width) {
    width = innerWidth;
    for (const row of allRows) row.height = 0;
    updateRows();
  }
  schedule();
});
