// The time strip: calls as bars and ticks, failures marked, silences shortened and labelled. A click seeks.

const MOST_SILENCE = 0.06;  // the share of the strip that a silence may take
const SILENCE_MS = 2000;

const canvas = make("canvas", { class: "strip", role: "img" });
const stripWords = make("p", { class: "strip-words", "aria-hidden": "true" });
let axis = null;  // pairs of a time and its place, from 0 to 1
let silences = [];  // [start, end, ms]
let colours = null;

// The times at which something began or ended, in order.
function eventTimes() {
  const times = [];
  for (const { b, e } of entries) {
    if (b !== undefined) times.push(b);
    if (e !== undefined) times.push(e);
  }
  return Float64Array.from(times).sort();
}

// Lays out time. Without times, calls are evenly spaced by their order.
function layOutTime() {
  const times = eventTimes();
  if (times.length < 2 || times.at(-1) <= times[0]) return;
  const gaps = [...times.slice(1)].map((time, at) => time - times[at]);
  const total = times.at(-1) - times[0];
  let most = total;
  for (let round = 0; round < 12; round++) {  // the limit depends on what it leaves
    const sum = gaps.reduce((all, gap) => all + Math.min(gap, most), 0);
    most = Math.max(sum * MOST_SILENCE, SILENCE_MS);
  }
  axis = [[times[0], 0]];
  let at = 0;
  const busy = busySpans();
  gaps.forEach((gap, nth) => {
    at += Math.min(gap, most);
    axis.push([times[nth + 1], at]);
    if (gap > most && !busy(times[nth], times[nth + 1])) silences.push([times[nth], times[nth + 1], gap]);
  });
  for (const pair of axis) pair[1] /= at;
}

// Returns whether a call ran during a span in which nothing began or ended.
function busySpans() {
  const spans = calls.filter((call) => call.b !== undefined && call.e !== undefined && call.e - call.b > SILENCE_MS);
  return (start, end) => spans.some((call) => call.b <= start && call.e >= end);
}

function placeOfTime(time) {
  let [low, high] = [0, axis.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (axis[middle][0] < time) low = middle + 1;
    else high = middle;
  }
  if (low === 0 || axis[low][0] === time) return axis[low][1];
  const [[t0, p0], [t1, p1]] = [axis[low - 1], axis[low]];
  return time >= t1 ? p1 : p0 + (p1 - p0) * (time - t0) / (t1 - t0);
}

// The place of an entry on the strip, from 0 to 1.
function placeOn(entry, time) {
  if (axis === null) return (entry.index + 0.5) / Math.max(entries.length, 1);
  return time === undefined ? null : placeOfTime(time);
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  colours = Object.fromEntries(
    ["text", "muted", "accent", "failed", "rejected", "rule", "running"].map((name) =>
      [name, style.getPropertyValue(`--${name}`).trim()]));
  // light-dark() is not resolved in a custom property: ask an element that uses it
  const probe = make("i", { class: "probe" });
  document.body.append(probe);
  for (const name of Object.keys(colours)) {
    probe.style.color = `var(--${name})`;
    colours[name] = getComputedStyle(probe).color;
  }
  probe.remove();
}

function drawStrip() {
  const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
  if (!wide || !high) return;
  if (colours === null) readColours();
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(wide * ratio)) canvas.width = Math.round(wide * ratio);
  if (canvas.height !== Math.round(high * ratio)) canvas.height = Math.round(high * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, wide, high);
  const x = (place) => 6 + place * (wide - 12);
  const middle = high / 2 + 3;
  pen.fillStyle = colours.rule;
  pen.fillRect(6, middle - 0.5, wide - 12, 1);
  drawSilences(pen, x, middle);
  drawCalls(pen, x, middle);
  drawView(pen, x, high);
}

function drawSilences(pen, x, middle) {
  pen.font = "10px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.fillStyle = colours.muted;
  for (const [start, end, ms] of silences) {
    const [from, to] = [x(placeOfTime(start)), x(placeOfTime(end))];
    const words = clock(ms);
    if (to - from < pen.measureText(words).width + 8) continue;
    const half = pen.measureText(words).width / 2 + 3;
    pen.clearRect((from + to) / 2 - half, middle - 2, 2 * half, 4);
    pen.fillText(words, (from + to) / 2, middle + 3.5);
  }
}

function drawCalls(pen, x, middle) {
  const marks = new Map();  // by the pixel: whether a call failed there, else one was rejected
  const ends = new Map();  // by the pixel, the number of calls that ended there
  pen.globalAlpha = 0.3;
  for (const call of calls) {
    const [from, to] = [placeOn(call, call.b), placeOn(call, call.e ?? call.b)];
    if (from === null && to === null) continue;
    const [left, right] = [x(from ?? to), x(to ?? from)];
    const at = Math.round(right);
    const isBad = call.o === "failed" || call.v < 0;
    if (isBad || call.o === "rejected") marks.set(at, isBad || marks.get(at) === true);
    else ends.set(at, (ends.get(at) || 0) + 1);
    pen.fillStyle = call.o === "running" ? colours.running : colours.accent;
    if (right - left > 1.5) pen.fillRect(left, middle - 3, right - left, 6);
  }
  const most = Math.max(...ends.values(), 1);
  const isDense = ends.size > (x(1) - x(0)) / 4;
  pen.fillStyle = colours.accent;
  pen.globalAlpha = isDense ? 0.45 : 1;
  for (const [at, count] of ends) {
    const half = isDense ? 2 + 5 * Math.sqrt(count / most) : 6;
    pen.fillRect(at - 0.5, middle - half, isDense ? 1 : 1.5, 2 * half);
  }
  pen.globalAlpha = 1;
  drawMarks(pen, marks, middle, isDense);
}

// Failures and rejections have a sign; where there is no room for one, a line.
function drawMarks(pen, marks, middle, isDense) {
  pen.textAlign = "center";
  pen.font = "bold 11px system-ui, sans-serif";
  let last = -20;
  for (const at of [...marks.keys()].sort((one, other) => one - other)) {
    const isBad = marks.get(at);
    pen.fillStyle = isBad ? colours.failed : colours.rejected;
    pen.globalAlpha = isDense ? 0.6 : 1;
    pen.fillRect(at - (isDense ? 0.5 : 1), middle - 8, isDense ? 1 : 2, isDense ? 8 : 16);
    pen.globalAlpha = 1;
    if (at - last > (isDense ? 48 : 9)) {
      pen.fillText(isBad ? "✗" : "⊘", at, middle - 9);
      last = at;
    }
  }
}

// Marks what is in sight, and the chosen call.
function drawView(pen, x, high) {
  const shown = rowsInSight();
  if (shown !== null) {
    const [from, to] = shown.map((row) => placeOn(row.entry, row.entry.e ?? row.entry.b));
    if (from !== null && to !== null) {
      pen.fillStyle = colours.muted;
      pen.fillRect(x(from) - 1, high - 3, Math.max(x(to) - x(from), 4), 2);
    }
  }
  if (selected === null) return;
  const at = placeOn(selected.entry, selected.entry.e ?? selected.entry.b);
  if (at === null) return;
  pen.fillStyle = colours.text;
  pen.beginPath();
  pen.arc(x(at), high - 2.5, 2.5, 0, 2 * Math.PI);
  pen.fill();
}

// The first and the last row with a time in sight; null without any.
function rowsInSight() {
  if (!rows.length) return null;
  const at = position();
  const [first, last] = [rowAt(at + barHeight()), rowAt(at + innerHeight)];
  const timed = rows.slice(first, last + 1).filter((row) => axis === null || row.entry.b !== undefined);
  return timed.length ? [timed[0], timed.at(-1)] : null;
}

function callNear(event) {
  const box = canvas.getBoundingClientRect();
  const place = (event.clientX - box.left - 6) / (box.width - 12);
  let [found, least] = [null, Infinity];
  for (const call of calls) {
    const at = placeOn(call, call.e ?? call.b);
    if (at === null) continue;
    const distance = Math.abs(at - place) - (call.o === "failed" ? 4 / box.width : 0);
    if (distance < least) [found, least] = [call, distance];
  }
  return found;
}

function stripSentence() {
  const failed = calls.filter((call) => call.o === "failed").length;
  const long = silences.length ? `, longest silence ${clock(Math.max(...silences.map((each) => each[2])))}` : "";
  const span = axis === null ? "" : ` over ${clock(axis.at(-1)[0] - axis[0][0])}`;
  return `Time strip: ${calls.length} calls${span}, ${failed} failed${long}`;
}

// What the strip shows, for screen readers: failures and silences, the first of each.
function stripTable() {
  const facts = [];
  for (const call of calls) {
    if (call.o === "failed" || call.o === "rejected" || call.v < 0) {
      facts.push([call.b ?? Infinity, timeOfDay(call.b), `call ${call.n} ${call.g || call.t}: ${resultWords(call)}`]);
    }
  }
  for (const [start, , ms] of silences) facts.push([start, timeOfDay(start), `silence of ${clock(ms)}`]);
  facts.sort((one, other) => one[0] - other[0]);
  const shown = facts.slice(0, 50);
  if (facts.length > shown.length) shown.push([0, "", `and ${facts.length - shown.length} more`]);
  return make("div", { class: "hidden" }, make("table", {}, make("caption", {}, stripSentence()),
    make("tbody", {}, ...shown.map(([, time, words]) =>
      make("tr", {}, make("th", { scope: "row" }, time), make("td", {}, words))))));
}

canvas.addEventListener("click", (event) => {
  const call = callNear(event);
  if (call !== null) goToCall(call, { focuses: false });
});
canvas.addEventListener("pointermove", (event) => {
  const call = callNear(event);
  stripWords.textContent = call === null ? "" : [timeOfDay(call.e ?? call.b),
    `${SIGNS[call.o]} #${call.n} ${call.g || call.p || call.t}`, resultWords(call)].filter(Boolean).join(" · ");
});
canvas.addEventListener("pointerleave", () => { stripWords.textContent = ""; });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colours = null; drawStrip(); });
