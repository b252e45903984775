// Formulas that are wider than a sheet of paper are set smaller while the page is printed: nothing breaks them, and a browser would shrink all of it.
(() => {
  const SHEET = 640;
  const fit = (math) => { const width = math.getBoundingClientRect().width; if (width > SHEET) math.style.fontSize = `${106 * SHEET / width}%`; };
  addEventListener("beforeprint", () => { for (const math of document.querySelectorAll("math")) fit(math); });
  addEventListener("afterprint", () => { for (const math of document.querySelectorAll("math")) math.style.fontSize = ""; });
})();
