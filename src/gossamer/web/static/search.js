// Suggestions and results while typing, "/" to focus the box, near-duplicates in place, and counting of clicks if it is
// on. Every page works without this script.
"use strict";

// ---- suggestions: an editable combobox with a listbox, as ARIA 1.2 describes it ----

function combobox(form) {
  const input = form.querySelector("input[type=search]");
  const list = document.createElement("ul");
  const said = document.createElement("p");
  let typed = input.value;
  let selected = -1;
  let timer = 0;
  let waiting = null;

  list.id = "suggestions";
  list.className = "suggestions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  said.className = "hidden";
  said.setAttribute("role", "status");
  form.append(list, said);
  input.setAttribute("role", "combobox");
  input.setAttribute("autocomplete", "off");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");

  function close() {
    clearTimeout(timer);
    waiting?.abort();
    list.hidden = true;
    selected = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function show(suggestions) {
    close();
    list.replaceChildren(
      ...suggestions.map((text, index) => {
        const option = document.createElement("li");
        option.id = `suggestion-${index}`;
        option.textContent = text;
        option.dir = "auto";
        option.setAttribute("role", "option");
        option.setAttribute("aria-selected", "false");
        return option;
      }),
    );
    list.hidden = suggestions.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    said.textContent = suggestions.length === 1 ? "1 suggestion" : `${suggestions.length} suggestions`;
  }

  // Positions go round: -1 is the text as it was typed.
  function select(index) {
    const options = list.children;
    options[selected]?.setAttribute("aria-selected", "false");
    selected = index >= options.length ? -1 : index < -1 ? options.length - 1 : index;
    const option = options[selected];
    option?.setAttribute("aria-selected", "true");
    if (option) {
      input.setAttribute("aria-activedescendant", option.id);
    } else {
      input.removeAttribute("aria-activedescendant");
    }
    input.value = option ? option.textContent : typed;
  }

  async function ask() {
    waiting = new AbortController();
    try {
      const address = `${form.dataset.suggest}${form.dataset.suggest.includes("?") ? "&" : "?"}${new URLSearchParams({ q: typed })}`;
      const answer = await fetch(address, { signal: waiting.signal });
      const [query, suggestions] = answer.ok ? await answer.json() : [typed, []];
      if (query === typed.trim() && document.activeElement === input) {
        show(suggestions.filter((text) => text !== query));
      }
    } catch {
      // Aborted, or out of reach: no suggestions, no harm.
    }
  }

  function changed() {
    typed = input.value;
    close();
    if (typed.trim()) {
      timer = setTimeout(ask, 100);
    }
  }

  input.addEventListener("input", changed);
  // Somebody may have typed before this script arrived.
  if (document.activeElement === input && input.value !== input.defaultValue) {
    changed();
  }

  input.addEventListener("keydown", (event) => {
    if (event.isComposing) {
      return;
    }
    if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      input.value = typed;
      close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (!list.hidden) {
        event.preventDefault();
        select(selected + step);
      } else if (step === 1 && input.value.trim()) {
        event.preventDefault();
        typed = input.value;
        ask();
      }
    }
  });

  // Before the click, the box would lose the focus and the list would be gone.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) {
      input.value = option.textContent;
      close();
      form.requestSubmit();
    }
  });
  input.addEventListener("blur", close);
  form.addEventListener("submit", close);
}

// ---- results while typing: the page of results follows the box, and so does its address, which can be shared ----

function follower(form) {
  const input = form.querySelector("input[type=search]");
  const main = document.getElementById("main");
  const said = document.createElement("p");
  let timer = 0;
  let waiting = null;

  said.className = "hidden";
  said.setAttribute("role", "status");
  form.append(said);

  function stop() {
    clearTimeout(timer);
    waiting?.abort();
  }

  // The browser reads the page as a document: no text becomes markup here, which our policy would not allow.
  function ask() {
    const address = `${form.action}?${new URLSearchParams(new FormData(form))}`;
    waiting = new XMLHttpRequest();
    waiting.responseType = "document";
    waiting.addEventListener("load", (event) => show(event.target, address));
    // The server does not count what is only typed as asked.
    waiting.open("GET", `${address}&typing=1`);
    waiting.send();
  }

  function show(answer, address) {
    const page = answer.status === 200 ? answer.response : null;
    const fresh = page?.getElementById("main");
    if (!fresh || document.activeElement !== input) {
      return; // out of reach, or somebody went on: the results stay as they were
    }
    main.replaceChildren(...fresh.childNodes);
    document.querySelector("footer")?.replaceChildren(...page.querySelector("footer").childNodes);
    document.title = page.title;
    history.replaceState(null, "", address);
    said.textContent = main.querySelector("h1")?.textContent ?? "";
    enhance(main);
  }

  input.addEventListener("input", (event) => {
    stop();
    if (!event.isComposing && input.value.trim()) {
      timer = setTimeout(ask, 350);
    }
  });
  form.addEventListener("submit", stop);
}

// ---- near-duplicates: the link becomes a list that opens in place ----

function expander(link) {
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  const list = document.createElement("ul");
  details.className = "similar";
  summary.textContent = link.textContent;
  details.append(summary, list);
  details.addEventListener("toggle", () => fill(list, link), { once: true });
  link.replaceWith(details);
}

async function fill(list, link) {
  try {
    const answer = await fetch(link.dataset.source);
    const { hits } = answer.ok ? await answer.json() : { hits: [] };
    list.replaceChildren(...hits.map(copy));
  } catch {
    list.replaceChildren();
  }
  if (!list.children.length) {
    const item = document.createElement("li");
    link.textContent = "Show them in the results";
    item.append(link);
    list.append(item);
  }
}

function copy(hit) {
  const item = document.createElement("li");
  const name = document.createElement(/^https?:\/\//i.test(hit.url) ? "a" : "span");
  if (name.tagName === "A") {
    name.href = hit.url;
    name.rel = "noopener noreferrer";
  }
  name.textContent = hit.title || hit.url;
  name.dir = "auto";
  name.lang = hit.lang || "";
  item.append(name, ` ${hit.site}`);
  return item;
}

// ---- clicks: only where the operator asked for it, and never for readers who do not want to be followed ----
// Without this script the browser tells by itself (the attribute `ping` of the links). Here the script does: it knows
// near-duplicates, too, and works where browsers send no pings.

function tell(list, event) {
  const link = event.target.closest("a[rel~=noopener]");
  if (link && event.button < 2) {
    // With a type of its own, so that no foreign page can send it, and browsers tell where it comes from.
    navigator.sendBeacon(list.dataset.clicks, new Blob([link.getAttribute("href")], { type: "text/uri-list" }));
  }
}

// ---- start ----

function enhance(part) {
  for (const link of part.querySelectorAll("a.similar")) {
    expander(link);
  }
  for (const link of part.querySelectorAll("[data-clicks] a[ping]")) {
    link.removeAttribute("ping");
  }
  if (navigator.doNotTrack !== "1" && !navigator.globalPrivacyControl) {
    for (const list of part.querySelectorAll("[data-clicks]")) {
      list.addEventListener("click", (event) => tell(list, event));
      list.addEventListener("auxclick", (event) => tell(list, event));
    }
  }
}

for (const form of document.querySelectorAll("form[data-suggest]")) {
  combobox(form);
}
if (document.body.classList.contains("found") && !navigator.connection?.saveData) {
  for (const form of document.querySelectorAll("form[data-suggest]")) {
    follower(form);
  }
}
enhance(document);
document.addEventListener("keydown", (event) => {
  const busy = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !busy && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    const input = document.getElementById("q");
    input?.focus();
    input?.select();
  }
});
