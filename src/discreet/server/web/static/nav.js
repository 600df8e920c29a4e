// On a narrow screen the list of pages is a strip: the page one is at is moved into sight.
// (Not by scrollIntoView, after which the tabulator key would begin there.)
"use strict";
(() => {
  const here = document.querySelector("nav [aria-current]");
  const strip = here?.closest("nav");
  if (strip) strip.scrollLeft = here.offsetLeft - strip.offsetLeft - (strip.clientWidth - here.offsetWidth) / 2;
})();
