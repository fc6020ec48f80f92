// Elements, number formatting, and SVG charts that adapt to the width of their container.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// Numbers

const known = (value) => value !== null && value !== undefined;
const UNKNOWN = "unknown";
const fixed = (value, digits = 3) => (known(value) ? value.toFixed(digits) : UNKNOWN);
const count = (value) => (known(value) ? (Math.round(value) || 0).toLocaleString("en-US") : UNKNOWN);
const percent = (value) => (known(value) ? `${(100 * value).toFixed(1)}%` : UNKNOWN);
const short = (value) => {
  if (!known(value)) return UNKNOWN;
  return Math.abs(value) < 1e-9 ? "0" : String(Number(value.toPrecision(4)));
};

// Estimates have the digits that their interval supports: the last one is worth at most a quarter of it, or, of a count, a tenth.
const supported = (low, high, parts) => (high > low ? Math.ceil(-Math.log10((high - low) / parts)) : 4);
const decimals = (low, high) => Math.min(4, Math.max(2, supported(low, high, 4)));
const between = (low, high) => (known(low) && known(high) ? `${low.toFixed(decimals(low, high))} to ${high.toFixed(decimals(low, high))}` : UNKNOWN);
const within = (value, low, high) => (known(value) ? value.toFixed(decimals(low ?? value, high ?? value)) : UNKNOWN);
const countWithin = (value, low, high) => {
  const unit = 10 ** -Math.min(0, supported(low, high, 10));
  return count(unit * Math.round(value / unit));
};
const percentWithin = (value, low, high) => `${(100 * value).toFixed(decimals(low, high) - 2)}%`;
// Rows per 1,000, or a cost: three digits before the point, two after it.
const rough = (value) => (known(value) ? (value >= 100 ? count(value) : String(Number(value.toPrecision(2)))) : UNKNOWN);
const countsBetween = (low, high) => `${countWithin(low, low, high)} to ${countWithin(high, low, high)}`;
const atMost = (bound) => {
  const digits = decimals(0, bound), scale = 10 ** digits;
  return `at most ${(Math.ceil(Number((bound * scale).toFixed(6))) / scale).toFixed(digits)}`;
};
// Value of a metric, or its range if it depends on a prior that is only bounded.
const estimated = (m) => (m.is_range ? between(m.low, m.high) : within(m.value, m.low, m.high));

// Days since 1970 as a date, with the time of day if the axis spans a few days only.
function dateText(days, span) {
  const date = new Date(Math.round(days * 86400) * 1000);
  if (!Number.isFinite(date.getTime())) return short(days);
  const text = date.toISOString().replace("T", " ");
  return span < 4 ? text.slice(0, 16) : text.split(" ")[0];
}

// Ticks at the first days of years or months, if that is about the right number, with labels.
function dateTicks(low, high, about) {
  const days = (high - low) / Math.max(1, about);
  const step = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200].find((months) => months * 30.5 >= days);
  if (days < 15 || !step) return ticks(low, high, about).map((v) => [v, dateText(v, high - low)]);
  const first = new Date(low * 864e5), found = [];
  for (let m = Math.ceil((12 * first.getUTCFullYear() + first.getUTCMonth()) / step) * step; ; m += step) {
    const v = Date.UTC(Math.floor(m / 12), m % 12) / 864e5;
    if (v > high) return found;
    if (v >= low) found.push([v, dateText(v, Infinity).slice(0, step % 12 ? -3 : -6)]);
  }
}

function ticks(low, high, about) {
  const raw = (high - low) / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((k) => k * power >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

function extent(axis, values) {
  const there = values.filter((v) => known(v));
  let low = axis.min ?? Math.min(...there);
  let high = axis.max ?? Math.max(...there);
  if (!(high > low)) [low, high] = [low - 0.5, low + 0.5];
  if (axis.min === 0 && !known(axis.max)) high *= 1.05;
  return [low, high];
}

// Charts

function legendOf(spec) {
  const swatch = (s, of) => {
    const line = { x1: 0, x2: 22, y1: 6, y2: 6, class: `stroke-${s.color}`, "stroke-width": 2.5, "stroke-dasharray": s.dash ? "5 3" : null };
    const area = { x: 0, y: 1, width: 22, height: 10, class: `fill-${s.color}`, opacity: of === "band" ? 0.2 : 0.35 };
    const dots = { cx: 11, cy: 6, r: 4, class: `fill-${s.color}` };
    const shape = of === "band" || s.area ? svg("rect", area) : s.dots ? svg("circle", dots) : svg("line", line);
    return svg("svg", { width: 22, height: 12, "aria-hidden": "true" }, shape);
  };
  const items = spec.series.map((s) => el("span", {}, swatch(s, "line"), s.name));
  for (const s of spec.series) if (s.band) items.push(el("span", {}, swatch(s, "band"), s.band));
  return el("div", { class: "legend" }, ...items);
}

/* spec: label, x ({label, min, max, integer, count, date}) and y ({label, min, max, count}), series ({name, color, x, y, low, high, dash, dots,
   area, edges}), marks ({x or y, name}), shade ([from, to]), moving and pick (functions). */
function lineChart(parent, spec) {
  const height = spec.height ?? 300;
  const box = el("div", { class: "chart" });
  const root = svg("svg", { role: "img", "aria-label": spec.label, height });
  const tip = el("div", { class: "tip", hidden: "" });
  box.append(root, tip);
  if (spec.series.length > 1 || spec.series[0].band) parent.append(legendOf(spec));
  parent.append(box);
  const all = (key) => spec.series.flatMap((s) => s[key] ?? []);
  const xs = extent(spec.x, [...all("x"), ...all("edges")]);
  const ys = extent(spec.y, [...all("y"), ...(spec.y.bands ? [...all("low"), ...all("high")] : [])]);
  const xText = (v) => (spec.x.date ? dateText(v, xs[1] - xs[0]) : spec.x.count ? count(v) : short(v));
  const yText = (v) => (spec.y.count ? count(v) : short(v));
  let scale = null;

  function paint() {
    const width = box.clientWidth;
    if (width === 0) return;
    const longest = Math.max(...ticks(...ys, 8).map((v) => yText(v).length));
    const left = spec.y.hidden ? 12 : Math.max(56, 26 + 7.5 * longest), right = 14, bottom = 44;
    const top = (spec.marks ?? []).some((mark) => known(mark.x)) ? 26 : 10;
    const fx = (v) => left + ((v - xs[0]) / (xs[1] - xs[0])) * (width - left - right);
    const fy = (v) => height - bottom - ((Math.min(Math.max(v, ys[0]), ys[1]) - ys[0]) / (ys[1] - ys[0])) * (height - top - bottom);
    scale = { fx, left, right, width };
    root.setAttribute("width", width);
    root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    root.replaceChildren(...frame(fx, fy, width, left, right, top, bottom));
    if (spec.shade) {
      const [a, b] = spec.shade.map((v) => fx(Math.min(Math.max(v, xs[0]), xs[1])));
      root.append(svg("rect", { class: "shade", x: a, width: Math.max(0, b - a), y: top, height: height - top - bottom }));
    }
    for (const s of spec.series) root.append(...seriesShapes(s, fx, fy, fy(ys[0])));
    for (const mark of spec.marks ?? []) root.append(...markShapes(mark, fx, fy, width, left, right, top, height - bottom));
    if (spec.moving) {
      const x = fx(spec.moving());
      root.append(svg("line", { class: "moving", x1: x, x2: x, y1: top, y2: height - bottom }));
    }
  }

  function frame(fx, fy, width, left, right, top, bottom) {
    const shapes = [];
    for (const v of spec.y.hidden ? [] : ticks(...ys, (height - top - bottom) / 36)) {
      shapes.push(svg("line", { class: "grid", x1: left, x2: width - right, y1: fy(v), y2: fy(v) }));
      shapes.push(svg("text", { x: left - 7, y: fy(v) + 4, "text-anchor": "end", text: yText(v) }));
    }
    const about = (width - left - right) / 60;
    const xTicks = spec.x.date ? dateTicks(...xs, about) : ticks(...xs, about).filter((v) => !spec.x.integer || Number.isInteger(v)).map((v) => [v, xText(v)]);
    for (const [v, text] of xTicks) {
      shapes.push(svg("text", { x: fx(v), y: height - bottom + 17, "text-anchor": "middle", text }));
      shapes.push(svg("line", { class: "grid", x1: fx(v), x2: fx(v), y1: top, y2: height - bottom }));
    }
    shapes.push(svg("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }));
    shapes.push(svg("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle", text: spec.x.label }));
    const middle = (top + height - bottom) / 2;
    const turned = { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})`, text: spec.y.label };
    shapes.push(svg("text", turned));
    return shapes;
  }

  function valueText(s, i) {
    const y = s.y[i], low = s.low?.[i], high = s.high?.[i];
    if (!known(low) || !known(y)) return yText(y);
    return spec.y.count ? `${countWithin(y, low, high)} (${countsBetween(low, high)})` : `${within(y, low, high)} (${between(low, high)})`;
  }

  function showTip(event) {
    if (scale === null) return;
    const at = event.clientX - box.getBoundingClientRect().left;
    const value = xs[0] + ((at - scale.left) / (scale.width - scale.left - scale.right)) * (xs[1] - xs[0]);
    const lines = [];
    for (const s of spec.series) {
      let best = 0;
      for (let i = 1; i < s.x.length; i++) if (Math.abs(s.x[i] - value) < Math.abs(s.x[best] - value)) best = i;
      if (lines.length === 0) lines.push(el("b", { text: `${spec.x.label}: ${xText(s.x[best])}` }));
      lines.push(el("div", { text: spec.y.hidden ? s.name : `${s.name}: ${valueText(s, best)}` }));
    }
    tip.replaceChildren(...lines);
    tip.hidden = false;
    const space = scale.width - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(space, at + 14 > space ? at - tip.offsetWidth - 14 : at + 14))}px`;
    tip.style.top = "12px";
    return value;
  }
  root.addEventListener("pointermove", showTip);
  root.addEventListener("pointerleave", () => { tip.hidden = true; });
  if (spec.pick) root.addEventListener("click", (event) => spec.pick(showTip(event)));

  paint();
  new ResizeObserver(paint).observe(box);
  parent.append(numbersOf(spec, xText));
  return paint;
}

function seriesShapes(s, fx, fy, floor) {
  const shapes = [];
  const points = (keys) => s.x.map((x, i) => [fx(x), known(s[keys][i]) ? fy(s[keys][i]) : null]);
  const path = (list) => {
    let pen = "M", text = "";
    for (const [x, y] of list) {
      if (y === null) { pen = "M"; continue; }
      text += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
      pen = "L";
    }
    return text;
  };
  if (s.edges) {
    const step = s.y.flatMap((y, i) => [[fx(s.edges[i]), fy(y)], [fx(s.edges[i + 1]), fy(y)]]);
    const closed = `${path([[step[0][0], floor], ...step, [step[step.length - 1][0], floor]])}Z`;
    if (s.area) shapes.push(svg("path", { class: `fill fill-${s.color}`, d: closed }));
    shapes.push(svg("path", { class: `line stroke-${s.color}`, d: path(step), "stroke-dasharray": s.dash ? "6 4" : null }));
    return shapes;
  }
  if (s.low && !s.dots) {
    const there = s.x.map((_, i) => i).filter((i) => known(s.low[i]) && known(s.high[i]));
    const over = there.map((i) => [fx(s.x[i]), fy(s.high[i])]);
    const under = there.map((i) => [fx(s.x[i]), fy(s.low[i])]).reverse();
    if (there.length) shapes.push(svg("path", { class: `band fill-${s.color}`, d: `${path([...over, ...under])}Z` }));
  }
  if (!s.dots || s.joined) shapes.push(svg("path", { class: `line stroke-${s.color}`, d: path(points("y")), "stroke-dasharray": s.dash ? "6 4" : null }));
  if (s.dots) {
    s.x.forEach((x, i) => {
      if (!known(s.y[i])) return;
      if (s.low) shapes.push(svg("line", { class: `stroke-${s.color}`, "stroke-width": 1.6, x1: fx(x), x2: fx(x), y1: fy(s.low[i]), y2: fy(s.high[i]) }));
      shapes.push(svg("circle", { class: `fill-${s.color}`, cx: fx(x), cy: fy(s.y[i]), r: 4.5 }));
    });
  }
  return shapes;
}

function markShapes(mark, fx, fy, width, left, right, top, floor) {
  if (mark.diagonal) return [svg("line", { class: "mark", x1: fx(0), y1: fy(0), x2: fx(1), y2: fy(1) })];
  if (known(mark.x)) {
    const x = fx(mark.x), half = 3.6 * mark.name.length;
    const at = Math.max(left + half, Math.min(width - right - half, x));
    return [
      svg("line", { class: "mark", x1: x, x2: x, y1: top, y2: floor }),
      svg("text", { class: "name", x: at, y: top - 8, "text-anchor": "middle", text: mark.name }),
    ];
  }
  const y = fy(mark.y);
  return [
    svg("line", { class: "mark", x1: left, x2: width - right, y1: y, y2: y }),
    svg("text", { class: "name", x: left + 6, y: y - 7, "text-anchor": "start", text: mark.name }),
  ];
}

// Table of the values in a chart, for screen readers and copying.
function numbersOf(spec, xText) {
  const details = el("details", { class: "numbers" }, el("summary", { text: "Show data" }));
  details.addEventListener("toggle", () => {
    if (details.children.length > 1) return;
    const head = (name) => el("th", { scope: "col", class: "n", text: name });
    const cell = (value, key) => el("td", { class: "n", text: key === "x" ? xText(value) : short(value) });
    const tables = spec.series.map((s) => {
      const columns = [["x", spec.x.label], ["y", s.name], ["low", "from"], ["high", "to"]].filter(([key]) => s[key]);
      const rows = s.x.map((_, i) => el("tr", {}, ...columns.map(([key]) => cell(s[key][i], key))));
      return el("table", {}, el("thead", {}, el("tr", {}, ...columns.map(([, name]) => head(name)))), el("tbody", {}, ...rows));
    });
    details.append(el("div", { class: "wide" }, ...tables));
  });
  return details;
}
