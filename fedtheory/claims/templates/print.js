// While a page is printed what is closed is open, and formulas that are wider than a sheet of paper are set smaller: nothing breaks them, and a browser
// would shrink all of it.
(() => {
  const SHEET = 640;
  let closed = [];
  const fit = (math) => { const width = math.getBoundingClientRect().width; if (width > SHEET) math.style.fontSize = `${106 * SHEET / width}%`; };
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")].filter((one) => !one.closest("[hidden]"));
    for (const one of closed) one.open = true;
    for (const math of document.querySelectorAll("math")) fit(math);
  });
  addEventListener("afterprint", () => {
    for (const one of closed) one.open = false;
    for (const math of document.querySelectorAll("math")) math.style.fontSize = "";
  });
})();
