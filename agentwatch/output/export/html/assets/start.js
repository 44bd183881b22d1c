// Builds the page around its parts, and shows it.

const toolButton = (words, act, attributes = {}) => {
  const button = make("button", { type: "button", ...attributes }, words);
  button.addEventListener("click", act);
  return button;
};
const thoughtsButton = toolButton("Thinking", showThoughts, { "aria-pressed": "false", title: "t" });
const wrapButton = toolButton("Wrap", wrapLines, { "aria-pressed": "false", title: "w" });
const themeButton = toolButton("Dark", switchColours);
const helpButton = toolButton("Keys", showHelp, { title: "?" });
const failures = calls.filter(isFailure).length;
const failureButton = toolButton(`Next failure`, () => goToCall(callFrom(1, isFailure)), { class: "failed", title: "e" });
const searchForm = make("form", { role: "search" }, findField, findStatus,
  toolButton("‹", () => nextFound(-1), { "aria-label": "Previous match", title: "N" }),
  toolButton("›", () => nextFound(1), { "aria-label": "Next match", title: "n" }));
searchForm.addEventListener("submit", (event) => event.preventDefault());
const bar = make("div", { class: "bar" },
  make("div", { class: "time" }, canvas, stripWords),
  make("div", { class: "tools" }, searchForm,
    make("div", { class: "buttons", role: "toolbar", "aria-label": "View" },
      ...(failures ? [failureButton] : []),
      ...(entries.some((entry) => entry.k === "reasoning") ? [thoughtsButton] : []),
      wrapButton, themeButton, helpButton)));

function filterButtons() {
  for (const count of document.querySelectorAll("#top [data-filter]")) {
    const button = make("button", { type: "button", class: count.className, "data-filter": count.dataset.filter,
      "aria-pressed": "false", title: "Filter the calls" }, count.textContent);
    button.addEventListener("click", () => {
      setFilter(button.getAttribute("aria-pressed") === "true" ? "" : count.dataset.filter);
    });
    count.replaceWith(button);
  }
}

function start() {
  const filterForm = make("form", { class: "filter" }, filterField, filterStatus);
  filterForm.addEventListener("submit", (event) => event.preventDefault());
  const main = document.getElementById("main");
  main.replaceChildren(
    make("nav", { "aria-labelledby": "calls-title" }, make("h2", { id: "calls-title", class: "hidden" }, "Calls"),
      filterForm, grid),
    make("section", { id: "transcript", tabindex: "-1", "aria-labelledby": "transcript-title" },
      make("h2", { id: "transcript-title", class: "hidden" }, "Transcript"), feed));
  main.before(bar, stripTable());
  document.body.prepend(make("a", { class: "skip", href: "#transcript" }, "Skip to the transcript"));
  document.body.append(help);
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  themeButton.textContent = isDark ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", `Use ${isDark ? "light" : "dark"} colours`);
  layOutTime();
  canvas.setAttribute("aria-label", stripSentence());
  new ResizeObserver(() => {
    document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`);
    drawStrip();
  }).observe(bar);
  filterButtons();
  setFilter("");
  updateRows();
  openHash();
  if (!isPlain && chunkCount <= MOST_KEPT) for (let chunk = 0; chunk < chunkCount; chunk++) chunkLines(chunk);
  document.documentElement.dataset.ready = "1";
}

start();
