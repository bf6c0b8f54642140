// The icicle: only what can be seen is handed to Plotly, so that any tree answers at once.
const LEAST = 3; // pixels of the smallest box
const STUB = 18; // pixels of "+N more"
const LINE = 14; // pixels of a line of text
const num = data.parent.length;
const sizes = Float64Array.from(data.own);
const below = new Int32Array(num);
const children = Array.from({ length: num }, () => []);
const stubOf = new Map(data.stubs.map(([index, nodes, tokens]) => [index, { nodes, tokens }]));
for (const [index, stub] of stubOf) { sizes[index] += stub.tokens; below[index] += stub.nodes; }
for (let index = num - 1; index > 0; index--) {
  const parent = data.parent[index];
  sizes[parent] += sizes[index];
  below[parent] += below[index] + 1;
  children[parent].push(index);
}
for (const list of children) list.reverse();
const bySize = new Map();
const codes = data.modes.map((mode) => bytesOf(mode.codes));
const onPath = new Set(data.path);
const plot = byId("plot");
let view = { root: 0, skip: 0 };
let chosen = data.place;
let shown = new Map();

function largestFirst(index) {
  let order = bySize.get(index);
  if (!order) {
    order = children[index].slice().sort((a, b) => onPath.has(b) - onPath.has(a) || sizes[b] - sizes[a] || a - b);
    bySize.set(index, order);
  }
  return order;
}

const words = (number) => data.pool[number];
const title = (index) => words(data.full[index][0]);
const name = (index) => title(index).split(" ", 1)[0];

function short(value) {
  if (value < 10000) return value.toLocaleString("en-US");
  const [unit, size] = value < 1999500 ? ["k", 1e3] : value < 1999500000 ? ["M", 1e6] : ["G", 1e9];
  const scaled = value / size;
  return (scaled < 99.95 ? scaled.toFixed(1) : scaled.toFixed(0)) + unit;
}

// The children of a box that its height has room for, and what is left for "+N more".
function parted(index, height, skip) {
  const order = largestFirst(index).slice(skip);
  const outside = stubOf.get(index) || { nodes: 0, tokens: 0 };
  let rest = outside.tokens;
  let nodes = outside.nodes;
  for (const child of order) { rest += sizes[child]; nodes += 1 + below[child]; }
  const all = rest || 1;
  let taken = 0;
  let count = 0;
  let stub = 0;
  for (const child of order) {
    const tokens = sizes[child];
    const left = rest - tokens;
    const others = count + 1 < order.length || outside.nodes > 0;
    const room = others ? Math.min(height / 3, Math.max(STUB, Math.min(height / 6, (height * left) / all))) : 0;
    if (((height - room) * tokens) / (taken + tokens || 1) < LEAST && !onPath.has(child)) break;
    taken += tokens;
    rest = left;
    nodes -= 1 + below[child];
    stub = room;
    count += 1;
  }
  if (!count) return { kids: [], stub: null };
  const kids = order.slice(0, count).map((child) => ({ index: child, height: ((height - stub) * sizes[child]) / (taken || 1) }));
  kids.sort((a, b) => a.index - b.index);
  return { kids, stub: nodes ? { index, nodes, tokens: rest, height: stub, skip: skip + count, folded: order.length > count } : null };
}

function laidOut(width, height) {
  const levels = Math.max(3, Math.min(9, Math.floor(width / 165)));
  const boxes = [{ id: "n" + view.root, index: view.root, parent: "", height, depth: 0 }];
  let deepest = 0;
  for (let at = 0; at < boxes.length; at++) {
    const box = boxes[at];
    deepest = Math.max(deepest, box.depth);
    if (box.stub || box.depth + 1 >= levels || box.height < LEAST) continue;
    const { kids, stub } = parted(box.index, box.height, at ? 0 : view.skip);
    if (!kids.length && !at && stubOf.has(box.index)) {
      boxes.push({ id: "s" + box.index, stub: { index: box.index, ...stubOf.get(box.index), folded: false }, parent: box.id, height, depth: 1 });
    }
    for (const kid of kids) boxes.push({ id: "n" + kid.index, index: kid.index, parent: box.id, height: kid.height, depth: box.depth + 1, leaf: true });
    if (kids.length) box.leaf = false;
    if (stub) boxes.push({ id: "s" + box.index, stub, parent: box.id, height: stub.height, depth: box.depth + 1 });
  }
  return { boxes, levels: Math.max(2, deepest + 1) };
}

function stubTitle(stub) {
  return `+${stub.nodes.toLocaleString("en-US")} more (${short(stub.tokens)} ${stub.tokens === 1 ? "token" : "tokens"})`;
}

function textOf(box, width, mode) {
  const lines = Math.floor((box.height - 5) / LINE);
  const columns = Math.floor((width - 10) / (11 * ADVANCE));
  if (lines < 1) return "";
  if (box.stub) return fitted("… " + stubTitle(box.stub), columns);
  const [glyphs, label, marks, ...cells] = data.brief[box.index].map(words);
  const style = data.styles[mode.styles[codes[mode.at][box.index]]];
  const state = `${style.glyph} ${style.word}`;
  if (!box.index && data.isRoot) return [name(0), `${below[0].toLocaleString("en-US")} nodes`, `${short(sizes[0])} tokens`].slice(0, lines).map((line) => fitted(line, columns)).join("<br>");
  const first = glyphs ? `${glyphs} ${title(box.index)}` : title(box.index);
  const split = first.indexOf(")") + 1;
  const titles = first.length <= columns || lines < 2 ? [first] : [first.slice(0, split), first.slice(split + 1)];
  const wanted = [...titles, label, marks.includes(state) ? "" : state, marks, ...cells].filter(Boolean);
  return wanted.slice(0, Math.min(lines, 9)).map((line) => fitted(line, columns)).join("<br>");
}

function figure() {
  const width = plot.clientWidth;
  const height = plot.clientHeight - 4;
  const { boxes, levels } = laidOut(width, height);
  shown = new Map(boxes.map((box) => [box.id, box]));
  const mode = { ...data.modes[+byId("mode").value], at: +byId("mode").value };
  const colours = data.grounds[ground()];
  const parents = new Set(boxes.map((box) => box.parent));
  const marker = { colors: [], line: { color: [], width: [] }, pattern: { shape: [], fgcolor: [], bgcolor: [], size: 7, solidity: 0.22, fillmode: "overlay" } };
  const fonts = [];
  for (const box of boxes) {
    const style = box.stub ? data.stubStyle : mode.styles[codes[mode.at][box.index]];
    const paint = paintOf(style);
    const shape = data.styles[style].shape;
    const empty = data.styles[style].empty;
    marker.colors.push(empty ? colours.background : paint.fill);
    marker.pattern.shape.push(shape);
    marker.pattern.fgcolor.push(paint.faint);
    marker.pattern.bgcolor.push(empty ? colours.background : paint.fill);
    const isChosen = box.index !== undefined && box.index === chosen;
    const isPath = box.index !== undefined && onPath.has(box.index);
    marker.line.color.push(isChosen ? colours.text : isPath ? colours.path : empty ? paint.stroke : colours.muted);
    marker.line.width.push(isChosen ? 4 : isPath ? 3 : 1);
    fonts.push(empty ? colours.text : paint.text);
  }
  const trace = {
    type: "icicle", ids: boxes.map((box) => box.id), parents: boxes.map((box) => box.parent),
    labels: boxes.map((box) => escaped(box.stub ? stubTitle(box.stub) : name(box.index))), values: boxes.map((box) => (parents.has(box.id) ? 0 : box.height)),
    text: boxes.map((box) => textOf(box, width / levels, mode)), textinfo: "text", textposition: "top left",
    textfont: { size: 11, family: MONO, color: fonts }, hoverinfo: "none", branchvalues: "remainder", sort: false,
    tiling: { orientation: "h", pad: 1 }, pathbar: { visible: false }, leaf: { opacity: 1 }, marker, domain: { x: [0, 1], y: [0, 1] },
  };
  const layout = { ...baseLayout(plot, { l: 0, r: 0, t: 0, b: 0 }), uniformtext: { minsize: 11, mode: "show" } };
  return { trace, layout };
}

function draw() {
  hideTip();
  const { trace, layout } = figure();
  Plotly.react(plot, [trace], layout, STILL);
  crumbs();
  details();
}

function pathTo(index) {
  const path = [];
  for (let at = index; at >= 0; at = data.parent[at]) path.push(at);
  return path.reverse();
}

function crumbs() {
  const path = pathTo(view.root);
  const items = [];
  const kept = path.length > 9 ? [...path.slice(0, 2), -1, ...path.slice(-6)] : path;
  for (const index of kept) {
    if (items.length) items.push(element("span", "›"));
    items.push(index < 0 ? element("span", `… ${path.length - 8} more …`) : button(name(index), () => go(index)));
  }
  if (view.skip) items.push(element("span", `› children ${(view.skip + 1).toLocaleString("en-US")} and on, by size`));
  byId("crumbs").replaceChildren(...items);
  byId("up").disabled = view.root === 0 && !view.skip;
}

const hasMore = (index) => children[index].length > 0 || stubOf.has(index);

function details() {
  const actions = [];
  if (hasMore(chosen) && (chosen !== view.root || view.skip)) actions.push(button("Zoom in", () => go(chosen)));
  if (data.parent[chosen] >= 0) actions.push(button("Parent", () => choose(data.parent[chosen])));
  if (view.root) actions.push(button("Zoom out", up));
  showFacts([...data.full[chosen].map(words), `nodes below: ${below[chosen].toLocaleString("en-US")}`, `tokens in and below it: ${sizes[chosen].toLocaleString("en-US")}`], actions);
}

function stubFacts(stub) {
  return [stubTitle(stub), stub.folded ? "Too small to be drawn here: tap to show them." : "Not in this file: export with --root " + name(stub.index).replace("root", "0").replace("n", "") + " to see them."];
}

function go(root, skip) {
  view = { root, skip: skip || 0 };
  if (!skip) chosen = root;
  draw();
}

function up() {
  if (view.skip) go(view.root);
  else if (view.root) { const from = view.root; view = { root: data.parent[from], skip: 0 }; choose(from); }
}

// Chooses a node, and moves the view where it cannot be seen.
function choose(index) {
  chosen = index;
  draw();
  if (!shown.has("n" + index)) {
    view = { root: Math.max(0, data.parent[index]), skip: 0 };
    draw();
    if (!shown.has("n" + index)) go(index);
  }
}

function clicked(id) {
  const box = shown.get(id);
  if (!box) return;
  if (box.stub) {
    if (box.stub.folded) go(box.stub.index, box.stub.skip);
    else showFacts(stubFacts(box.stub));
  } else if (box.index === chosen && box.index !== view.root && hasMore(box.index)) go(box.index);
  else if (box.index === chosen && box.index === view.root) up();
  else choose(box.index);
}

function beside(step) {
  const parent = data.parent[chosen];
  if (parent < 0 || chosen === view.root) return chosen;
  const around = children[parent].filter((index) => shown.has("n" + index));
  return around[Math.max(0, Math.min(around.length - 1, around.indexOf(chosen) + step))] ?? chosen;
}

const KEYS = {
  ArrowLeft: () => { if (data.parent[chosen] >= 0) choose(data.parent[chosen]); },
  ArrowRight: () => { if (children[chosen].length) choose(largestFirst(chosen)[0]); },
  ArrowUp: () => choose(beside(-1)),
  ArrowDown: () => choose(beside(1)),
  Enter: () => { if (hasMore(chosen)) go(chosen); },
  Backspace: up, Escape: up,
  Home: () => go(0),
};

function find() {
  const wanted = byId("find").value.trim().toLowerCase();
  if (!wanted) return;
  for (let step = 1; step <= num; step++) {
    const index = (chosen + step) % num;
    const isNode = name(index) === wanted;
    const text = data.full[index].slice(0, 2).map(words).join(" ").toLowerCase();
    if (isNode || (!/^n\d+$/.test(wanted) && text.includes(wanted))) {
      byId("found").textContent = `${name(index)} found`;
      choose(index);
      return;
    }
  }
  byId("found").textContent = "not found among the nodes in this file";
}

plot.addEventListener("keydown", (event) => {
  const act = KEYS[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
});
byId("mode").addEventListener("change", () => {
  for (const legend of document.querySelectorAll(".mode-legend")) legend.hidden = legend.dataset.mode !== byId("mode").value;
  draw();
});
byId("find").addEventListener("change", find);
byId("find").addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); find(); } });
byId("up").addEventListener("click", up);
byId("whole").addEventListener("click", () => go(0));
if (byId("to-path")) byId("to-path").addEventListener("click", () => { go(Math.max(0, data.parent[data.place])); choose(data.place); });
drawnBy(() => {
  draw();
  if (plot.dataset.ready) return;
  plot.dataset.ready = "yes";
  plot.on("plotly_icicleclick", (event) => { clicked(event.points[0].id); return false; });
  plot.on("plotly_hover", (event) => {
    const box = shown.get(event.points[0].id);
    if (box) showTip(box.stub ? stubFacts(box.stub) : data.full[box.index].map(words), event.event);
  });
  plot.on("plotly_unhover", hideTip);
});
