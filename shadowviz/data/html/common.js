// What all pages share. Text from the record is only ever set as text, or escaped for Plotly, which reads a little HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const darkGround = matchMedia("(prefers-color-scheme: dark)");
const ground = () => (darkGround.matches ? "dark" : "light");
const paintOf = (style) => data.styles[style][ground()];
const MONO = '"DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace';
const ADVANCE = 0.604;
const STILL = { displayModeBar: false, responsive: false, showTips: false, scrollZoom: false, doubleClick: false };

function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function columnsOf(character) {
  return character.codePointAt(0) > 0x2e7f ? 2 : 1;
}

// `text` in at most `columns` columns, escaped; empty where not even a few characters would fit.
function fitted(text, columns) {
  if (columns < 3) return "";
  let used = 0;
  const kept = [];
  for (const character of text) {
    used += columnsOf(character);
    if (used > columns) {
      while (kept.length && used > columns) used -= columnsOf(kept.pop());
      return escaped(kept.join("")) + "…";
    }
    kept.push(character);
  }
  return escaped(text);
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function element(tag, text, name) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}

function button(text, act) {
  const made = element("button", text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

function showFacts(lines, actions) {
  byId("facts").replaceChildren(...lines.map((line) => element("li", line)));
  byId("actions").replaceChildren(...(actions || []));
}

function showCommand(text) {
  byId("command").hidden = !text;
  byId("command-text").textContent = text || "";
}

function showTip(lines, event) {
  const tip = byId("tip");
  tip.replaceChildren(...lines.map((line) => element("div", line)));
  tip.hidden = false;
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 18;
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = Math.max(4, below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 12 : below) + "px";
}

function hideTip() {
  byId("tip").hidden = true;
}

// Draws again when the room or the ground changes.
function drawnBy(draw) {
  let width = -1;
  let timer = 0;
  const plot = byId("plot");
  new ResizeObserver(() => {
    if (plot.clientWidth === width) return;
    clearTimeout(timer);
    timer = setTimeout(() => { width = plot.clientWidth; draw(); }, width < 0 ? 0 : 120);
  }).observe(plot);
  darkGround.addEventListener("change", draw);
}

function baseLayout(plot, margin) {
  const colours = data.grounds[ground()];
  return {
    width: plot.clientWidth, height: plot.clientHeight, margin, autosize: false, dragmode: false,
    paper_bgcolor: colours.background,
    font: { family: MONO, size: 11, color: colours.text }, showlegend: false, hovermode: "closest",
  };
}

if (byId("copy")) {
  byId("copy").addEventListener("click", () => {
    const range = document.createRange();
    range.selectNodeContents(byId("command-text"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    if (navigator.clipboard) navigator.clipboard.writeText(byId("command-text").textContent).catch(() => {});
  });
}
