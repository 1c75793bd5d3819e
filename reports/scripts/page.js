// Without this script the page shows everything; with it, a reader can choose.
(() => {

  // Details that are closed would be missing on paper.
  addEventListener("beforeprint", () => {
    for (const closed of all("details:not([open])")) {
      closed.open = true;
      closed.dataset.opened = "";
    }
  });
  addEventListener("afterprint", () => {
    for (const opened of all("details[data-opened]")) {
      opened.open = false;
      delete opened.dataset.opened;
    }
  });

  // Pointing at a chart, or going through it with the arrow keys, tells its numbers.
  const hint = "Point at the chart, or focus it and press arrow keys, to read its numbers.";
  for (const figure of all("figure")) {
    const drawings = all("svg.chart", figure);
    if (!drawings.length) continue;
    const reading = make("p", { className: "reading hint", ariaLive: "polite" }, hint);
    (drawings.at(-1).closest(".pair") ?? drawings.at(-1)).after(reading);
    for (const drawing of drawings) {
      const points = all(".line > g", drawing);
      const wide = drawing.matches(".wide") ? drawing : drawing.previousElementSibling;
      let at = -1;
      const tell = (index) => {
        points[at]?.classList.remove("told");
        at = index;
        points[at]?.classList.add("told");
        reading.classList.toggle("hint", !points[at]);
        reading.textContent = points[at] ? all(".line title", wide)[at].textContent : hint;
      };
      if (!points.length) continue;
      drawing.tabIndex = 0;
      drawing.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        tell(at < 0 && step < 0 ? points.length - 1 : (at + step + points.length) % points.length);
      });
      drawing.addEventListener("blur", () => tell(-1));
      points.forEach((point, index) => point.addEventListener("pointerenter", () => tell(index)));
    }
  }

  // What is meant to be pasted elsewhere can be copied at once.
  for (const words of all("[data-copy]")) {
    const button = make("button", {}, `Copy ${words.dataset.copy}`);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(words.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(words);
      }
    });
    words.after(button);
  }

  const read = (id) => JSON.parse(one(id)?.textContent ?? "null");
  const removal = read("#removal");
  const cards = read("#cards");
  const examples = read("#attention");
  const cellsOf = (place, within) => one(`td[data-head="${place}"]`, within);
  for (const controls of all(".controls")) controls.hidden = false;

  // Of the panels of a chooser the chosen one is shown.
  for (const chooser of all("select.panels")) {
    const show = () => {
      for (const panel of all(`[data-${chooser.id}]`)) {
        panel.hidden = panel.dataset[chooser.id] !== chooser.value;
      }
    };
    chooser.addEventListener("change", show);
    show();
  }

  // The slider over head counts.
  let order;
  let showCard = () => {};
  if (removal) {
    const chooser = one("#order");
    const slider = one("#left");
    const drawn = all("[data-head]");
    const steps = one('[data-metric="step"]');
    const total = cards ? cards.heads.length : removal.orders[0].gone.length;

    const mark = ([kind, words]) => (kind ? make(kind > 1 ? "del" : "ins", {}, words) : words);
    const showSamples = (stop) => {
      for (const [at, said] of all("[data-says]").entries()) {
        const pieces = stop.says ? removal.says[stop.says[at]] : [[0, "not kept at this point"]];
        said.replaceChildren(...pieces.map(mark));
      }
      for (const left of all("dt[data-left]")) left.textContent = `${stop.left} heads`;
    };

    const moveCursors = (left) => {
      for (const chart of all("svg[data-x]")) {
        const [low, high, from, to] = chart.dataset.x.split(" ").map(Number);
        const x = from + ((left - low) / (high - low)) * (to - from);
        const cursor = one(".cursor", chart);
        for (const end of ["x1", "x2"]) cursor.setAttribute(end, x);
        cursor.classList.toggle("shown", left < high);
      }
    };

    const showStop = () => {
      const stop = order.stops[Number(slider.value)];
      const gone = new Set(order.gone.slice(0, total - stop.left));
      for (const cell of drawn) {
        const out = gone.has(Number(cell.dataset.head));
        cell.classList.toggle("gone", out);
        if (cell.tagName === "TD") cell.setAttribute("aria-description", out ? "removed" : "");
      }
      one("#readout").textContent = `${stop.left} of ${total}`;
      one("#facts").replaceChildren(...stop.facts.map((fact, at) =>
        make("div", {}, make("dt", {}, removal.labels[at]), make("dd", {}, fact))));
      for (const [at, site] of all(".minimap text").entries()) site.textContent = stop.sites[at];
      const note = one("#map-note");
      const out = gone.size ? `Struck out: ${gone.size} heads that the slider removed. ` : "";
      if (note) note.textContent = `${out}Choose a head to open its card.`;
      slider.ariaValueText = `${stop.left} heads left, BLEU ${stop.facts[0]}`;
      showSamples(stop);
      moveCursors(stop.left);
    };

    const showOrder = () => {
      const left = order?.stops[Number(slider.value)]?.left;
      order = removal.orders[Number(chooser.value)];
      slider.max = order.stops.length - 1;
      const same = order.stops.findIndex((stop) => stop.left === left);
      slider.value = same < 0 ? slider.max : same;
      if (steps) {
        for (const [at, place] of order.gone.entries()) {
          const cell = cellsOf(place, steps);
          const shade = Math.round((at / Math.max(1, total - 1)) * 15);
          cell.className = `heat-${shade}`;
          cell.title = `${cards.heads[place]}: removed as number ${at + 1} of ${total}`;
          (one("a", cell) ?? cell).firstChild.textContent = at + 1;
        }
        const name = chooser.selectedOptions[0].textContent.toLowerCase();
        one(".note", steps).textContent = `1 goes first. The order is ${name}.`;
      }
      showStop();
      showCard();
    };
    slider.addEventListener("input", showStop);
    chooser.addEventListener("change", showOrder);
    showOrder();
  }

  // The card of a head: opened by a link, closed by Escape, found again by its address.
  const card = one("#card");
  if (!card) return;
  const address = (name) => `head-${name.replaceAll(".", "-")}`;
  const linkTo = (name, ...words) => make("a", { href: `#${address(name)}` }, ...words);
  let shown = -1;

  const sheet = (title, columns, rows, empty) => {
    const cell = (tag, words, scope) =>
      make(tag, scope ? { scope } : {}, cards.heads.includes(words) ? linkTo(words, words) : String(words));
    const body = rows.map(([head, ...rest]) =>
      make("tr", {}, cell("th", head, "row"), ...rest.map((words) => cell("td", words))));
    const table = make("table", { className: "sheet" },
      make("caption", { className: "unseen" }, title),
      make("thead", {}, make("tr", {}, ...columns.map((words) => cell("th", words, "col")))),
      make("tbody", {}, ...body));
    const note = !rows.length && empty ? [make("p", { className: "note" }, empty)] : [];
    const region = { className: "scroll", tabIndex: 0, role: "region", ariaLabel: title };
    const scroll = make("div", region, table);
    return make("section", {}, make("h4", {}, title), ...(rows.length ? [scroll] : []), ...note);
  };

  const importance = (place) => {
    const rows = [];
    for (const panel of all("[data-unit]")) {
      const title = cellsOf(place, panel)?.title;
      if (!title) continue;
      const found = title.match(/: (\S+)(?: (\[.*\]))?, rank (.*)$/);
      const [, value, bounds = "", rank] = found ?? ["", "not measured", "", ""];
      rows.push([`${one("h3", panel).textContent}, ${panel.dataset.unit}`, rank, value, bounds]);
    }
    return sheet("Importance", ["Metric", "Rank", "Value", "Interval"], rows);
  };

  const removedAt = (place) => {
    const rows = removal.orders.map((it) => [it.title, it.gone.indexOf(place) + 1]);
    return sheet("When it is removed", ["Order", `Number, of ${cards.heads.length}`], rows);
  };

  const profile = (place) => {
    const [path, words] = cards.profiles[place];
    const label = (x, text) => shape("text", { x, y: 62, "text-anchor": "middle" }, text);
    const drawing = shape("svg", { class: "profile", viewBox: "0 0 192 66", role: "img",
      "aria-label": `Where queries look by offset: ${words}` },
      shape("path", { d: path, class: "bars" }), shape("path", { d: "M0 48.5H192", class: "axis" }),
      label(4, "−8"), label(84, "0"), label(164, "+8"), label(182, "far"));
    const note = make("p", { className: "note" }, `Key − query, in tokens. ${words}`);
    return make("section", {}, make("h4", {}, "Where it looks by offset"), drawing, note);
  };

  const showWeights = () => {
    if (!examples || shown < 0) return;
    const { source, target, weights } = examples[Number(one("#sentence").value)];
    const sides = { encoder: [source, source], decoder: [target, target], cross: [target, source] };
    const siteOf = (name) => name.split(".")[0];
    const [queries, keys] = sides[siteOf(cards.heads[shown])];
    const causal = siteOf(cards.heads[shown]) === "decoder";
    const bytes = atob(weights);
    let at = 0;
    for (const name of cards.heads.slice(0, shown)) {
      const [{ length }, other] = sides[siteOf(name)];
      at += siteOf(name) === "decoder" ? (length * (length + 1)) / 2 : length * other.length;
    }
    const head = keys.map((key) =>
      make("th", { scope: "col", className: "turned" }, make("span", { dir: "auto" }, key)));
    const rows = queries.map((query, asking) => {
      const row = make("tr", {}, make("th", { scope: "row", dir: "auto" }, query));
      for (const [place, key] of keys.entries()) {
        const weight = causal && place > asking ? 0 : bytes.charCodeAt(at++) / 255;
        const shade = weight < 0.03 ? "" : `heat-${Math.round(Math.sqrt(weight) * 15)}`;
        const title = `${query} → ${key}`;
        const text = weight < 0.01 ? "" : `${Math.round(100 * weight)}`;
        row.append(make("td", { className: shade, title }, text));
      }
      return row;
    });
    const table = make("table", { className: "map relied" },
      make("caption", { className: "unseen" }, `Attention of ${cards.heads[shown]}`),
      make("thead", {}, make("tr", {}, make("td"), ...head)), make("tbody", {}, ...rows));
    one("#weights").replaceChildren(table);
  };
  one("#sentence")?.addEventListener("change", showWeights);

  const choose = (place) => {
    shown = place;
    for (const cell of all("td[data-head]")) {
      cell.classList.toggle("chosen", Number(cell.dataset.head) === place);
    }
  };
  showCard = () => {
    if (shown < 0) return;
    const name = cards.heads[shown];
    const [site, layer, head] = name.split(".");
    card.id = address(name);
    one("#card-title").textContent = name;
    one("#card-note").textContent = `Site ${site}, layer ${layer}, head ${head}.`;
    const near = (by, words) =>
      cards.heads[shown + by] ? [linkTo(cards.heads[shown + by], words), " "] : [];
    one(".near", card).replaceChildren(...near(-1, "Previous head"), ...near(1, "Next head"),
      make("button", { onclick: hide }, "Close"));
    one(".parts", card).replaceChildren(
      importance(shown),
      ...(removal ? [removedAt(shown)] : []),
      ...cards.parts.map((part, at) =>
        sheet(part.title, part.columns, cards.rows[shown][at], part.empty)),
      ...(cards.profiles ? [profile(shown)] : []),
    );
    showWeights();
  };
  const hide = () => {
    if (shown < 0) return;
    const back = one(`.map-panel:not([hidden]) td[data-head="${shown}"] a`);
    choose(-1);
    card.hidden = true;
    history.replaceState(null, "", "#heads");
    back?.focus();
  };
  const open = () => {
    const place = cards.heads.findIndex((name) => location.hash === `#${address(name)}`);
    if (place < 0) return;
    choose(place);
    showCard();
    card.hidden = false;
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  };
  card.addEventListener("keydown", (event) => event.key === "Escape" && hide());

  // Rows of the table of all heads have these addresses only where no card can open.
  for (const row of all("tr[id^=head-]")) row.removeAttribute("id");
  // A head that heads a row of any table leads to its card.
  for (const { firstChild } of all(".sheet th[scope=row]")) {
    const name = firstChild?.textContent;
    if (cards.heads.includes(name)) firstChild.replaceWith(linkTo(name, name));
  }
  // Every cell is a link; one of a map can be reached by Tab, the others by arrow keys.
  for (const map of all(".maps")) {
    const links = all("td[data-head]", map).map((cell) => {
      const link = linkTo(cards.heads[cell.dataset.head], ...cell.childNodes);
      link.tabIndex = -1;
      cell.append(link);
      return link;
    });
    if (!links.length) continue;
    links[0].tabIndex = 0;
    map.addEventListener("keydown", (event) => {
      const at = links.indexOf(event.target);
      if (at < 0) return;
      const { cellIndex, parentElement } = links[at].parentElement;
      const beside = (row) => row && one("a", row.cells[cellIndex] ?? row);
      const next = {
        ArrowRight: links[at + 1],
        ArrowLeft: links[at - 1],
        ArrowDown: beside(parentElement.nextElementSibling),
        ArrowUp: beside(parentElement.previousElementSibling),
      }[event.key];
      if (!next) return;
      event.preventDefault();
      links[at].tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }
  addEventListener("hashchange", open);
  open();
})();
