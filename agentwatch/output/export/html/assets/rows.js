// The rows of the transcript: one for each entry, and one for the entries of each subagent, which it folds.

const MOST_LEVELS = 3;

// The main agent's call that an entry is below, and how deep. 0 if it is the main agent's, or the call is not here.
function placeOf(entry) {
  let [number, level] = [entry.u, 0];
  if (number === undefined) return [0, 0];
  for (;;) {
    const call = callByNumber.get(number);
    level = Math.min(level + 1, MOST_LEVELS);
    if (call === undefined || call === entry) return [0, level];
    if (call.u === undefined || call.u >= call.n) return [number, level];
    number = call.u;
  }
}

class Row {
  constructor(entry, root, level) {
    this.entry = entry;
    this.root = root;
    this.level = level;
    this.isHead = false;
    this.isOpen = false;
    this.height = 0;  // 0 until it is measured
    this.element = null;
    this.at = -1;  // its place among the rows that are shown
  }

  get isCall() { return !this.isHead && this.entry.k === "call"; }
}

const allRows = entries.map((entry) => new Row(entry, ...placeOf(entry)));
const heads = new Map();
for (const row of allRows) {
  if (!row.root) continue;
  let head = heads.get(row.root);
  if (head === undefined) {
    head = new Row(callByNumber.get(row.root), row.root, 0);
    head.isHead = true;
    head.calls = head.messages = 0;
    head.before = row;
    heads.set(row.root, head);
  }
  head.calls += row.entry.k === "call";
  head.messages += row.entry.k === "answer";
}

const rowOf = (entry) => allRows[entry.index];

// The rows that are shown, in order. With a filter for the transcript, only the calls that it selects.
function shownRows(selects) {
  const shown = [];
  for (const row of allRows) {
    if (selects !== null) {
      if (row.isCall && selects(row.entry)) shown.push(row);
      continue;
    }
    const head = heads.get(row.root);
    if (head !== undefined) {
      if (head.before === row) shown.push(head);
      if (!head.isOpen) continue;
    }
    shown.push(row);
  }
  return shown;
}

function headWords(head) {
  const count = (number, noun) => number ? [`${number} ${noun}${number === 1 ? "" : "s"}`] : [];
  const counts = [...count(head.calls, "call"), ...count(head.messages, "message")];
  return `${head.entry.g || head.entry.t || "subagent"} · ${counts.join(", ") || "no calls yet"}`;
}

// Whether the words of a filter select a call, as the filter of the screen does.
function filterOf(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const outcomes = words.filter((word) => Object.hasOwn(SIGNS, word));
  const others = words.filter((word) => !Object.hasOwn(SIGNS, word));
  return (call) => {
    if (outcomes.length && !outcomes.includes(call.o)) return false;
    const searched = `#${call.n}\n${call.t}\n${call.g || ""}`.toLowerCase();
    return others.every((word) => isWordOf(word, call, searched));
  };
}

function isWordOf(word, call, searched) {
  if (!word.startsWith("agent:")) {
    return searched.includes(word) || (word.length >= 3 && call.o.startsWith(word));
  }
  const agent = word.slice(6).replace("#", "");
  if (!agent || call.u === undefined) return "main".startsWith(agent);
  if (/^\d+$/.test(agent)) return String(call.u) === agent;
  const parent = callByNumber.get(call.u);
  return parent !== undefined && `${parent.t}\n${parent.g || ""}`.toLowerCase().includes(agent);
}
