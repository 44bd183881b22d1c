// The entries of the session, and their contents, which are inflated when they are needed.

const meta = JSON.parse(document.querySelector("script.meta").textContent);
const entries = [];
for (const piece of document.querySelectorAll("script.rows")) {
  for (const entry of JSON.parse(piece.textContent)) entries.push(entry);
  piece.remove();
}
entries.forEach((entry, index) => { entry.index = index; });
const calls = entries.filter((entry) => entry.k === "call");
const callByNumber = new Map(calls.map((call) => [call.n, call]));
const chunkCount = document.querySelectorAll("script[id^='chunk-']").length;

const SIGNS = {
  running: "◐", succeeded: "✓", failed: "✗", rejected: "⊘", cancelled: "⊖", returned: "↵", unfinished: "◌",
};
const MOST_KEPT = 6;  // inflated chunks, of about 1 MB each
const kept = new Map();  // by the number of a chunk, the least recently used first
const ready = new Map();  // the lines of the kept chunks that are inflated

const chunkScript = (number) => document.getElementById(`chunk-${number}`);
const isPlain = chunkCount > 0 && chunkScript(0).type !== "text/plain";  // a small page is not compressed
if (isPlain) for (let number = 0; number < chunkCount; number++) ready.set(number, chunkScript(number).text.split("\n"));

async function inflated(number) {
  if (isPlain) return chunkScript(number).text;
  const packed = atob(chunkScript(number).text);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at++) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function chunkLines(number) {
  let lines = kept.get(number);
  if (lines === undefined) {
    lines = inflated(number).then((text) => {
      const found = text.split("\n");
      if (kept.has(number)) ready.set(number, found);
      return found;
    });
  }
  kept.delete(number);
  kept.set(number, lines);
  if (kept.size > MOST_KEPT) {
    const oldest = kept.keys().next().value;
    kept.delete(oldest);
    ready.delete(oldest);
  }
  return lines;
}

// The content of an entry: its nodes if its chunk is inflated, else null.
function contentNow(entry) {
  if (entry.c === undefined) return [];
  const lines = ready.get(entry.c);
  return lines === undefined ? null : JSON.parse(lines[entry.s]);
}

async function content(entry) {
  if (entry.c === undefined) return [];
  return JSON.parse((await chunkLines(entry.c))[entry.s]);
}

function clock(ms) {
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 59950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (number) => String(number).padStart(2, "0");
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

// The local time of whoever exported the session, at a number of milliseconds after its start.
function timeOfDay(ms) {
  if (meta.first === null || ms === undefined) return "";
  const date = new Date(meta.first + ms + meta.zone * 60000);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(11, 19);
}
