"use strict";
// Without this script the page shows everything; with it, a reader can choose.
(() => {
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

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
  const hint = "Point at the chart, or focus it and press the arrow keys, to read its numbers.";
  for (const figure of all("figure")) {
    const drawings = all("svg.chart", figure);
    if (!drawings.length) continue;
    const reading = document.createElement("p");
    reading.className = "reading hint";
    reading.textContent = hint;
    reading.setAttribute("aria-live", "polite");
    one("figcaption", figure).before(reading);
    for (const drawing of drawings) {
      const points = all(".line > g", drawing);
      let at = -1;
      const tell = (index) => {
        points[at]?.classList.remove("told");
        at = index;
        points[at]?.classList.add("told");
        reading.classList.toggle("hint", !points[at]);
        reading.textContent = points[at] ? one("title", points[at]).textContent : hint;
      };
      if (!points.length) continue;
      drawing.setAttribute("tabindex", "0");
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
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `Copy ${words.dataset.copy}`;
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

  const controls = one(".controls");
  if (!controls) return;
  controls.hidden = false;

  // Which metric colours the map.
  const panels = all(".map-panel");
  const showMetric = () => {
    const chosen = one("#metric input:checked");
    for (const panel of panels) panel.hidden = chosen && panel.dataset.metric !== chosen.value;
  };
  for (const input of all("#metric input")) input.addEventListener("change", showMetric);
  showMetric();

  const data = one("#removal");
  if (!data) return;
  const orders = JSON.parse(data.textContent).orders;
  const slider = one("#left");
  const readout = one("#readout");
  const samples = one(".samples");
  const cells = all("td[data-head]");
  const charts = all("svg[data-x]");
  let order = orders[Number(one("#order input:checked").value)];

  const bold = (words) => {
    const strong = document.createElement("b");
    strong.textContent = words;
    return strong;
  };

  const showSamples = (left) => {
    if (!samples) return;
    const kept = samples.dataset.order === order.name;
    const counts = [...new Set(all("[data-left]", samples).map((p) => Number(p.dataset.left)))];
    const nearest = counts.reduce((a, b) => (Math.abs(b - left) < Math.abs(a - left) ? b : a));
    samples.hidden = false;
    one("ol", samples).hidden = !kept;
    one("#samples-left").textContent = kept ? String(nearest) : "fewer";
    one("#samples-note").textContent = !kept
      ? `Translations were kept for the order “${samples.dataset.title}” only.`
      : nearest === left
        ? ""
        : `Translations were not kept at ${left} heads; these are the nearest.`;
    for (const p of all("[data-left]", samples)) p.hidden = Number(p.dataset.left) !== nearest;
  };

  const moveCursors = (left) => {
    for (const chart of charts) {
      const [low, high, from, to] = chart.dataset.x.split(" ").map(Number);
      const x = from + ((left - low) / (high - low)) * (to - from);
      const cursor = one(".cursor", chart);
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
      cursor.classList.toggle("shown", left < high);
    }
  };

  const showStop = () => {
    const stop = order.stops[Number(slider.value)];
    const gone = new Set(order.gone.slice(0, order.gone.length - stop.left));
    for (const cell of cells) {
      const left = !gone.has(Number(cell.dataset.head));
      cell.classList.toggle("gone", !left);
      cell.setAttribute("aria-description", left ? "" : "removed");
    }
    const [encoder, decoder, cross] = stop.sites;
    const rest = ` (encoder ${encoder}, decoder ${decoder}, cross ${cross}): BLEU ${stop.bleu}, ` +
      `${stop.parameters} parameters${stop.seconds && `, decoding ${stop.seconds}`}`;
    const head = `${stop.left} heads left`;
    readout.replaceChildren(bold(head), rest);
    slider.setAttribute("aria-valuetext", head + rest);
    showSamples(stop.left);
    moveCursors(stop.left);
  };

  const showOrder = () => {
    const left = order.stops[Number(slider.value)]?.left;
    order = orders[Number(one("#order input:checked").value)];
    slider.max = order.stops.length - 1;
    const same = order.stops.findIndex((stop) => stop.left === left);
    slider.value = same < 0 ? slider.max : same;
    showStop();
  };
  slider.max = order.stops.length - 1;
  slider.value = slider.max;
  slider.addEventListener("input", showStop);
  for (const input of all("#order input")) input.addEventListener("change", showOrder);
  showOrder();
})();
