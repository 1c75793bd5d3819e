// What a figure shows can be saved, even from a page that was sent without its folder.
(() => {
  const all = (selector, within) => [...within.querySelectorAll(selector)];
  const clean = (cell) => cell.textContent.replace(/\s+/g, " ").trim();
  const value = (cell) => {
    const plain = clean(cell).replace("−", "-").replace(/,(?=\d{3})/g, "");
    return plain && isFinite(plain) ? +plain : clean(cell);
  };
  const read = (table) => ({
    caption: clean(table.caption),
    columns: all("thead tr:last-child > *", table).map(clean),
    rows: all("tbody tr", table).map((row) => [...row.cells].map(value)),
  });

  const csv = (tables) => tables.map(({ caption, columns, rows }) => [columns, ...rows]
    .map((row) => (tables[1] ? [caption, ...row] : row)
      .map((it) => (it.replaceAll ? `"${it.replaceAll('"', '""')}"` : it)).join() + "\n")
    .join("")).join("\n");

  const json = (tables, figure) => JSON.stringify({
    caption: clean(figure.querySelector("figcaption p")),
    ...Object.fromEntries(all("figcaption div:not(.links)", figure)
      .map((fact) => [...fact.children].map(clean))),
    tables,
  }, null, 1);

  // A drawing takes its colours from the style sheet, which the file will not have.
  const looks = ["fill", "opacity", "stroke", "stroke-width", "stroke-dasharray", "font-family",
    "font-size", "font-weight"];
  const styled = (from, to) => {
    const look = getComputedStyle(from);
    for (const name of looks) to.setAttribute(name, look[name]);
    [...from.children].forEach((child, at) => styled(child, to.children[at]));
  };
  const svg = (tables, figure) => {
    let width;
    let height = 0;
    const inside = all("svg.chart", figure).filter((it) => it.clientWidth).map((drawing) => {
      const copy = drawing.cloneNode(true);
      styled(drawing, copy);
      copy.setAttribute("y", height);
      width = copy.getAttribute("width");
      height += +copy.getAttribute("height");
      return new XMLSerializer().serializeToString(copy);
    });
    const paper = `xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"`;
    return `<svg ${paper}>${inside.join("")}</svg>`;
  };

  for (const figure of all("figure", document)) {
    const beside = figure.nextElementSibling;
    let tables = all("table", figure);
    if (!tables[0] && beside?.matches("details")) tables = all("table", beside);
    const makers = { ...(tables[0] && { csv, json }), ...(figure.querySelector(".chart") && { svg }) };
    for (const [ending, make] of Object.entries(makers)) {
      const button = document.createElement("button");
      const name = figure.id.slice(7);
      button.textContent = ending.toUpperCase();
      button.ariaLabel = `Save ${name} as ${ending.toUpperCase()}`;
      button.onclick = () => {
        const link = document.createElement("a");
        const text = make(tables.map(read), figure);
        link.href = URL.createObjectURL(new Blob([text]));
        link.download = `${name}.${ending}`;
        link.click();
      };
      figure.querySelector(".links dd").append(" ", button);
    }
  }
})();
