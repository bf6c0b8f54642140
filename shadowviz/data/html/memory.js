// The treemap: the largest areas are handed to Plotly, the small ones together as "+N more".
const MOST = 180;
const LEAST = 260; // square pixels of the smallest area
const LEGIBLE = 1500; // square pixels of the smallest area with a text
const num = data.parent.length;
const sizes = Float64Array.from(data.own);
const below = new Int32Array(num);
const children = Array.from({ length: num }, () => []);
for (let index = num - 1; index > 0; index--) {
  const parent = data.parent[index];
  sizes[parent] += sizes[index];
  below[parent] += below[index] + 1;
  children[parent].push(index);
}
for (const list of children) list.sort((a, b) => sizes[b] - sizes[a] || a - b);
const plot = byId("plot");
let view = { root: 0, skip: 0 };
let chosen = 0;
let shown = new Map();
const name = (index) => data.pool[data.names[index]];

function bytes(value) {
  if (value < 1024) return `${value} B`;
  const unit = Math.min(4, Math.floor(Math.log2(value) / 10));
  return `${(value / 1024 ** unit).toFixed(1)} ${["", "KiB", "MiB", "GiB", "TiB"][unit]}`;
}

// Opens the largest area that can still be opened, until there are enough.
function laidOut() {
  const boxes = [{ id: "n" + view.root, index: view.root, parent: "", depth: 0 }];
  let open = [boxes[0]];
  const total = children[view.root].slice(view.skip).reduce((sum, child) => sum + sizes[child], 0) + (view.skip ? 0 : data.own[view.root]);
  const scale = (plot.clientWidth * plot.clientHeight) / (total || 1);
  while (open.length && boxes.length < MOST) {
    open.sort((a, b) => sizes[b.index] - sizes[a.index] || a.index - b.index);
    const next = [];
    for (const box of open) {
      if (boxes.length >= MOST || (box.depth && sizes[box.index] * scale < 4 * LEAST)) continue;
      const list = children[box.index].slice(box.depth ? 0 : view.skip);
      let taken = 0;
      while (taken < list.length && taken < 120 && sizes[list[taken]] * scale >= LEAST) taken += 1;
      for (const child of list.slice(0, taken)) {
        const made = { id: "n" + child, index: child, parent: box.id, depth: box.depth + 1 };
        boxes.push(made);
        if (children[child].length && made.depth < 4) next.push(made);
      }
      const rest = list.slice(taken);
      if (taken && rest.length) {
        const skip = (box.depth ? 0 : view.skip) + taken;
        boxes.push({ id: "s" + box.index, parent: box.id, stub: { index: box.index, skip, nodes: rest.length, size: rest.reduce((sum, child) => sum + sizes[child], 0) } });
      } else if (rest.length) box.closed = rest.reduce((sum, child) => sum + sizes[child], 0);
    }
    open = next;
  }
  return { boxes, scale };
}

const stubTitle = (stub) => `… +${stub.nodes.toLocaleString("en-US")} more (${bytes(stub.size)})`;
const factsOf = (box) => (box.stub ? [stubTitle(box.stub), "Too small to be drawn here: tap to show them."] : [...data.facts[box.index].map((number) => data.pool[number]), `${bytes(sizes[box.index])} in and below it`]);

// Plotly heads an open area with its label, and writes the text into any other.
const titleOf = (box) => (box.stub ? escaped(stubTitle(box.stub)) : fitted(`${name(box.index)}  ${bytes(sizes[box.index])}`, 40));
const textOf = (box) => (box.stub ? titleOf(box) : [fitted(name(box.index), 24), bytes(sizes[box.index])].join("<br>"));

function draw() {
  hideTip();
  const { boxes, scale } = laidOut();
  shown = new Map(boxes.map((box) => [box.id, box]));
  const parents = new Set(boxes.map((box) => box.parent));
  const colours = data.grounds[ground()];
  const marker = { colors: [], pad: { t: 22, l: 3, r: 3, b: 3 }, line: { color: [], width: [] }, pattern: { shape: [], fgcolor: [], bgcolor: [], size: 8, solidity: 0.16, fillmode: "overlay" } };
  const fonts = [];
  for (const box of boxes) {
    const style = box.stub ? data.stubStyle : data.style[box.index];
    const paint = paintOf(style);
    const empty = data.styles[style].empty;
    const isChosen = box.index !== undefined && box.index === chosen;
    marker.colors.push(empty ? colours.background : paint.fill);
    marker.pattern.shape.push(data.styles[style].shape);
    marker.pattern.fgcolor.push(paint.faint);
    marker.pattern.bgcolor.push(empty ? colours.background : paint.fill);
    marker.line.color.push(isChosen ? colours.text : paint.stroke);
    marker.line.width.push(isChosen ? 4 : 1);
    fonts.push(empty ? colours.text : paint.text);
  }
  const isOpen = (box) => parents.has(box.id);
  const trace = {
    type: "treemap", ids: boxes.map((box) => box.id), parents: boxes.map((box) => box.parent), labels: boxes.map(titleOf),
    values: boxes.map((box) => (box.stub ? box.stub.size : isOpen(box) ? (box.index === view.root && view.skip ? 0 : data.own[box.index]) : sizes[box.index])),
    text: boxes.map((box) => ((box.stub ? box.stub.size : sizes[box.index]) * scale < LEGIBLE ? "" : textOf(box))),
    textinfo: "text", textposition: "top left", textfont: { size: 11, family: MONO, color: fonts }, hoverinfo: "none",
    branchvalues: "remainder", sort: true, pathbar: { visible: false }, tiling: { packing: "squarify", pad: 1 }, marker, root: { color: colours.background },
  };
  Plotly.react(plot, [trace], { ...baseLayout(plot, { l: 0, r: 0, t: 0, b: 0 }), uniformtext: { minsize: 10, mode: "hide" } }, STILL);
  const path = [];
  for (let at = view.root; at >= 0; at = data.parent[at]) path.unshift(at);
  byId("crumbs").replaceChildren(...path.flatMap((index, place) => [...(place ? [element("span", "›")] : []), button(name(index), () => go(index))]), ...(view.skip ? [element("span", `› from the ${(view.skip + 1).toLocaleString("en-US")}th largest on`)] : []));
  byId("up").disabled = view.root === 0 && !view.skip;
  const actions = children[chosen].length && chosen !== view.root ? [button("Zoom in", () => go(chosen))] : [];
  showFacts(factsOf({ index: chosen }), actions);
}

function go(root, skip) {
  view = { root, skip: skip || 0 };
  if (!skip) chosen = root;
  draw();
}

function up() {
  if (view.skip) go(view.root);
  else if (view.root) { chosen = view.root; view = { root: data.parent[view.root], skip: 0 }; draw(); }
}

function choose(index) {
  chosen = index;
  draw();
  if (!shown.has("n" + index)) go(Math.max(0, data.parent[index]));
}

function clicked(id) {
  const box = shown.get(id);
  if (!box) return;
  if (box.stub) go(box.stub.index, box.stub.skip);
  else if (box.index !== chosen) choose(box.index);
  else if (box.index === view.root) up();
  else if (children[box.index].length) go(box.index);
}

function beside(step) {
  const around = data.parent[chosen] < 0 || chosen === view.root ? [chosen] : children[data.parent[chosen]];
  return around[Math.max(0, Math.min(around.length - 1, around.indexOf(chosen) + step))];
}

const KEYS = {
  ArrowLeft: () => { if (data.parent[chosen] >= 0) choose(data.parent[chosen]); },
  ArrowRight: () => { if (children[chosen].length) choose(children[chosen][0]); },
  ArrowUp: () => choose(beside(-1)), ArrowDown: () => choose(beside(1)),
  Enter: () => { if (children[chosen].length) go(chosen); }, Backspace: up, Escape: up, Home: () => go(0),
};
plot.addEventListener("keydown", (event) => {
  const act = KEYS[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
});
byId("up").addEventListener("click", up);
byId("whole").addEventListener("click", () => go(0));
drawnBy(() => {
  draw();
  if (plot.dataset.ready) return;
  plot.dataset.ready = "yes";
  plot.on("plotly_treemapclick", (event) => { clicked(event.points[0].id); return false; });
  plot.on("plotly_hover", (event) => { const box = shown.get(event.points[0].id); if (box) showTip(factsOf(box), event.event); });
  plot.on("plotly_unhover", hideTip);
});
