// Interactive sections: the threshold, the gains and the trees.

function nearest(values, x) {
  let best = 0;
  values.forEach((value, i) => { if (Math.abs(value - x) < Math.abs(values[best] - x)) best = i; });
  return best;
}

function showChooser({ thresholds: at, rows, threshold, prior, range_note: bounded }, body) {
  const own = at.threshold.indexOf(rows.threshold);
  body.append(el("p", { text: `The threshold of the model is ${thresholdText(threshold)}. It predicts ${percent(at.flagged[own])} of the population positive.` }));
  if (bounded) body.append(caveat({ level: "note", text: `The prior is only bounded: ${atMost(prior.estimate.upper)}. Lines, errors and costs are for a prior of ${usedPrior(prior)}, which the model uses. If the prior is smaller, precision and F1 are lower, and there are more false alarms and fewer missed positives.` }));
  const last = at.threshold.length - 1;
  const slider = el("input", { type: "range", id: "threshold", min: 0, max: last, step: 1, value: own });
  const output = el("output", { id: "threshold-value", for: "threshold" });
  const costBox = (id) => el("input", { type: "number", id, min: 0, step: "any", value: 1, inputmode: "decimal" });
  const alarm = costBox("cost-alarm"), miss = costBox("cost-miss");
  const results = el("div", { class: "cards four", id: "chosen", "aria-live": "polite" });
  const use = el("button", { type: "button", class: "main", id: "use-best", text: "Apply" });
  const curves = el("div", {}, el("h3", { text: "Quality by threshold" }));
  const costs = el("div", {}, el("h3", { text: "Cost by threshold" }));
  body.append(
    el("div", { class: "controls" },
      el("label", { class: "grow", for: "threshold" }, el("span", {}, "Threshold: ", output), slider),
      el("label", {}, "Cost of a false alarm", alarm),
      el("label", {}, "Cost of a missed positive", miss)),
    results, el("div", { class: "pair" }, curves, costs),
    el("p", { class: "small", text: "Costs are per 1,000 rows of the population, in the unit of the two costs. Click in a chart to move the threshold. Bands are pointwise intervals." }));

  const price = (box) => (box.value.trim() !== "" && Number(box.value) >= 0 ? Number(box.value) : null);
  const index = () => Number(slider.value);
  const moving = () => at.threshold[index()];
  const pick = (x) => { slider.value = nearest(at.threshold, x); show(); };
  const x = { label: "threshold", min: 0, max: 1 };
  const line = (name, color, dash) => ({ name, color, dash, x: at.threshold, y: at[name.toLowerCase()], low: at[`${name.toLowerCase()}_low`], high: at[`${name.toLowerCase()}_high`] });
  const series = [{ ...line("Precision", "labeled"), band: bounded ? "range of the precision" : null }, line("Recall", "unlabeled", true), { ...line("F1", "ink"), low: undefined, high: undefined }];
  const paintCurves = lineChart(curves, { label: "Precision, recall and F1 by threshold", x, y: { label: "estimate", min: 0, max: 1 }, series, moving, pick, height: 280 });
  let paintCost = () => {};

  function costList() {
    const a = price(alarm), m = price(miss);
    if (a === null || m === null) return null;
    return at.threshold.map((_, i) => 1000 * (a * at.false_alarms[i] + m * at.missed[i]));
  }
  // Ties go to the threshold closest to that of the model.
  function bestOf(list) {
    const least = Math.min(...list), near = (i) => Math.abs(at.threshold[i] - rows.threshold);
    return list.reduce((b, cost, i) => (cost <= least * (1 + 1e-9) && (b < 0 || near(i) < near(b)) ? i : b), -1);
  }
  function show() {
    const i = index(), list = costList(), b = list ? bestOf(list) : -1;
    const of = (label, name, none) => {
      if (!known(at[name][i])) return card(label, UNKNOWN, none);
      return metricCard({ name: label, value: at[name][i], low: at[`${name}_low`][i], high: at[`${name}_high`][i], is_range: Boolean(bounded) && name !== "recall" }, rows, prior);
    };
    output.textContent = short(at.threshold[i]);
    slider.setAttribute("aria-valuetext", short(at.threshold[i]));
    results.replaceChildren(
      of("Precision", "precision", "no row is flagged"),
      of("Recall", "recall"),
      of("F1", "f1"),
      card("Flagged per 1,000", rough(1000 * at.flagged[i]), `${count(at.flagged_unlabeled[i])} of the unlabeled rows`),
      card("False alarms per 1,000", rough(1000 * at.false_alarms[i]), "negatives that are flagged"),
      card("Missed per 1,000", rough(1000 * at.missed[i]), "positives that are not flagged"),
      card("Cost per 1,000 rows", list ? rough(list[i]) : UNKNOWN, list ? "expected at this threshold" : "enter two costs of 0 or more"));
    const best = card("Best threshold", list ? short(at.threshold[b]) : UNKNOWN, list ? `cost ${rough(list[b])}` : "enter two costs of 0 or more");
    best.id = "best";
    best.append(use);
    results.append(best);
    use.disabled = b < 0 || b === i;
    use.onclick = () => { slider.value = b; show(); slider.focus(); };
    paintCurves();
    paintCost();
  }
  function redrawCost() {
    const list = costList();
    costs.replaceChildren(el("h3", { text: "Cost by threshold" }));
    paintCost = list === null ? () => {} : lineChart(costs, {
      label: "Expected cost by threshold", x, y: { label: "cost per 1,000 rows", min: 0 }, moving, pick, height: 280,
      series: [
        { name: "total", color: "ink", x: at.threshold, y: list },
        { name: "false alarms", color: "labeled", dash: true, x: at.threshold, y: at.false_alarms.map((v) => 1000 * price(alarm) * v) },
        { name: "missed positives", color: "unlabeled", dash: true, x: at.threshold, y: at.missed.map((v) => 1000 * price(miss) * v) },
      ],
    });
    show();
  }
  slider.addEventListener("input", show);
  for (const box of [alarm, miss]) box.addEventListener("input", redrawCost);
  redrawCost();
}

// Gains

function showGains({ gains: g, prior, rows, checked }, body) {
  const last = g.n[g.n.length - 1], at = { n: Math.min(100, Math.round(last)) };
  const value = (name) => {
    const i = g.n.findIndex((n) => n >= at.n);
    if (i <= 0) return (g[name][0] * at.n) / g.n[0];
    const part = (at.n - g.n[i - 1]) / (g.n[i] - g.n[i - 1]);
    return g[name][i - 1] + part * (g[name][i] - g[name][i - 1]);
  };
  const box = el("input", { type: "number", id: "gains-n", min: 1, max: Math.round(last), step: 1, value: at.n, inputmode: "numeric" });
  const sentence = el("p", { class: "lead", id: "gains-found", "aria-live": "polite" });
  const chart = el("div");
  body.append(el("div", { class: "controls" }, el("label", {}, "Number of rows to look at", box)), sentence, chart);
  const level = `${100 * g.confidence}%`;
  const paint = lineChart(chart, {
    label: "Positives found by the number of rows looked at", height: 320,
    x: { label: "unlabeled rows looked at", min: 0, max: last, count: true }, y: { label: "positives found", min: 0, count: true, bands: true },
    series: [
      { name: g.is_range ? `in order of score, for a prior of ${usedPrior(prior)}` : "in order of score", color: "labeled", x: [0, ...g.n], y: [0, ...g.expected], low: [0, ...g.low], high: [0, ...g.high], band: g.is_range ? `range for all possible priors, ${level}` : `${level} interval` },
      { name: "in random order", color: "quiet", dash: true, x: [0, ...g.n], y: [0, ...g.random] },
    ],
    moving: () => at.n,
    pick: (x) => { box.value = Math.min(Math.max(1, Math.round(x)), Math.round(last)); show(); },
  });
  function show() {
    const n = Number(box.value);
    if (!Number.isInteger(n) || n < 1 || n > Math.round(last)) {
      sentence.textContent = `Enter a number from 1 to ${count(last)}.`;
      return;
    }
    at.n = Math.min(n, last);
    const low = value("low"), high = value("high");
    const found = g.is_range
      ? [el("strong", { text: countsBetween(low, high) }), ` positives. The number depends on the prior, which is only bounded: ${atMost(prior.estimate.upper)}.`]
      : ["about ", el("strong", { text: countWithin(value("expected"), low, high) }), ` positives (${countsBetween(low, high)}); in random order, you would find ${countWithin(value("random"), low, high)}.`];
    sentence.replaceChildren("Look at the top ", el("strong", { text: count(n) }), " unlabeled rows, and find ", ...found);
    paint();
  }
  box.addEventListener("input", show);
  show();
  const weights = `${rows.weighted ? " Rows count by their weights." : ""}${checked ? " Rows that were already checked are among them." : ""}`;
  body.append(el("p", { class: "small", text: `The interval covers the number that will really be found, with a confidence of ${level}. Click in the chart to change the number of rows.${weights}` }));
}

// Trees

function showTrees({ trees: t, columns }, body) {
  const chooser = el("input", { type: "number", id: "tree-number", min: 1, max: t.trees.length, step: 1, value: 1 });
  const open = el("button", { type: "button", id: "open-tree", text: "Expand two levels" });
  const close = el("button", { type: "button", id: "close-tree", text: "Collapse all" });
  const facts = el("p", { class: "small", id: "tree-facts", "aria-live": "polite" });
  const place = el("div", { class: "tree", id: "tree" });
  body.append(
    el("div", { class: "controls tree-controls" }, el("label", {}, `Tree (1 to ${t.trees.length})`, chooser), open, close),
    facts, place,
    el("p", { class: "small" },
      t.trees.length < t.n_trees ? `To keep the file small, it contains ${t.trees.length} of ${count(t.n_trees)} trees. ` : "",
      "Mass is the estimated fraction of the population in a node. Row counts refer to the training rows of the tree.",
      t.values === "ratio" ? " A leaf value is a / (a + b), where a and b are the fractions of the labeled rows and of the population in the leaf. The mean over the trees is calibrated to the score." : "",
      t.missing.length ? " “missing” is the branch that missing values take." : "",
      columns.kinds.category > 0 ? " Categories that are unknown, or did not occur at a node, take the same branch as missing values." : ""));

  const leafText = (tree, i) => (t.values === "ratio" ? `leaf value ${fixed(tree.value[i])}` : tree.w_p[i] * 2 > tree.w_u[i] ? "predicts positive" : "predicts negative");
  const hasMissing = new Set(t.missing);
  const brief = (value) => short(Number(value.toPrecision(3)));
  function facet(tree, i, edge) {
    const mix = el("i");
    mix.style.width = `${100 * (tree.posterior[i] ?? 0)}%`;
    const inner = tree.feature[i] >= 0;
    const question = inner ? `${t.names[tree.feature[i]]} ${tree.split[i]}?` : leafText(tree, i);
    const missing = hasMissing.has(tree.feature[i]) ? `missing: ${tree.missing_yes[i] ? "yes" : "no"} · ` : "";
    const cut = inner && tree.left[i] < 0 ? ", children not included" : "";
    return el("span", { class: "node" },
      edge ? el("span", { class: "edge", text: edge }) : null,
      el("span", { class: "mix", role: "img", "aria-label": `${percent(tree.posterior[i])} positive` }, mix),
      el("span", { class: "q", title: question, text: question }),
      el("span", { class: "facts", text: `${missing}${percent(tree.posterior[i])} positive · mass ${brief(tree.w_u[i])}, positive ${brief(tree.w_p[i])} · ${count(tree.labeled[i])} labeled, ${count(tree.unlabeled[i])} unlabeled${cut}` }));
  }
  function node(tree, i, edge) {
    const left = tree.left[i];
    if (left < 0) return el("li", { class: "leaf" }, facet(tree, i, edge));
    const details = el("details", {}, el("summary", {}, facet(tree, i, edge)));
    details.grow = () => {
      const [yes, no] = tree.yes_left[i] ? [left, left + 1] : [left + 1, left];
      if (details.children.length === 1) details.append(el("ul", {}, node(tree, yes, "yes"), node(tree, no, "no")));
    };
    details.addEventListener("toggle", () => { if (details.open) details.grow(); });
    return el("li", {}, details);
  }
  function openLevel() {
    for (const details of place.querySelectorAll("details:not([open])")) {
      if (details.parentElement.closest("details:not([open])")) continue;
      details.grow();
      details.open = true;
    }
  }
  function show() {
    const number = Number(chooser.value);
    if (!Number.isInteger(number) || number < 1 || number > t.trees.length) {
      facts.textContent = `Enter a tree number from 1 to ${t.trees.length}.`;
      place.replaceChildren();
      return;
    }
    const tree = t.trees[number - 1], kept = tree.feature.length;
    const part = kept < tree.n_nodes ? `, of which the ${count(kept)} closest to the root are included` : "";
    facts.textContent = `Tree ${number} of ${count(t.n_trees)}: ${count(tree.n_nodes)} nodes${part}; depth ${count(tree.depth)}.`;
    place.replaceChildren(el("ul", {}, node(tree, 0, "")));
    openLevel();
    openLevel();
  }
  chooser.addEventListener("input", show);
  open.addEventListener("click", () => { openLevel(); openLevel(); });
  close.addEventListener("click", () => { for (const d of place.querySelectorAll("details[open]")) d.open = false; });
  show();
}
