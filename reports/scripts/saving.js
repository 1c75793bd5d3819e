// What a figure shows can be saved, even from a page that was sent without its folder.
(() => {
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

  // Every sentence of a list is a row; a note such as "unchanged" is not what was said.
  const said = (words) => {
    const copy = words.cloneNode(true);
    for (const note of all(".note", copy)) note.remove();
    return clean(copy);
  };
  const readLists = (lists) => {
    const rows = lists.map((list) => Object.fromEntries([...list.children]
      .map((it) => [clean(it.firstElementChild), said(it.lastElementChild)])));
    const columns = [...new Set(rows.flatMap(Object.keys))];
    const line = (row) => columns.map((name) => row[name] ?? "");
    return { caption: "Sentences", columns, rows: rows.map(line) };
  };
  const tablesOf = (figure) => {
    const beside = figure.nextElementSibling;
    const found = all("table", figure);
    if (!found[0] && beside?.matches("details")) found.push(...all("table", beside));
    const lists = all("dl.versions", figure);
    return found[0] ? found.map(read) : lists[0] ? [readLists(lists)] : [];
  };

  const csv = (figure) => tablesOf(figure).map(({ caption, columns, rows }, at, tables) =>
    [columns, ...rows].map((row) => (tables[1] ? [caption, ...row] : row)
      .map((it) => (it.replaceAll ? `"${it.replaceAll('"', '""')}"` : it)).join() + "\n")
      .join("")).join("\n");

  const json = (figure) => JSON.stringify({
    caption: clean(one("figcaption p", figure)),
    ...Object.fromEntries(all("figcaption div:not(.links)", figure)
      .map((fact) => [...fact.children].map(clean))),
    tables: tablesOf(figure),
  }, null, 1);

  // A drawing takes its colours from the style sheet, which the file will not have.
  const looks = "fill opacity stroke stroke-width stroke-dasharray font-family font-size font-weight";
  const styled = (from, to) => {
    const look = getComputedStyle(from);
    for (const name of looks.split(" ")) to.setAttribute(name, look[name]);
    [...from.children].forEach((child, at) => styled(child, to.children[at]));
  };
  const written = (inside, width, height) => {
    const fill = getComputedStyle(document.body).backgroundColor;
    const ground = shape("rect", { width, height, fill });
    return new XMLSerializer().serializeToString(shape("svg", { width, height }, ground, ...inside));
  };
  const stacked = (drawings) => {
    let height = 0;
    const copies = drawings.map((drawing) => {
      const copy = drawing.cloneNode(true);
      styled(drawing, copy);
      copy.setAttribute("y", height);
      height += +copy.getAttribute("height");
      return copy;
    });
    return written(copies, copies[0].getAttribute("width"), height);
  };
  // What is no drawing is drawn as it stands on the screen: cells, and every word in its place.
  const printed = (figure) => {
    for (const closed of all("details", figure)) closed.open = true;
    const cells = all("caption, th, td, dt, dd", figure).filter((it) =>
      it.clientWidth && !it.closest("figcaption, .unseen"));
    const left = figure.getBoundingClientRect().x;
    const top = cells[0].getBoundingClientRect().y;
    const range = new Range();
    const pieces = [];
    let [width, height] = [0, 0];
    for (const cell of cells) {
      const box = cell.getBoundingClientRect();
      width = Math.max(width, box.right - left);
      height = Math.max(height, box.bottom - top);
      const fill = getComputedStyle(cell).backgroundColor;
      const place = { x: box.x - left, y: box.y - top, width: box.width, height: box.height };
      if (!fill.endsWith(", 0)")) pieces.push(shape("rect", { ...place, fill }));
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const node = texts.currentNode;
        if (node.parentElement.closest(".unseen")) continue;
        const look = getComputedStyle(node.parentElement);
        const level = look.writingMode === "horizontal-tb";
        for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
          range.setStart(node, index);
          range.setEnd(node, index + word.length);
          const at = range.getBoundingClientRect();
          const x = (level ? at.x : at.right - 0.25 * at.width) - left;
          const y = at.bottom - (level ? 0.25 * at.height : 0) - top;
          pieces.push(shape("text", {
            transform: `translate(${x} ${y}) rotate(${level ? 0 : -90})`,
            fill: look.color,
            "font-family": look.fontFamily,
            "font-size": look.fontSize,
            "font-weight": look.fontWeight,
          }, word));
        }
      }
    }
    return written(pieces, width, height);
  };
  const svg = (figure) => {
    const drawings = all("svg.chart", figure).filter((it) => it.clientWidth);
    return drawings[0] ? stacked(drawings) : printed(figure);
  };

  for (const figure of all("figure")) {
    for (const [ending, write] of Object.entries({ csv, json, svg })) {
      const name = figure.id.slice(7);
      const title = ending.toUpperCase();
      const download = `${name}.${ending}`;
      const onclick = () => {
        const href = URL.createObjectURL(new Blob([write(figure)]));
        make("a", { href, download }).click();
      };
      const ariaLabel = `Save ${name} as ${title}`;
      one(".links dd", figure)?.append(" ", make("button", { ariaLabel, onclick }, title));
    }
  }
})();
