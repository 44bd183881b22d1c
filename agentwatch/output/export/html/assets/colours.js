// Syntax colours, by ranges over the text of what is in sight: they cost no elements, and no bytes of the file.
// A browser without highlights shows the same text in one colour. Words, strings, numbers and comments have colours;
// one pattern for each family of languages finds them, in linear time.

const MOST_COLOURED = 1 << 16;  // characters of one text
const words = (text) => new Set(text.split(" "));
const NUMBER = "\\b\\d[\\w.]*";
const STRINGS = "\"(?:[^\"\\\\\\n]|\\\\.)*\"?|'(?:[^'\\\\\\n]|\\\\.)*'?";
const lexer = (comment, string, keywords, flags = "") => ({
  pattern: new RegExp(`(${comment})|(${string})|(${NUMBER})|([A-Za-z_]\\w*)`, `gs${flags}`), keywords: words(keywords),
});
const LEXERS = {
  python: lexer("#[^\\n]*", `[rbf]{0,2}"""(?:(?!""").)*(?:""")?|[rbf]{0,2}'''(?:(?!''').)*(?:''')?|${STRINGS}`,
    "and as assert async await break case class continue def del elif else except False finally for from global if "
    + "import in is lambda match None nonlocal not or pass raise return True try while with yield self"),
  posix: lexer("(?<![\\w$&{])#[^\\n]*", "\"(?:[^\"\\\\]|\\\\.)*\"?|'[^']*'?",
    "if then else elif fi for while until do done case esac in function return local export set cd echo exit sudo"),
  curly: lexer("//[^\\n]*|/\\*(?:(?!\\*/).)*(?:\\*/)?", `${STRINGS}|\`(?:[^\`\\\\]|\\\\.)*\`?`,
    "abstract as async await auto bool boolean break case catch chan char class const continue default defer delete do "
    + "double else enum export extends extern false final finally float fn for foreach from func function go goto if "
    + "impl implements import in instanceof int interface is let long loop map match mod move mut namespace new nil "
    + "null of override package private protected pub public range readonly return select self short signed sizeof "
    + "static string struct super switch this throw throws trait true try type typedef typeof undefined union unsafe "
    + "unsigned use using val var virtual void volatile when where while yield"),
  data: lexer("//[^\\n]*", STRINGS, "true false null"),
  settings: lexer("(?<!\\S)#[^\\n]*|(?<!\\S);[^\\n]*", STRINGS, "true false null yes no on off FROM RUN COPY CMD ENV"),
  query: lexer("--[^\\n]*|/\\*(?:(?!\\*/).)*(?:\\*/)?", "'(?:[^']|'')*'?",
    "add all alter and as asc begin by case commit constraint create default delete desc distinct drop else end exists "
    + "false foreign from full group having if in index inner insert into is join key left like limit not null offset "
    + "on or order outer primary references returning right rollback select set table then true union unique update "
    + "values view when where with", "i"),
  ruby: lexer("#[^\\n]*", STRINGS,
    "alias and begin break case class def defmodule do done else elsif end ensure false fn for function if in module my "
    + "next nil not or raise rescue return self sub super then true unless until use when while yield"),
};
const GROUPS = ["comment", "string", "number", "word"];
const canColour = Boolean(globalThis.CSS?.highlights && globalThis.Highlight);
const coloured = new Map();  // by the element of a row: its ranges, each with the name of its colour
const shades = new Map(canColour ? GROUPS.map((name) => [name, new Highlight()]) : []);
for (const [name, shade] of shades) CSS.highlights.set(name, shade);

// Colours the code in the element of a row. What was coloured in it before is forgotten.
function colour(element) {
  if (!canColour) return;
  uncolour(element);
  const ranges = [];
  for (const code of element.querySelectorAll("pre[class*='in-'], .diff[class*='in-'] > :is(.same, .added, .removed) > pre:not(.numbers)")) {
    const family = /\bin-(\w+)/.exec((code.closest(".diff") || code).className)?.[1];
    const text = code.firstChild;
    if (!Object.hasOwn(LEXERS, family) || text?.nodeType !== Node.TEXT_NODE) continue;
    if (text.length <= MOST_COLOURED) colourText(text, LEXERS[family], ranges);
  }
  for (const [name, range] of ranges) shades.get(name).add(range);
  if (ranges.length) coloured.set(element, ranges);
}

function uncolour(element) {
  for (const [name, range] of coloured.get(element) || []) shades.get(name).delete(range);
  coloured.delete(element);
}

function colourText(text, { pattern, keywords }, ranges) {
  pattern.lastIndex = 0;
  const isCaseless = pattern.ignoreCase;
  for (let found = pattern.exec(text.data); found !== null; found = pattern.exec(text.data)) {
    const group = GROUPS[found.slice(1).findIndex((part) => part !== undefined)];
    if (group === "word" && !keywords.has(isCaseless ? found[0].toLowerCase() : found[0])) continue;
    const range = new StaticRange({
      startContainer: text, startOffset: found.index, endContainer: text, endOffset: found.index + found[0].length,
    });
    ranges.push([group, range]);
  }
}
