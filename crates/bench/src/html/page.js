// Figures of the place that is pointed at, or stepped to by the arrow keys. The page says all it has
// to say without this.
"use strict";
for (const figure of document.querySelectorAll("figure.chart")) {
  const lines = JSON.parse(figure.querySelector("script.points").textContent);
  const output = figure.querySelector("output");
  const drawings = [...figure.querySelectorAll("svg")];
  let place = null;

  const nearest = (line, at) => {
    let best = 0;
    line.x.forEach((x, i) => { if (Math.abs(x - at) < Math.abs(line.x[best] - at)) best = i; });
    return best;
  };
  const element = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const show = () => {
    output.textContent = "";
    for (const svg of drawings) svg.querySelector(".cursor").textContent = "";
    if (place === null) return;
    const found = lines.map((line) => nearest(line, place));
    const lead = lines.reduce((best, line, l) =>
      Math.abs(line.x[found[l]] - place) < Math.abs(lines[best].x[found[best]] - place) ? l : best, 0);
    output.append(lines[lead].at[found[lead]] + ": ");
    lines.forEach((line, l) => {
      const text = document.createElement("b");
      text.textContent = line.text[found[l]];
      output.append(l ? ", " : "", line.name + " ", text);
    });
    for (const svg of drawings) {
      const { left, right, top, floor } = svg.dataset;
      const across = (x) => +left + x * (right - left);
      const up = (y) => +floor - y * (floor - top);
      const cursor = svg.querySelector(".cursor");
      const x = across(lines[lead].x[found[lead]]);
      cursor.append(element("line", { x1: x, x2: x, y1: top, y2: floor }));
      lines.forEach((line, l) => cursor.append(element("circle",
        { class: "s" + l, r: 4, cx: across(line.x[found[l]]), cy: up(line.y[found[l]]) })));
    }
  };
  for (const svg of drawings) {
    const point = (event) => {
      const box = svg.getBoundingClientRect();
      const { left, right } = svg.dataset;
      const x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
      place = Math.min(1, Math.max(0, (x - left) / (right - left)));
      show();
    };
    svg.addEventListener("pointermove", point);
    svg.addEventListener("pointerdown", point);
    svg.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") { place = null; show(); }
    });
  }
  figure.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1 };
    if (event.key === "Escape") place = null;
    else if (event.key in steps) {
      const line = lines[0];
      const next = place === null ? 0 : nearest(line, place) + steps[event.key];
      place = line.x[Math.min(line.x.length - 1, Math.max(0, next))];
    } else return;
    event.preventDefault();
    show();
  });
}
