// A stream that goes on: its charts are fetched again every few seconds, and put in place.
"use strict";
(() => {
  const again = async () => {
    if (document.hidden) return;
    const reply = await fetch(location.pathname, { credentials: "same-origin" });
    if (!reply.ok) return;
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const fresh = page.getElementById("stream");
    if (fresh) document.getElementById("stream").replaceWith(fresh);
  };
  setInterval(() => again().catch(() => {}), 5000);
})();
