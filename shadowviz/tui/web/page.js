"use strict";

// Told in words: without this, an error before the first byte leaves "is starting" on the page for ever.
addEventListener("error", (event) => {
  document.getElementById("failed").textContent = "The page cannot show a terminal: " + event.message;
  document.body.classList.add("-failed");
});

addEventListener("DOMContentLoaded", () => {
  document.getElementById("start").addEventListener("click", () => location.reload());
});
