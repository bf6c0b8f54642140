// The ruler: only what is in the window is handed to Plotly; texts are cut to the pixels that their bars have.
const plot = byId("plot");
const [first, stop] = data.span;
const LANE = 44;
let window_ = [first, stop];
let chosen = null;
let drawn = [];

const inside = (from, to) => to > window_[0] && from < window_[1];

function left() {
  const longest = Math.max(6, ...data.lanes.map((lane) => lane.name.length));
  return Math.min(plot.clientWidth * 0.3, longest * 11 * ADVANCE + 16);
}

// Names of positions, each in a row of its own where two would meet.
function marksOf(scale) {
  const ends = [];
  const placed = [];
  const named = [...data.marks];
  if (!named.some(([position]) => position === data.cut)) named.push([data.cut, ""]);
  for (const [position, name] of named.sort((a, b) => a[0] - b[0])) {
    if (position < window_[0] || position > window_[1]) continue;
    const said = `${position === data.cut ? "▲ cut, " : ""}${name}${name ? " " : ""}${position.toLocaleString("en-US")}`;
    const room = plot.clientWidth - left() - 10;
    const width = Math.min(said.length, 60) * 10 * ADVANCE + 12;
    const x = Math.min((position - window_[0]) * scale, room - width);
    let row = ends.findIndex((end) => end < x);
    if (row < 0) row = ends.length;
    ends[row] = x + width;
    placed.push({ position, text: fitted(said, 60), row, x });
  }
  return { placed, rows: ends.length };
}

function bars(scale) {
  const colours = data.grounds[ground()];
  const trace = {
    type: "bar", orientation: "h", x: [], y: [], base: [], width: 0.56, text: [], hoverinfo: "none", textposition: "inside",
    insidetextanchor: "middle", textangle: 0, constraintext: "none", textfont: { size: 10, family: MONO, color: [] }, cliponaxis: true,
    marker: { color: [], line: { color: [], width: [] }, pattern: { shape: [], fgcolor: [], bgcolor: [], size: 6, solidity: 0.25, fillmode: "overlay" } },
  };
  const reads = { type: "bar", orientation: "h", x: [], y: [], base: [], width: 0.07, hoverinfo: "skip", marker: { color: paintOf(data.madeFrom).stroke } };
  drawn = [];
  const put = (y, from, to, style, text, line) => {
    const paint = paintOf(style);
    const look = data.styles[style];
    const start = Math.max(from, window_[0]);
    const end = Math.min(to, window_[1]);
    trace.x.push(end - start);
    trace.base.push(start);
    trace.y.push(y);
    trace.marker.color.push(look.empty ? colours.background : paint.fill);
    trace.marker.pattern.shape.push(look.shape);
    trace.marker.pattern.fgcolor.push(paint.faint);
    trace.marker.pattern.bgcolor.push(look.empty ? colours.background : paint.fill);
    trace.marker.line.color.push(line ? line.color : paint.stroke);
    trace.marker.line.width.push(line ? line.width : 1);
    trace.textfont.color.push(look.empty ? colours.text : paint.text);
    // Half a number says nothing.
    trace.text.push(text.length * 10 * ADVANCE + 3 <= (end - start) * scale ? escaped(text) : "");
  };
  const single = data.text.length && scale > 11;
  for (const [from, to, style, word] of [[first, data.cut, data.reused, "reused"], [data.cut, stop, data.computed, "computed"]]) {
    if (!inside(from, to)) continue;
    if (!single) { put(0, from, to, style, word); drawn.push(null); continue; }
    for (let at = Math.max(from, Math.floor(window_[0])); at < Math.min(to, window_[1]); at++) {
      put(0, at, at + 1, style, data.text[at - first] || "");
      drawn.push({ token: at, style });
    }
  }
  data.lanes.forEach((lane, number) => lane.bars.forEach((bar, place) => {
    const [from, to, readFrom, readTo, state, needed, rows] = bar;
    if (!inside(from, to) && !inside(readFrom, readTo)) return;
    const isChosen = chosen && chosen.lane === number && chosen.place === place;
    if (inside(from, to)) {
      const style = lane.looks[state];
      const glyph = ["", "– ", data.styles[style].glyph === "?" ? "? " : "", "┊ ", "∅ "][state];
      const line = isChosen ? { color: data.grounds[ground()].path, width: 4 } : needed ? { color: colours.text, width: 2.5 } : null;
      put(number + 1, from, to, style, glyph + data.pool[rows], line);
      drawn.push({ lane: number, place });
    }
    if (readFrom !== from || readTo !== to) {
      const gap = 1.5 / scale;
      const start = Math.max(readFrom + gap, window_[0]);
      const end = Math.min(readTo - gap, window_[1]);
      if (end <= start) return;
      reads.x.push(end - start);
      reads.base.push(start);
      reads.y.push(number + 1 + (place % 2 ? 0.44 : 0.36));
    }
  }));
  return [reads, trace];
}

function draw() {
  hideTip();
  const colours = data.grounds[ground()];
  const room = plot.clientWidth - left() - 10;
  const scale = room / (window_[1] - window_[0]);
  const { placed, rows } = marksOf(scale);
  const top = rows * 14 + 10;
  const lanes = data.lanes.length + 1;
  plot.style.height = lanes * LANE + top + 44 + "px";
  const cutShown = data.cut >= window_[0] && data.cut <= window_[1];
  const shapes = placed.map(({ position }) => ({
    type: "line", x0: position, x1: position, yref: "paper", y0: 0, y1: 1,
    line: position === data.cut ? { color: colours.text, width: 2.5 } : { color: colours.muted, width: 1, dash: "dot" },
  }));
  const annotations = placed.map(({ text, row, x }) => ({
    xref: "paper", x: x / room, xanchor: "left", yref: "paper", y: 1, yanchor: "bottom", yshift: row * 14, text, showarrow: false,
    font: { size: 10, family: MONO, color: colours.text }, borderpad: 0,
  }));
  const width = Math.round((left() - 16) / (11 * ADVANCE)) + 1;
  Plotly.react(plot, bars(scale), {
    ...baseLayout(plot, { l: left(), r: 10, t: top, b: 40 }), barmode: "overlay", bargap: 0, shapes, annotations,
    plot_bgcolor: colours.background,
    xaxis: { range: window_, fixedrange: true, showgrid: false, zeroline: false, tickformat: ",d", nticks: Math.max(3, Math.floor(room / 90)), title: { text: "token", standoff: 4 }, color: colours.text },
    yaxis: { range: [lanes - 0.45, -0.55], fixedrange: true, showgrid: false, zeroline: false, tickvals: [...Array(lanes).keys()], ticktext: ["tokens", ...data.lanes.map((lane) => fitted(lane.name, width))], color: colours.text },
  }, STILL);
  byId("found").textContent = `tokens ${window_[0].toLocaleString("en-US")} to ${window_[1].toLocaleString("en-US")}`;
  byId("in").disabled = window_[1] - window_[0] <= 8;
  byId("out").disabled = byId("all").disabled = window_[0] === first && window_[1] === stop;
  byId("to-cut").disabled = !cutShown && (data.cut < first || data.cut > stop);
}

function factsOf(thing) {
  if (!thing) return null;
  if (thing.token !== undefined) return [`token ${thing.token.toLocaleString("en-US")}`, data.text[thing.token - first], data.styles[thing.style].word];
  return data.lanes[thing.lane].bars[thing.place][7].map((number) => data.pool[number]);
}

function choose(lane, place) {
  const around = data.lanes[lane].bars;
  if (!around.length) return;
  chosen = { lane, place: Math.max(0, Math.min(around.length - 1, place)) };
  const [from, to] = around[chosen.place];
  if (!inside(from, to)) look(from - (window_[1] - window_[0]) / 2, window_[1] - window_[0]);
  else draw();
  showFacts(factsOf(chosen));
}

// The bar of a lane that is nearest to the chosen one.
function across(step) {
  let lane = chosen.lane + step;
  while (lane >= 0 && lane < data.lanes.length && !data.lanes[lane].bars.length) lane += step;
  if (lane < 0 || lane >= data.lanes.length) return;
  const [from, to] = data.lanes[chosen.lane].bars[chosen.place];
  const middle = (from + to) / 2;
  const distance = (bar) => Math.max(bar[0] - middle, middle - bar[1], 0);
  const list = data.lanes[lane].bars;
  choose(lane, list.reduce((best, bar, place) => (distance(bar) < distance(list[best]) ? place : best), 0));
}

function look(from, width) {
  const wide = Math.max(Math.min(8, stop - first), Math.min(stop - first, Math.round(width)));
  const start = Math.max(first, Math.min(stop - wide, Math.round(from)));
  window_ = [start, start + wide];
  draw();
}

function zoom(factor) {
  const bar = chosen && data.lanes[chosen.lane].bars[chosen.place];
  const middle = bar && inside(bar[0], bar[1]) ? (Math.max(bar[0], window_[0]) + Math.min(bar[1], window_[1])) / 2 : (window_[0] + window_[1]) / 2;
  const wide = (window_[1] - window_[0]) * factor;
  look(middle - wide / 2, wide);
}

const pan = (part) => look(window_[0] + part * (window_[1] - window_[0]), window_[1] - window_[0]);
const toCut = () => { const wide = Math.min(64, stop - first); look(data.cut - wide / 2, wide); };
const start = data.lanes.findIndex((lane) => lane.bars.length);
const KEYS = {
  ArrowLeft: () => choose(chosen.lane, chosen.place - 1), ArrowRight: () => choose(chosen.lane, chosen.place + 1),
  ArrowUp: () => across(-1), ArrowDown: () => across(1), Home: () => choose(chosen.lane, 0), End: () => choose(chosen.lane, 1e9),
  "+": () => zoom(0.5), "-": () => zoom(2), c: toCut,
};
plot.addEventListener("keydown", (event) => {
  const act = KEYS[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (!chosen && start >= 0) choose(start, 0);
  else if (chosen) act();
});
byId("in").addEventListener("click", () => zoom(0.5));
byId("out").addEventListener("click", () => zoom(2));
byId("all").addEventListener("click", () => look(first, stop - first));
byId("left").addEventListener("click", () => pan(-0.5));
byId("right").addEventListener("click", () => pan(0.5));
byId("to-cut").addEventListener("click", toCut);
drawnBy(() => {
  draw();
  if (plot.dataset.ready) return;
  plot.dataset.ready = "yes";
  plot.on("plotly_click", (event) => { const thing = drawn[event.points[0].pointNumber]; if (thing && thing.lane !== undefined) choose(thing.lane, thing.place); else if (thing) showFacts(factsOf(thing)); });
  plot.on("plotly_hover", (event) => { const lines = factsOf(drawn[event.points[0].pointNumber]); if (lines) showTip(lines, event.event); });
  plot.on("plotly_unhover", hideTip);
});
