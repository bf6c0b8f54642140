// Sorts and filters a table that is there without it.
const table = byId("rows");
const body = table.tBodies[0];
const rows = [...body.rows];
const texts = rows.map((row) => row.textContent.toLowerCase());

function filter() {
  const wanted = byId("filter").value.trim().toLowerCase();
  const sort = byId("only").value;
  let count = 0;
  rows.forEach((row, number) => {
    row.hidden = (wanted && !texts[number].includes(wanted)) || (sort !== "" && row.dataset.sort !== sort);
    if (!row.hidden) count += 1;
  });
  byId("found").textContent = `${count.toLocaleString("en-US")} of ${rows.length.toLocaleString("en-US")} rows`;
}

function valueOf(row, column) {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent.trim().toLowerCase() : Number(cell.dataset.value);
}

function sortBy(column, head) {
  const ascending = head.getAttribute("aria-sort") !== "ascending";
  const order = rows.map((row, number) => [valueOf(row, column), number]);
  order.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) * (ascending ? 1 : -1) || a[1] - b[1]);
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  body.append(...order.map(([, number]) => rows[number]));
}

[...table.tHead.rows[0].cells].forEach((head, column) => {
  const press = head.querySelector("button");
  if (press) press.addEventListener("click", () => sortBy(column, head));
});
byId("filter").addEventListener("input", filter);
byId("only").addEventListener("change", filter);
filter();
