// The heat map: Plotly draws the cells, letters say the outcome of each that has room, or of the worst of its neighbours.
const plot = byId("plot");
const outcome = bytesOf(data.outcome);
const { columns, rows, first, last, bin } = data;
const COLUMNS = columns;
const at = (row, column) => row * COLUMNS + column;
const cellOf = new Map(data.cells.map((cell, number) => [at(cell[0], cell[1]), number]));
let window_ = [0, columns];
let cursor = data.worst;
const margin = { l: 8, r: 8, t: 8, b: 46 };
const startOf = (column) => first + column * bin;

function columnName(column) {
  const start = startOf(column);
  const stop = Math.min(start + bin - 1, last);
  return start === stop ? start.toLocaleString("en-US") : `${start.toLocaleString("en-US")}..${stop.toLocaleString("en-US")}`;
}

function scale() {
  const steps = [];
  data.outcomes.forEach((style, number) => {
    const colour = number ? paintOf(style)[number === 1 ? "fill" : "cell"] : data.grounds[ground()].background;
    steps.push([number / data.outcomes.length, colour], [(number + 1) / data.outcomes.length, colour]);
  });
  return steps;
}

// The worst outcome of every `step` columns that are seen, as letters.
function letters(step) {
  const x = [];
  const y = [];
  const text = [];
  for (let row = 0; row < rows.length; row++) {
    for (let column = window_[0]; column < window_[1]; column += step) {
      let worst = 0;
      let place = column;
      for (let one = column; one < Math.min(column + step, window_[1]); one++) {
        if (outcome[at(row, one)] > worst) { worst = outcome[at(row, one)]; place = one; }
      }
      if (worst > 1 || (worst && step === 1)) { x.push(place); y.push(row); text.push(data.styles[data.outcomes[worst]].glyph); }
    }
  }
  return { type: "scatter", mode: "text", x, y, text, hoverinfo: "skip", textfont: { size: 12, family: MONO, color: data.grounds[ground()].text } };
}

function marks() {
  const colours = data.grounds[ground()];
  const shapes = [];
  const [from, to] = window_;
  for (const [, unit] of data.units) {
    const count = (to - from) * bin / unit;
    if (count > 40 || count < 0.5) continue;
    for (let length = Math.ceil(startOf(from) / unit) * unit; length < startOf(to); length += unit) {
      const x = (length - first) / bin - 0.5;
      shapes.push({ type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: { color: colours.muted, width: 1, dash: "dot" } });
    }
    break;
  }
  if (cursor) shapes.push({ type: "rect", x0: cursor[1] - 0.5, x1: cursor[1] + 0.5, y0: cursor[0] - 0.5, y1: cursor[0] + 0.5, line: { color: colours.text, width: 3 } });
  return shapes;
}

// Lengths to name below the map: multiples of a power of two, as boundaries are.
function lengthTicks(most) {
  const from = startOf(window_[0]);
  const to = Math.min(last, startOf(window_[1]) - 1);
  let step = 1;
  while ((to - from + 1) / step > most) step *= 2;
  const lengths = [];
  for (let length = Math.ceil(from / step) * step; length <= to; length += step) lengths.push(length);
  return lengths;
}

function draw() {
  hideTip();
  const colours = data.grounds[ground()];
  const longest = Math.max(...rows.map((row) => row.length));
  const left = Math.min(plot.clientWidth * 0.34, longest * 11 * ADVANCE + 14);
  const room = plot.clientWidth - left - margin.r;
  const shownColumns = window_[1] - window_[0];
  const step = Math.max(1, Math.ceil((10 * shownColumns) / room));
  plot.style.height = Math.max(190, Math.min(900, rows.length * 22 + 60)) + "px";
  const heat = {
    type: "heatmap", z: rows.map((_, row) => outcome.subarray(at(row, 0), at(row + 1, 0))), x0: 0, dx: 1, y0: 0, dy: 1, zmin: -0.5, zmax: data.outcomes.length - 0.5, colorscale: scale(),
    showscale: false, hoverinfo: "none", xgap: room / shownColumns > 7 ? 1 : 0, ygap: 2,
  };
  const width = Math.round((left - 14) / (11 * ADVANCE));
  const ticks = lengthTicks(Math.max(2, Math.floor(room / 80)));
  Plotly.react(plot, [heat, letters(step)], {
    ...baseLayout(plot, { ...margin, l: left }), shapes: marks(),
    plot_bgcolor: colours.background,
    xaxis: { range: [window_[0] - 0.5, window_[1] - 0.5], fixedrange: true, showgrid: false, zeroline: false, tickvals: ticks.map((length) => (length - first) / bin), ticktext: ticks.map((length) => length.toLocaleString("en-US")), title: { text: "prefix length, in tokens", standoff: 6 }, color: colours.text },
    yaxis: { range: [rows.length - 0.5, -0.5], fixedrange: true, showgrid: false, zeroline: false, tickvals: rows.map((_, row) => row), ticktext: rows.map((row) => fitted(row, width)), color: colours.text },
  }, STILL);
  byId("found").textContent = `lengths ${startOf(window_[0]).toLocaleString("en-US")} to ${Math.min(last, startOf(window_[1]) - 1).toLocaleString("en-US")}` + (bin > 1 ? `, ${bin} a column` : "");
  byId("in").disabled = shownColumns <= 8;
  byId("out").disabled = byId("all").disabled = shownColumns === columns;
}

function facts(row, column) {
  const cell = cellOf.get(at(row, column));
  const head = [`${rows[row]}, length ${columnName(column)}`];
  if (cell === undefined) return { lines: [...head, "no check touched it"], command: "" };
  const [, , checks, findings, difference, detail, command] = data.cells[cell];
  const style = data.styles[data.outcomes[outcome[at(row, column)]]];
  const lines = [...head, `${style.glyph} ${style.word}: ${data.meanings[outcome[at(row, column)]]}`, `findings: ${findings} in checks: ${checks}`];
  if (difference) lines.push(`largest difference of a logit: ${difference}`);
  if (detail >= 0) lines.push(data.pool[detail]);
  return { lines, command: command >= 0 ? data.pool[command] : "" };
}

function choose(row, column) {
  cursor = [Math.max(0, Math.min(rows.length - 1, row)), Math.max(0, Math.min(columns - 1, column))];
  const [from, to] = window_;
  if (cursor[1] < from || cursor[1] >= to) look(cursor[1] - (to - from) / 2, to - from);
  else draw();
  const { lines, command } = facts(...cursor);
  showFacts(lines);
  showCommand(command);
}

function look(from, width) {
  const wide = Math.max(Math.min(8, columns), Math.min(columns, Math.round(width)));
  const start = Math.max(0, Math.min(columns - wide, Math.round(from)));
  window_ = [start, start + wide];
  draw();
}

function zoom(factor) {
  const [from, to] = window_;
  const middle = cursor && cursor[1] >= from && cursor[1] < to ? cursor[1] + 0.5 : (from + to) / 2;
  const wide = (to - from) * factor;
  look(middle - wide / 2, wide);
}

const pan = (part) => look(window_[0] + part * (window_[1] - window_[0]), window_[1] - window_[0]);

function nextFinding(step) {
  const places = data.cells.filter((cell) => cell[3] > 0 || outcome[at(cell[0], cell[1])] >= data.worthy).map((cell) => [cell[0], cell[1]]);
  if (!places.length) return;
  const here = cursor ? at(cursor[1], cursor[0]) : -1;
  places.sort((a, b) => a[1] - b[1] || a[0] - b[0]);
  const after = places.findIndex((place) => place[1] > cursor[1] || (place[1] === cursor[1] && place[0] > cursor[0]));
  const before = places.filter((place) => place[1] < cursor[1] || (place[1] === cursor[1] && place[0] < cursor[0])).length - 1;
  const index = step > 0 ? (after < 0 ? 0 : after) : before < 0 ? places.length - 1 : before;
  choose(...places[index]);
}

const KEYS = {
  ArrowLeft: () => choose(cursor[0], cursor[1] - 1), ArrowRight: () => choose(cursor[0], cursor[1] + 1),
  ArrowUp: () => choose(cursor[0] - 1, cursor[1]), ArrowDown: () => choose(cursor[0] + 1, cursor[1]),
  Home: () => choose(cursor[0], 0), End: () => choose(cursor[0], columns - 1),
  "+": () => zoom(0.5), "-": () => zoom(2), n: () => nextFinding(1), N: () => nextFinding(-1),
};
plot.addEventListener("keydown", (event) => {
  const act = KEYS[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
});
byId("in").addEventListener("click", () => zoom(0.5));
byId("out").addEventListener("click", () => zoom(2));
byId("all").addEventListener("click", () => look(0, columns));
byId("left").addEventListener("click", () => pan(-0.5));
byId("right").addEventListener("click", () => pan(0.5));
byId("next").addEventListener("click", () => nextFinding(1));
drawnBy(() => {
  draw();
  if (plot.dataset.ready) return;
  choose(...cursor);
  plot.dataset.ready = "yes";
  plot.on("plotly_click", (event) => choose(event.points[0].y, event.points[0].x));
  plot.on("plotly_hover", (event) => { const point = event.points[0]; const { lines } = facts(point.y, point.x); showTip(lines, event.event); });
  plot.on("plotly_unhover", hideTip);
});
