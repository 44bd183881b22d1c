// Nodes become elements. A node is a text or [tag, detail, ...children], as nodes.py describes. Only these tags
// exist, no attribute comes from the recording but the address of a link, and no markup is ever parsed.

const TAGS = new Set(("a blockquote br code dd del details div dl dt em h3 h4 h5 h6 hr li ol p pre span strong "
  + "summary table tbody td th thead tr ul").split(" "));
const ADDRESS = /^https?:\/\/[^\s]{1,2000}$/i;

function built(node) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, detail, ...children] = node;
  if (!TAGS.has(tag)) throw new Error("unknown tag");
  const element = document.createElement(tag);
  if (tag === "a") {
    if (ADDRESS.test(detail)) {
      element.href = detail;
      element.rel = "noreferrer noopener";
      element.target = "_blank";
    }
  } else if (tag === "ol") {
    if (detail) element.start = Number(detail);
  } else if (detail) {
    element.className = detail;
  }
  for (const child of children) element.append(built(child));
  return element;
}

// An element of the page itself: make("button", { class: "x", "aria-expanded": "false" }, "Open")
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// Makes what scrolls sideways reachable with the keyboard; not all browsers do.
function makeReachable(element) {
  for (const each of element.querySelectorAll("pre.code, pre.output, .diff, .prose table")) {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
    else each.removeAttribute("tabindex");
  }
}

const BLOCKS = new Set(("blockquote br dd details div dl dt h3 h4 h5 h6 hr li ol p pre summary table td th tr ul")
  .split(" "));

// The text of nodes, as the search reads it.
function textOf(nodes) {
  const parts = [];
  const add = (node) => {
    if (typeof node === "string") { parts.push(node); return; }
    const isBlock = BLOCKS.has(node[0]);
    if (isBlock) parts.push("\n");
    if (node[1] !== "numbers") for (let at = 2; at < node.length; at++) add(node[at]);
    if (isBlock) parts.push("\n");
  };
  nodes.forEach(add);
  return parts.join("");
}
