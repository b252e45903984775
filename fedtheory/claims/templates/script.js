(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("change", (event) => { document.documentElement.dataset.theme = event.target.value; });
  const form = document.getElementById("filters");
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const claim = target && target.closest("details.claim");
    if (!claim) return;
    if (claim.hidden) { form.reset(); filter(); write(form.elements.text); }
    claim.open = true;
    claim.scrollIntoView();
  };
  const claims = all("details.claim");
  const cells = new Map(all("a.c").map((cell) => [cell.dataset.c, cell]));
  const filter = () => {
    const asked = Object.fromEntries(new FormData(form));
    const words = asked.text.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const claim of claims) {
      const has = claim.dataset;
      let shown = ["paper", "kind", "word"].every((name) => !asked[name] || asked[name] === has[name]);
      if (shown && words.length) {
        const text = has.text + " " + claim.textContent.toLowerCase();
        shown = words.every((word) => text.includes(word));
      }
      claim.hidden = !shown;
      count += shown;
      const cell = cells.get(has.c);
      if (cell) cell.classList.toggle("out", !shown);
    }
    for (const section of all("section.word, section.paper")) {
      const shown = all("details.claim:not([hidden])", section).length;
      section.hidden = !shown;
      section.querySelector("[data-count]").textContent = shown;
    }
    form.querySelector("output").textContent = `${count} of ${claims.length} claims`;
  };
  const names = ["paper", "kind", "word", "text"];
  const read = () => {
    const asked = new URLSearchParams(location.search);
    for (const name of names) form.elements[name].value = asked.get(name) || "";
    filter();
  };
  const write = (field) => {
    const asked = new URLSearchParams([...new FormData(form)].filter(([name, value]) => names.includes(name) && value));
    const address = location.pathname + (asked.size ? "?" + asked : "") + location.hash;
    try {
      if (field.name === "text") history.replaceState(null, "", address);
      else history.pushState(null, "", address);
    } catch { /* some browsers keep the address of a file as it is */ }
  };
  if (form) {
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (event) => { filter(); write(event.target); });
    addEventListener("popstate", read);
    for (const button of all("button", form)) {
      button.addEventListener("click", () => { for (const claim of claims) if (!claim.hidden) claim.open = !!button.dataset.open; });
    }
    read();
    addEventListener("hashchange", reveal);
    reveal();
  }
})();
