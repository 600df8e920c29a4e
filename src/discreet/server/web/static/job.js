// A job that goes on: the page is loaded again when its phase changes.
"use strict";
(() => {
  const phase = document.getElementById("phase");
  const events = new EventSource(`/api/v1/jobs/${phase.dataset.job}/events`);
  let first = true;
  for (const name of ["accepted", "waiting_for_approval", "started", "finished", "failed", "cancelled"]) {
    events.addEventListener(name, (event) => {
      const told = JSON.parse(event.data);
      const over = ["finished", "failed", "cancelled"].includes(name);
      if (first && !over) { first = false; return; }
      events.close();
      if (told.release) location.replace(`/releases/${told.release}`);
      else location.reload();
    });
  }
})();
