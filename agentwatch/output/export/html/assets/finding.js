// Search: at once in the list of calls, then in all contents, chunk by chunk, with a count that grows.

const findField = make("input", {
  type: "search", id: "find", placeholder: "Search everything  /", "aria-label": "Search everything",
  autocomplete: "off", spellcheck: "false",
});
const findStatus = make("span", { class: "status", role: "status" });
const find = { text: "", pattern: null, hits: [], run: 0, isDone: true, nth: -1, inRow: 0 };
const byChunk = [];
for (const entry of entries) if (entry.c !== undefined) (byChunk[entry.c] ||= []).push(entry);

// Words in order with any white space between them; upper case counts if the query has any, as on the screen.
function patternOf(text, flags) {
  const words = text.trim().split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(words.join("\\s+"), text === text.toLowerCase() ? `${flags}iu` : `${flags}u`);
}

function clearFind() {
  find.run++;
  Object.assign(find, { text: "", pattern: null, hits: [], isDone: true, nth: -1 });
  findStatus.textContent = "";
  for (const name of ["found", "current"]) globalThis.CSS?.highlights?.delete(name);
}

async function startFind(text) {
  if (text.trim() === find.text) return;
  clearFind();
  if (!text.trim()) return;
  const run = find.run;
  Object.assign(find, { text: text.trim(), pattern: patternOf(text, ""), isDone: false });
  const hits = new Set();
  for (const call of calls) {
    if (find.pattern.test(`${call.t}\n${call.p || ""} ${call.g || ""} ${call.r || ""}`)) hits.add(call.index);
  }
  const needles = find.text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) || [];
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    showFound(hits, chunk);
    const found = await inflated(chunk);
    if (run !== find.run) return;
    searchChunk(chunk, found, needles, hits);
    if (chunk % 4 === 3) await new Promise((go) => setTimeout(go));
  }
  if (run !== find.run) return;
  find.isDone = true;
  showFound(hits, chunkCount);
  markFound();
}

// A line can match only if it has all the words of the query, as they are written in JSON.
function searchChunk(chunk, found, needles, hits) {
  const all = found.toLowerCase();
  if (!needles.every((needle) => all.includes(needle))) return;
  const lines = found.split("\n");
  for (const entry of byChunk[chunk] || []) {
    if (hits.has(entry.index)) continue;
    const line = lines[entry.s];
    const lower = line.toLowerCase();
    if (!needles.every((needle) => lower.includes(needle))) continue;
    if (find.pattern.test(textOf(JSON.parse(line)))) hits.add(entry.index);
  }
}

function showFound(hits, done) {
  find.hits = [...hits].sort((one, other) => one - other);
  const count = find.hits.length;
  const places = `${count} ${count === 1 ? "place" : "places"}`;
  const nth = find.nth >= 0 && count ? `${Math.min(find.nth + 1, count)} of ` : "";
  findStatus.textContent = find.isDone
    ? count ? nth + places : "nothing found"
    : `${places} · ${Math.round(100 * done / Math.max(chunkCount, 1))} %`;
}

// Goes to the next match, or to the one before: in the row if it has more, else in the next place.
async function nextFound(by) {
  if (find.pattern === null) { findField.focus(); return; }
  if (!find.hits.length) return;
  const row = selected;
  const ranges = row !== null && row.element !== null && find.hits[find.nth] === row.entry.index
    ? foundIn(row.element) : [];
  if (find.inRow + by >= 0 && find.inRow + by < ranges.length) {
    find.inRow += by;
    showRange(ranges[find.inRow]);
    return;
  }
  const here = row === null ? -1 : row.entry.index;
  const later = find.hits.findIndex((index) => index > here);
  const atHit = find.hits.indexOf(here);
  if (by > 0) find.nth = later < 0 ? 0 : later;
  else if (atHit >= 0) find.nth = (atHit - 1 + find.hits.length) % find.hits.length;
  else find.nth = ((later < 0 ? find.hits.length : later) - 1 + find.hits.length) % find.hits.length;
  await showPlace(by);
}

async function showPlace(by) {
  const row = allRows[find.hits[find.nth]];
  showFound(find.hits, chunkCount);
  select(row, { opens: row.entry.k === "call" || row.entry.k === "reasoning", isAtTop: true });
  await row.filling;
  render();
  if (row.element === null || find.pattern === null) return;  // the search may have been cleared meanwhile
  const ranges = foundIn(row.element);
  find.inRow = by > 0 ? 0 : Math.max(ranges.length - 1, 0);
  if (ranges.length) showRange(ranges[find.inRow]);
}

// The matches in the text of an element, as ranges.
function foundIn(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const pieces = [];
  let [text, block] = ["", null];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const own = node.parentElement.closest("p, pre, li, td, th, dt, dd, h3, h4, h5, h6, summary, div");
    if (own.classList.contains("numbers")) continue;
    if (block !== null && own !== block) text += "\n";
    block = own;
    pieces.push([text.length, node]);
    text += node.data;
  }
  const ranges = [];
  const pattern = patternOf(find.text, "g");
  for (let found = pattern.exec(text); found !== null && ranges.length < 1000; found = pattern.exec(text)) {
    ranges.push(rangeOf(pieces, found.index, found.index + found[0].length));
  }
  return ranges;
}

function rangeOf(pieces, start, end) {
  const range = new Range();
  let at = pieces.findLastIndex(([from]) => from <= start);
  range.setStart(pieces[at][1], Math.min(start - pieces[at][0], pieces[at][1].length));
  at = pieces.findLastIndex(([from]) => from < end);
  range.setEnd(pieces[at][1], Math.min(end - pieces[at][0], pieces[at][1].length));
  return range;
}

function showRange(range) {
  const folded = range.startContainer.parentElement.closest("details:not([open])");
  if (folded !== null) folded.open = true;
  const scroller = range.startContainer.parentElement.closest("pre");
  if (scroller !== null) {
    const [inner, outer] = [range.getBoundingClientRect(), scroller.getBoundingClientRect()];
    if (inner.left < outer.left || inner.right > outer.right) scroller.scrollLeft += inner.left - outer.left - 80;
  }
  const box = range.getBoundingClientRect();
  const top = barHeight() + 40;
  held = null;
  if (box.top < top || box.bottom > innerHeight - 40) {
    scrollBy({ top: box.top - Math.max(top, innerHeight / 3), behavior: "instant" });
  }
  globalThis.CSS?.highlights?.set("current", new Highlight(range));
}

// Marks the matches in the rows that exist.
function markFound() {
  if (!globalThis.CSS?.highlights || find.pattern === null) return;
  const ranges = [];
  const hits = new Set(find.hits);
  for (const element of layer.children) {
    if (hits.has(element.row.entry.index) && ranges.length < 5000) ranges.push(...foundIn(element));
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

let finding = 0;
findField.addEventListener("input", () => {
  clearTimeout(finding);
  finding = setTimeout(() => startFind(findField.value), 200);
});
