// The help of the keys, and the switch of the colours.

const help = make("dialog", { "aria-labelledby": "help-title" });

function showHelp() {
  if (!help.firstChild) fillHelp();
  help.showModal();
}

function fillHelp() {
  const key = (name) => make("kbd", {}, name);
  const line = (names, words) => make("tr", {},
    make("th", { scope: "row" }, ...names.flatMap((name, at) => at ? [" ", key(name)] : [key(name)])),
    make("td", {}, words));
  const lines = KEYS.map(([one, other, words]) => line(other === null ? [one] : [one, other], words));
  lines.push(line(["enter"], "open or fold the chosen entry"), line(["esc"], "clear the search, the filter; fold the call"));
  const close = make("button", { type: "button", autofocus: "" }, "Close");
  close.addEventListener("click", () => help.close());
  help.append(
    make("h2", { id: "help-title" }, "Keys"),
    make("table", {}, make("tbody", {}, ...lines)),
    make("p", { class: "note" }, "A link to a call ends in its number: …html#12"),
    close);
}

help.addEventListener("click", (event) => { if (event.target === help) help.close(); });

function switchColours() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  themeButton.textContent = isDark ? "Dark" : "Light";
  themeButton.setAttribute("aria-label", `Use ${isDark ? "dark" : "light"} colours`);
  colours = null;
  drawStrip();
}
