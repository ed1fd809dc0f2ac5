
"use strict";
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const changes = [...document.querySelectorAll("#tree details.change")];
  const modules = [...document.querySelectorAll("#tree details.module")].reverse();
  const status = document.getElementById("count");
  const make = (name, properties, ...children) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };
  const tally = (key) => {
    const counts = new Map();
    for (const change of changes) {
      const value = change.dataset[key];
      counts.set(value, (counts.get(value) || 0) + 1);
    }
    return counts;
  };

  const search = make("input", { type: "search", placeholder: "Search (press /)", autocomplete: "off", spellcheck: false });
  search.setAttribute("aria-label", "Search the changes");
  const kinds = make("fieldset", {});
  kinds.setAttribute("aria-label", "Actions");
  const order = ["import", "add", "change", "replace", "destroy", "forget", "read", "move"];
  const found = tally("kind");
  for (const kind of order.filter((it) => found.has(it))) {
    const box = make("input", { type: "checkbox", value: kind });
    kinds.append(make("label", { className: "kind kind-" + kind }, box, `${kind} ${found.get(kind)}`));
  }
  const module = make("select", {}, make("option", { value: "*", textContent: "All modules" }));
  module.setAttribute("aria-label", "Module");
  for (const [name, count] of [...tally("module")].sort((a, b) => (a[0] < b[0] ? -1 : 1))) {
    module.append(make("option", { value: name, textContent: `${name || "(root module)"} (${count})` }));
  }
  const openAll = make("button", { type: "button", textContent: "Open all" });
  const closeAll = make("button", { type: "button", textContent: "Close all" });
  const key = (text) => make("kbd", { textContent: text });
  const keys = make("p", { className: "keys dim" }, key("/"), " search  ", key("j"), " ", key("k"),
    " next and previous change  ", key("Enter"), " open or close  ", key("Esc"), " clear the filters");
  form.append(search, kinds, module, openAll, closeAll, keys);
  if (module.options.length < 3) module.hidden = true;
  if (kinds.children.length < 2) kinds.hidden = true;
  form.hidden = false;

  const texts = new WeakMap();
  const text = (change) => {
    let known = texts.get(change);
    if (known === undefined) {
      known = (change.dataset.module + " " + change.textContent).toLowerCase();
      texts.set(change, known);
    }
    return known;
  };
  let shown = changes;
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = new Set([...kinds.querySelectorAll(":checked")].map((box) => box.value));
    shown = changes.filter((change) => {
      const fits = (wanted.size === 0 || wanted.has(change.dataset.kind)) &&
        (module.value === "*" || module.value === change.dataset.module) &&
        words.every((word) => text(change).includes(word));
      change.hidden = !fits;
      return fits;
    });
    for (const node of modules) {
      node.hidden = !node.querySelector(":scope > .inside > details:not([hidden])");
    }
    const all = shown.length === changes.length;
    status.textContent = all ? "" : `${shown.length} of ${changes.length} changes`;
  };
  const reset = () => {
    search.value = "";
    module.value = "*";
    for (const box of kinds.querySelectorAll(":checked")) box.checked = false;
    filter();
  };
  let pending = 0;
  search.addEventListener("input", () => {
    clearTimeout(pending);
    pending = setTimeout(filter, 80);
  });
  form.addEventListener("change", filter);
  form.addEventListener("submit", (event) => { event.preventDefault(); filter(); });
  const setAll = (open) => { for (const change of shown) change.open = open; };
  openAll.addEventListener("click", () => setAll(true));
  closeAll.addEventListener("click", () => setAll(false));

  const heading = (change) => change.querySelector("summary");
  const move = (step) => {
    if (shown.length === 0) return;
    const current = document.activeElement && document.activeElement.closest("#tree details.change");
    const at = shown.indexOf(current);
    const next = at < 0 ? (step > 0 ? 0 : shown.length - 1) : Math.min(Math.max(at + step, 0), shown.length - 1);
    for (let node = shown[next].parentElement; node; node = node.parentElement) {
      if (node.localName === "details") node.open = true;
    }
    heading(shown[next]).focus();
    heading(shown[next]).scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target.matches("input[type=search], select");
    if (event.key === "Escape") { reset(); if (isTyping) event.target.blur(); return; }
    if (isTyping) return;
    const onChange = event.target.matches("#tree details.change > summary");
    if (event.key === "/") search.focus();
    else if (event.key === "j" || (onChange && event.key === "ArrowDown")) move(1);
    else if (event.key === "k" || (onChange && event.key === "ArrowUp")) move(-1);
    else return;
    event.preventDefault();
  });

  const showTarget = () => {
    let node = null;
    try { node = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
    for (let at = node; at; at = at.parentElement) if (at.localName === "details") at.open = true;
    if (node && node.matches("details.change")) { heading(node).focus(); node.scrollIntoView({ block: "start" }); }
  };
  addEventListener("hashchange", showTarget);
  showTarget();
})();
