"use strict";

// Told in words: without this, an error before the first byte leaves "is starting" on the page for ever.
addEventListener("error", (event) => {
  document.getElementById("failed").textContent = "The page cannot show a terminal: " + event.message;
  document.body.classList.add("-failed");
});

addEventListener("DOMContentLoaded", () => {
  document.getElementById("start").addEventListener("click", () => location.reload());
});

// Without the focus in the terminal, keys go to the page until a click. It tells its program about the focus, so that
// can come no sooner than the connection.
addEventListener("DOMContentLoaded", () => {
  const watch = new MutationObserver(() => {
    const keys = document.querySelector("#terminal textarea");
    if (!keys || !document.body.classList.contains("-loaded")) return;
    watch.disconnect();
    keys.focus();
  });
  watch.observe(document.body, { attributes: true, attributeFilter: ["class"] });
});
