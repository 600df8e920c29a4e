// The editor: a live preview while the question or its price changes, and the place of a mistake
// under its word. Without this script the buttons do the same, a page at a time.
"use strict";
(() => {
  const form = document.getElementById("ask");
  const sql = document.getElementById("sql");
  const marks = document.getElementById("marks");
  const found = document.getElementById("found");
  const spoken = document.getElementById("spoken");
  const price = document.getElementById("epsilon");
  const slide = document.getElementById("slide");
  const account = document.getElementById("account");
  const csrf = document.querySelector("meta[name=csrf]").content;
  const pauses = { typed: 450, slid: 60, told: 900 };
  let wait = 0, tell = 0, asked = 0, busy = false, again = false, bad = null;

  // The place of a mistake, under its word: the same text lies behind the field, with a mark.
  function mark() {
    marks.replaceChildren();
    if (!bad) { sql.removeAttribute("aria-invalid"); return; }
    const word = document.createElement("mark");
    word.textContent = sql.value.slice(bad[0], bad[1]) || " ";
    marks.append(sql.value.slice(0, bad[0]), word, sql.value.slice(bad[1]) + "\n");
    sql.setAttribute("aria-invalid", "true");
    marks.scrollTop = sql.scrollTop;
  }
  function place() {
    const notice = found.querySelector("[data-start]");
    // Places are in letters of the text without blanks around it, as it was sent.
    const lead = sql.value.length - sql.value.trimStart().length;
    const letters = [...sql.value.slice(lead)];
    const at = (n) => lead + letters.slice(0, Number(n)).join("").length;
    bad = notice ? [at(notice.dataset.start), at(notice.dataset.end)] : null;
    mark();
  }

  async function preview() {
    if (busy) { again = true; return; }
    if (!sql.value.trim() || !account) return;
    busy = true;
    again = false;
    found.classList.add("busy");
    const turn = ++asked;
    try {
      const reply = await fetch("/ask/preview", {
        method: "POST", body: new URLSearchParams(new FormData(form)), headers: { "X-CSRF-Token": csrf },
      });
      if (reply.redirected || reply.status === 401) { location.reload(); return; }
      if (!reply.ok) throw new Error(reply.statusText);
      const part = await reply.text();
      if (turn === asked) {
        found.innerHTML = part;
        place();
        clearTimeout(tell);
        tell = setTimeout(say, pauses.told);
      }
    } catch { /* the service is away: the last preview stays */ }
    busy = false;
    found.classList.remove("busy");
    if (again) preview();
  }
  function say() {
    const told = found.querySelector("[data-spoken]");
    const words = told ? told.dataset.spoken : found.textContent.replace(/\s+/g, " ").trim();
    if (spoken.textContent !== words) spoken.textContent = words;
  }
  function soon(pause) { clearTimeout(wait); wait = setTimeout(preview, pause); }

  // The slider: each step is the same factor, from a hundredth of the budget up to all of it.
  const most = () => Number((account.selectedOptions ? account.selectedOptions[0] : account).dataset.most) || 1;
  const least = () => Math.min(0.01, most() / 100);
  const short = (value) => String(Number(value.toPrecision(2)));
  function toSlider() {
    const value = Number(price.value);
    if (value > 0) slide.value = Math.round(1000 * Math.log(value / least()) / Math.log(most() / least()));
    slide.setAttribute("aria-valuetext", price.value);
  }
  if (account) {
    slide.hidden = false;
    toSlider();
    slide.addEventListener("input", () => {
      price.value = short(least() * (most() / least()) ** (slide.value / 1000));
      slide.setAttribute("aria-valuetext", price.value);
      soon(pauses.slid);
    });
  }
  function named() {
    const accuracy = form.elements.pay.value === "accuracy";
    document.getElementById("by-price").hidden = accuracy;
    document.getElementById("by-accuracy").hidden = !accuracy;
  }

  form.addEventListener("input", (event) => {
    if (event.target === slide) return;
    if (event.target === price) toSlider();
    if (event.target === sql) { bad = null; mark(); }
    soon(pauses.typed);
  });
  form.addEventListener("change", (event) => {
    if (event.target.name === "pay") named();
    if (event.target === account) toSlider();
    if (event.target !== slide) soon(0);
  });
  sql.addEventListener("scroll", () => { marks.scrollTop = sql.scrollTop; });
  sql.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(document.getElementById("send")); }
  });
  document.getElementById("look").addEventListener("click", (event) => { event.preventDefault(); preview(); });
  form.addEventListener("submit", () => {
    const send = document.getElementById("send");
    setTimeout(() => { send.disabled = true; send.textContent = "Asking …"; }, 0);
  });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  // The schema: a column or a value goes where the cursor is.
  for (const button of document.querySelectorAll("[data-insert]")) {
    button.addEventListener("click", () => {
      const before = sql.value.slice(0, sql.selectionStart);
      const gap = before && !/[\s(.,=]$/.test(before) ? " " : "";
      sql.setRangeText(gap + button.dataset.insert, sql.selectionStart, sql.selectionEnd, "end");
      sql.focus();
      sql.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }
  for (const button of document.querySelectorAll("[data-whole]")) {
    button.addEventListener("click", () => {
      sql.value = button.dataset.whole;
      sql.focus();
      sql.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }

  named();
  place();
  if (sql.value.trim() && !bad) preview();
  fetch("/ask/standing").then(async (reply) => {
    if (reply.ok && !reply.redirected) document.getElementById("standing").innerHTML = await reply.text();
  }).catch(() => {});
})();
