// The search box of another site's page. A form with the class gossamer-search leads to the search page; this script shows
// the results below the form instead. It writes text only, never HTML, and needs nothing else.
(() => {
  "use strict";
  const script = document.currentScript;
  const home = new URL(".", script.src);
  const styles = new CSSStyleSheet();
  styles.replaceSync(`
    :host { display: block; font: inherit; color: inherit; }
    a { color: var(--gossamer-link, #0b4f9c); }
    ol { list-style: none; margin: 0; padding: 0; }
    li { margin: var(--gossamer-gap, 1.25em) 0; }
    h3 { font-size: 1.1em; font-weight: 600; margin: 0; }
    p { margin: .2em 0 0; overflow-wrap: anywhere; }
    .where, .status { color: var(--gossamer-muted, #555); font-size: .9em; }
    mark { background: var(--gossamer-mark, #fdeaa8); color: inherit; }
    button { font: inherit; padding: .4em 1em; }
    :focus-visible { outline: 2px solid var(--gossamer-link, #0b4f9c); outline-offset: 2px; }
  `);

  const made = (name, text = "", className = "") => {
    const element = document.createElement(name);
    element.textContent = text;
    if (className) element.className = className;
    return element;
  };

  // Positions are those of characters, as a person counts them; a string of JavaScript counts some of them twice.
  const marked = (element, text, ranges) => {
    const characters = Array.from(text);
    let at = 0;
    for (const [start, end] of ranges) {
      element.append(characters.slice(at, start).join(""), made("mark", characters.slice(start, end).join("")));
      at = end;
    }
    element.append(characters.slice(at).join(""));
    return element;
  };

  const address = (text) => {
    try {
      const url = new URL(text);
      return url.protocol === "http:" || url.protocol === "https:" ? url : null;
    } catch {
      return null;
    }
  };

  const shown = (hit) => {
    const item = made("li"), heading = made("h3"), url = address(hit.url);
    const title = made(url ? "a" : "span");
    if (url) title.href = url.href;
    marked(title, hit.title || hit.url, hit.title ? hit.highlights.title : []);
    if (hit.lang) item.lang = hit.lang;
    item.dir = "auto";
    heading.append(title);
    item.append(heading, made("p", url ? url.host + url.pathname : hit.url, "where"));
    if (hit.excerpt) item.append(marked(made("p"), hit.excerpt, hit.highlights.excerpt));
    return item;
  };

  const enhance = (form) => {
    const input = form.elements.namedItem("q");
    if (!input) return;
    const host = made("div");
    const root = host.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [styles];
    const region = made("section");
    region.setAttribute("aria-label", "Search results");
    region.hidden = true;
    const status = made("p", "", "status"), list = made("ol"), more = made("button", "More results");
    status.setAttribute("role", "status");
    more.type = "button";
    region.append(status, list, more);
    root.append(region);
    form.after(host);
    let page = 0, asked = 0, query = "";

    const ask = async (number) => {
      const mine = ++asked;
      const wanted = new URLSearchParams(new FormData(form));
      wanted.set("q", query);
      wanted.set("page", number);
      wanted.set("facets", "0");
      wanted.set("size", "10");
      status.textContent = "Searching …";
      region.hidden = false;
      more.hidden = true;
      let found;
      try {
        const answer = await fetch(new URL(`api/v1/search?${wanted}`, home), { credentials: "omit" });
        found = await answer.json();
        if (!answer.ok) throw new Error(found.error);
      } catch (error) {
        if (mine === asked) failed(error);
        return;
      }
      if (mine !== asked) return;
      if (number === 1) list.replaceChildren();
      const items = found.hits.map(shown);
      list.append(...items);
      page = number;
      more.hidden = number >= found.pages;
      const counted = `${found.total.toLocaleString("en")} result${found.total === 1 ? "" : "s"} for “${query}”`;
      const other = found.attempt ? ` ${found.attempt.sentence}` : "";
      status.textContent = found.total ? counted + other : found.reason || `No results for “${query}”`;
      if (number > 1 && items.length) (items[0].querySelector("a") || more).focus();
    };

    const failed = (error) => {
      status.replaceChildren("The search does not answer here. ");
      const link = made("a", "Open the search page");
      link.href = new URL(`search?${new URLSearchParams({ q: query })}`, home).href;
      status.append(link, error instanceof TypeError ? "" : ` (${error.message})`);
      list.replaceChildren();
    };

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      query = input.value.trim();
      if (query) ask(1);
    });
    more.addEventListener("click", () => ask(page + 1));
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !region.hidden) {
        asked += 1;
        region.hidden = true;
        list.replaceChildren();
      }
    });
  };

  const start = () => document.querySelectorAll("form.gossamer-search").forEach(enhance);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
