// Static sections: each function takes the data and the element to fill.

const METHODS = { bbe: "best bin estimation", dedpul: "DEDPUL", tice: "TIcE", "elkan-noto": "Elkan-Noto", km2: "KM2", checks: "checked rows" };

const card = (name, value, more, words) =>
  el("div", { class: "card" },
    el("div", { class: "name", text: name }),
    el("div", { class: words ? "value words" : "value", text: value }),
    ...[more ?? []].flat().map((text) => el("div", { class: "more", text })));

const caveat = (item, lead) =>
  el("p", { class: `caveat ${item.level}` }, lead ? el("b", { text: lead }) : null, item.text);

const interval = (low, high, confidence) => [between(low, high), `${100 * confidence}% interval`];

const capitalized = (text) => text[0].toUpperCase() + text.slice(1);

const notesOf = (notes) => (notes ?? []).map((text) => caveat({ level: "note", text: capitalized(text) }));

// A metric with its interval, or as a range with the reason.
const metricCard = (m, rows, prior) =>
  card(m.name, estimated(m), m.is_range ? ["depends on the prior,", atMost(prior.estimate.upper)] : interval(m.low, m.high, rows.confidence), m.is_range);

// The prior that the model uses.
const usedPrior = ({ value, source, estimate }) => (estimate && source !== "check" ? within(value, estimate.low, estimate.high) : short(value));

// What is known of the prior, in one card.
function priorCard({ value, source, estimate }) {
  if (!estimate || source === "check") return card("Prior", usedPrior({ value }), "given, taken as exact");
  if (estimate.is_bound) return card("Prior", atMost(estimate.upper), ["upper limit;", "the data does not identify it"], true);
  return card("Prior", within(value, estimate.low, estimate.high), interval(estimate.low, estimate.high, estimate.confidence));
}

function showSummary(data, body) {
  const { rows, model } = data;
  const cards = [priorCard(data.prior)];
  if (rows) {
    body.append(leadOf(data));
    for (const key of ["pu_precision", "pu_recall", "pu_f1"]) {
      const metric = data.quality.find((m) => m.key === key);
      cards.push(metricCard(metric, rows, data.prior));
    }
    cards.push(card("Evaluated rows", count(rows.n), [`${count(rows.labeled)} labeled,`, `${count(rows.unlabeled)} unlabeled`]));
  } else {
    body.append(el("p", { class: "lead", text: "This report describes the model only. Pass labeled and unlabeled rows to evaluate its quality too." }));
    if (known(model.oob_risk)) cards.push(card("Out-of-bag error rate", fixed(model.oob_risk), "estimated from out-of-bag predictions"));
  }
  if (!rows && known(data.threshold.flagged)) cards.push(card("Threshold", short(data.threshold.value), `predicts ${percent(data.threshold.flagged)} of the population positive`));
  cards.push(card(model.n_trees === 1 ? "Tree" : "Trees", count(model.n_trees), [`${count(model.n_features)} features,`, `depth ${count(model.depth)}`]));
  body.append(el("div", { class: cards.length > 4 ? "cards six" : "cards" }, ...cards));
  const [worst, ...others] = data.caveats;
  body.append(caveat(worst, "Main caveat."));
  if (others.length) {
    const title = others.length === 1 ? "1 more caveat" : `${others.length} more caveats`;
    const list = el("details", { class: "more" }, el("summary", { text: title }), ...others.map((item) => caveat(item)));
    list.open = others.some((item) => item.level === "serious");
    body.append(list);
  }
}

function leadOf({ rows, thresholds: at, prior, range_note: bounded }) {
  const i = at.threshold.indexOf(rows.threshold), flagged = 1000 * at.flagged[i];
  const of = (name, end) => at[`${name}${end}`][i];
  const lead = el("p", { class: "lead" }, "Out of 1,000 rows of the population, the model flags about ", el("strong", { text: count(flagged) }), ", ");
  if (!known(at.precision[i])) lead.append("but their precision is unknown");
  else {
    const [low, high] = [flagged * of("precision", "_low"), flagged * of("precision", "_high")];
    if (bounded) lead.append("of which ", el("strong", { text: countsBetween(low, high) }), " are positive: the data does not determine how many");
    else lead.append(`of which about ${countWithin(flagged * at.precision[i], low, high)} are positive`);
  }
  if (bounded) {
    lead.append(". It finds ", el("strong", { text: percentWithin(at.recall[i], of("recall", "_low"), of("recall", "_high")) }), " of all positives.");
    return lead;
  }
  const positives = 1000 * prior.value, found = positives * at.recall[i];
  const range = prior.estimate && prior.source !== "check" ? prior.estimate : { low: prior.value, high: prior.value };
  lead.append(`. About ${countWithin(positives, 1000 * range.low, 1000 * range.high)} of the 1,000 are positive, of which it finds about `,
    el("strong", { text: countWithin(found, 1000 * range.low * of("recall", "_low"), 1000 * range.high * of("recall", "_high")) }), ".",
    found > flagged + 0.5 ? " It cannot find more than it flags: these estimates contradict each other by chance or because of a wrong prior." : "");
  return lead;
}

// Kinds of columns, of one and of several.
const KINDS = { number: ["number", "numbers"], category: ["category", "categorical"], boolean: ["boolean", "booleans"], datetime: ["date", "dates"], duration: ["duration", "durations"] };

function columnTable(c, model) {
  const box = el("div", {}, el("h3", { text: "Columns" }));
  const kinds = Object.entries(KINDS).filter(([kind]) => c.kinds[kind] > 0).map(([kind, [one, many]]) => `${count(c.kinds[kind])} ${c.kinds[kind] === 1 && kind !== "category" ? one : many}`);
  const missing = known(c.n_missing) ? ` ${c.n_missing ? count(c.n_missing) : "No"} ${c.n_missing === 1 ? "column has" : "columns have"} missing values.` : "";
  const unknown = c.n_unknown ? ` ${count(c.n_unknown)} ${c.n_unknown === 1 ? "column has" : "columns have"} categories that the model does not know; they count as missing.` : "";
  box.append(el("p", { text: `${kinds.join(", ")}.${missing}${unknown}` }));
  if (model.transformers.length) box.append(el("p", { text: `The model is a pipeline: these are the features that its transformers produce (${model.transformers.join(", ")}).` }));
  const columns = [
    ["column", "", (x) => x.name, true],
    ["kind", "", (x) => KINDS[x.kind][0], true],
    ["categories", "n", (x) => (known(x.categories) ? count(x.categories) : ""), c.kinds.category > 0],
    ["missing", "n", (x) => (x.missing ? count(x.missing) : "–"), known(c.n_missing)],
    ["unknown", "n", (x) => (x.unknown ? count(x.unknown) : "–"), c.n_unknown > 0],
    [c.kinds.category || c.kinds.boolean ? "range or most frequent values" : "range", "values", (x) => x.values, known(c.n_missing)],
  ].filter(([, , , used]) => used);
  const line = (x) => el("tr", {}, ...columns.map(([, name, text], i) => el(i ? "td" : "th", { scope: i ? null : "row", class: name, title: i ? null : x.name, text: text(x) })));
  box.append(el("div", { class: "wide tall", tabindex: "0", role: "region", "aria-label": "Columns" }, el("table", { id: "columns" },
    el("thead", {}, el("tr", {}, ...columns.map(([head, name]) => el("th", { scope: "col", class: name, text: head })))),
    el("tbody", {}, ...c.columns.map(line)))));
  const more = c.n_features - c.columns.length;
  if (more > 0) box.append(el("p", { class: "small", text: `The ${c.columns.length} most important columns; ${count(more)} others are not shown.` }));
  return box;
}

const shortDigest = (source) => `${source.sha256.slice(0, 12)}…`;

function showData({ rows, model, columns, source }, body) {
  const cards = [];
  if (rows) {
    cards.push(card("Labeled rows", count(rows.labeled), `${percent(rows.labeled / rows.n)} of all`));
    cards.push(card("Unlabeled rows", count(rows.unlabeled), "positives and negatives"));
  } else {
    cards.push(card("Labeled rows", count(model.labeled), "in the first tree"));
    cards.push(card("Unlabeled rows", count(model.unlabeled), "in the first tree"));
  }
  cards.push(card("Features", count(model.n_features)));
  cards.push(card("Scenario", model.risk === "pn" ? "fully labeled" : model.scenario.replaceAll("-", " "), "", true));
  body.append(el("div", { class: "cards" }, ...cards));
  body.append(el("p", { text: model.risk === "pn" ? "With risk=\"pn\", the other rows are negatives, not unlabeled." : `${capitalized(model.scenario_description)}.` }));
  if (source) {
    const digest = el("code", { title: source.sha256, text: shortDigest(source) });
    const from = source.name ? ["File: ", el("strong", { text: source.name }), ", SHA-256 "] : ["SHA-256 of the values and labels: "];
    body.append(el("p", { id: "source" }, ...from, digest, " (in full among the parameters). Equal fingerprints mean equal data."));
  }
  if (rows) body.append(...rowNotes(rows));
  body.append(columnTable(columns, model));
}

function rowNotes(rows) {
  const notes = [el("p", { text: {
    model: "The rows of this report are new to the model, which scored them itself.",
    "out-of-bag": "The rows of this report are those of the fit. Each was scored out of bag: by the trees that were grown without it and its duplicates.",
    folds: `The rows of this report were scored by cross-fitting: ${rows.folds} models of the same kind were each fitted to all folds but one and scored that one, so no row is scored by a model fitted to it.`,
  }[rows.scored_by] })];
  if (rows.weighted) notes.push(el("p", { text: "Rows are weighted by the given sample weights." }));
  if (rows.propensity) notes.push(el("p", { text: "Labeled rows are weighted by the inverse of the given propensities." }));
  return notes;
}

function showPrior({ prior }, body) {
  const { estimate, source } = prior;
  const from = { fit: "estimated by the fit", given: "given to the model", check: "given to the model, taken as exact", checked: "used by its predictions" };
  const byChecks = source === "checked";
  const used = byChecks ? short(prior.of_model) : usedPrior(prior);
  const cards = [card("Prior of the model", used, estimate?.is_bound && source === "fit" ? "used by the fit; see below" : from[source])];
  if (!estimate) {
    body.append(el("div", { class: "cards" }, ...cards), el("p", { text: "There is no estimate to compare it with: pass rows and labels to the report to get one." }));
    return;
  }
  const by = `by ${METHODS[estimate.method] ?? estimate.method}`, level = `${100 * estimate.confidence}%`;
  const title = byChecks ? "According to the checked rows" : source === "check" ? "According to these rows" : "According to the data";
  if (estimate.is_bound) {
    cards.push(card(title, atMost(estimate.upper), [`${level} upper limit`, by], true));
  } else {
    if (byChecks || source === "check") cards.push(card(title, within(estimate.value, estimate.low, estimate.high), byChecks ? "used for all metrics" : by));
    cards.push(card(`${level} interval`, between(estimate.low, estimate.high), by, true));
    cards.push(card("Label frequency", percent(estimate.label_frequency), "of the positives are labeled"));
  }
  body.append(el("div", { class: "cards" }, ...cards));
  const meaning = !estimate.is_bound ? "" : source === "check"
    ? " A given prior below the limit does not contradict the data."
    : ` The prior may be anywhere from ${within(estimate.low, estimate.low, estimate.upper)} to the limit, and the model uses ${used}. Everything that depends on the prior is therefore shown as a range.`;
  body.append(el("p", { text: `${estimate.reason}${meaning}` }));
  if (!estimate.evidence) return;
  const chart = estimate.evidence;
  body.append(el("h3", { text: "Evidence" }), el("p", { class: "small", text: chart.description }));
  lineChart(body, { ...chart, label: `Evidence for the prior: ${chart.y.label} by ${chart.x.label}`, height: 280 });
}

function showCandidates({ candidates }, body) {
  const columns = [
    ["recipe", "", (c) => c.recipe],
    ["AUC", "n", (c) => `${fixed(c.auc)} ± ${fixed(c.standard_error)}`],
    ["behind the best", "n", (c) => (c.behind > 0 ? `${fixed(c.behind)} ± ${fixed(c.behind_error)}` : "best")],
    ["seconds", "n seconds", (c) => short(Number(c.seconds.toPrecision(2)))],
    ["trees", "n", (c) => (c.n_trees ? count(c.n_trees) : "not kept")],
  ];
  const line = (c) => el("tr", { class: c.n_trees ? "" : "quiet" }, ...columns.map(([, name, text], i) => el(i ? "td" : "th", { scope: i ? null : "row", class: name, text: text(c) })));
  body.append(el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Candidates" }, el("table", { id: "compared" },
    el("thead", {}, el("tr", {}, ...columns.map(([head, name]) => el("th", { scope: "col", class: name, text: head })))),
    el("tbody", {}, ...candidates.map(line)))));
}

// The threshold of the model, and how it was set.
const thresholdText = ({ value, rule }) => `${short(value)}${rule ? `, set ${rule}` : ""}`;

function showQuality({ quality, quality_notes: notes, rows, model, threshold, baseline, range_note: bounded }, body) {
  if (!quality) {
    body.append(el("div", { class: "cards" }, card("Out-of-bag error rate", fixed(model.oob_risk), "estimated from out-of-bag predictions")));
    return;
  }
  const whisker = (m) => {
    if (m.high > 1) return el("span");
    const at = (tag, name, left, width) => {
      const part = el(tag, { class: name });
      part.style.left = `${100 * left}%`;
      if (known(width)) part.style.width = `${100 * width}%`;
      return part;
    };
    return el("div", { class: "whisker", "aria-hidden": "true" }, el("i", { class: "track" }), at("i", "range", m.low, m.high - m.low), m.is_range ? null : at("i", "dot", m.value));
  };
  const line = (m) =>
    el("tr", {},
      el("th", { scope: "row" }, `${m.name}\u00a0`, el("span", { class: "small", "aria-label": m.greater_is_better ? "higher is better" : "lower is better", text: m.greater_is_better ? "↑" : "↓" })),
      el("td", { class: "n", text: m.is_range ? "range" : estimated(m) }),
      el("td", { class: "n", text: between(m.low, m.high) }),
      el("td", { class: "bar-cell" }, whisker(m)),
      el("td", { class: "description-cell small", text: m.description }));
  const head = ["", "value", `${100 * rows.confidence}% interval`, "0 to 1", "description"];
  const classes = ["", "n", "n", "bar-cell", "description-cell"];
  if (bounded) body.append(caveat({ level: "note", text: bounded }));
  body.append(el("div", { class: "wide" }, el("table", { id: "metrics" },
    el("thead", {}, el("tr", {}, ...head.map((text, i) => el("th", { scope: "col", class: classes[i], text })))),
    el("tbody", {}, ...quality.map(line)))));
  body.append(el("p", { class: "small", text: `↑ higher is better, ↓ lower is better. Rows with a score above the threshold of the model are predicted positive, as in predict: ${thresholdText(threshold)}. Intervals reflect the sampling of the evaluated rows${rows.scored_by === "folds" ? ", not the variation between fitted models" : ""}; if the prior was estimated, they cover its interval too.` }));
  if (notes.length) body.append(el("details", { class: "more" }, el("summary", { text: "Notes on these estimates" }), ...notesOf(notes)));
  if (baseline) body.append(...baselineTable(baseline, rows));
}

const BASELINES = { model: "this model", prior: "baseline, cut at the prior", half: "baseline, cut at 0.5" };

// Cell with an estimate above its interval, or with a range.
const estimateCell = (m) => el("td", { class: "n" }, ...(m ? [el("div", { text: m.upper && m.is_range ? atMost(m.upper) : estimated(m) }), m.is_range ? null : el("div", { class: "small", text: between(m.low, m.high) })] : [UNKNOWN]));

const estimateTable = (id, head, lines) =>
  el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Estimates" }, el("table", { id, class: "estimates" },
    el("thead", {}, el("tr", {}, el("th"), ...head.map((text) => el("th", { scope: "col", class: "n", text })))),
    el("tbody", {}, ...lines.map(([name, ...cells]) => el("tr", {}, el("th", { scope: "row", text: name }), ...cells.map(estimateCell))))));

function baselineTable(b, rows) {
  return [
    el("h3", { text: "Compared with a baseline" }),
    el("p", { class: "small", text: `The baseline is an ordinary random forest that takes unlabeled rows as negatives, cross-fitted to ${b.n_rows < rows.n ? `${count(b.n_rows)} of the rows` : "the rows"} of this report. Cut at 0.5, as by default, it predicts few rows positive; cut at the prior, as many as there are positives.` }),
    estimateTable("baseline", b.rows.map((r) => BASELINES[r.name]), b.columns.map((name, i) => [name, ...b.rows.map((r) => r.metrics[i])])),
  ];
}

function showChecked({ checked: c }, body) {
  const { fitted } = c, inFit = fitted.positive + fitted.negative;
  const cards = [];
  if (known(c.n_checked)) {
    cards.push(card("Checked rows", count(c.n_checked), `of ${count(c.n_unlabeled)} unlabeled rows`));
    cards.push(card("Found positive", count(c.n_positive), `${percent(c.n_positive / c.n_checked)} of those checked`));
  }
  cards.push(inFit ? card("Used by the fit", count(inFit), [`${count(fitted.positive)} positive,`, `${count(fitted.negative)} negative`]) : card("Used by the fit", "none", "", true));
  body.append(el("div", { class: "cards" }, ...cards));
  if (known(c.n_checked)) {
    body.append(estimateTable("checks", ["from labels", "from checked rows"], c.estimates.map((r) => [r.name, r.from_labels, r.from_checks])));
    body.append(el("p", { class: "small", text: `${100 * c.confidence}% intervals. The fraction of checked rows that are positive is not the class prior if rows were selected by score: the estimates account for the probability with which each row was selected.` }));
  } else if (inFit) body.append(el("p", { text: "Pass the verdicts to the report too to see what they say about the prior and the quality of the model." }));
  body.append(...notesOf(c.notes));
}

function showScores({ histogram: h, prior, threshold }, body) {
  const middles = h.labeled.map((_, i) => (h.edges[i] + h.edges[i + 1]) / 2);
  const series = (name, color, y, more) => ({ name, color, x: middles, y, edges: h.edges, ...more });
  const views = {
    groups: ["fraction of group", [
      series("unlabeled rows", "unlabeled", h.unlabeled, { area: true }),
      series("labeled rows", "labeled", h.labeled)]],
    population: ["fraction of population", [
      series("population", "unlabeled", h.population, { area: true }),
      series("positives, estimated from labeled rows", "labeled", h.positives),
      series("negatives, by difference", "quiet", h.population.map((u, i) => Math.max(0, u - h.positives[i])), { dash: true })]],
  };
  const select = el("select", { id: "score-view" },
    el("option", { value: "groups", text: "by group" }),
    el("option", { value: "population", text: `by class, for a prior of ${usedPrior(prior)}` }));
  const place = el("div");
  const show = () => {
    const [label, list] = views[select.value];
    place.replaceChildren();
    lineChart(place, { label: "Distribution of scores", x: { label: "score", min: 0, max: 1 }, y: { label, min: 0 }, series: list, marks: [{ x: threshold.value, name: `threshold: ${short(threshold.value)}` }] });
  };
  select.addEventListener("change", show);
  body.append(el("div", { class: "controls" }, el("label", {}, "Show", select)), place);
  show();
}

function showReliability({ reliability: r, model }, body) {
  const bins = r.predicted.length, off = r.predicted.filter((p, i) => p < r.low[i] || p > r.high[i]).length;
  const word = off === 0
    ? `In all ${bins} bins, the mean score is within the interval of the fraction of positives: no miscalibration was detected. If the intervals are wide, there may still be some.`
    : `In ${off} of ${bins} bins, the mean score is outside the interval of the fraction of positives: use scores for ranking only${model.calibrated ? "" : ", or calibrate them with PUCalibratedClassifier"}.`;
  const error = { value: r.error, low: r.error_low, high: r.error_high, is_range: r.is_range };
  body.append(el("p", { text: `${word} The calibration error is ${estimated(error)}${r.is_range ? ", depending on the prior" : ""}.` }));
  if (model.calibrated) body.append(el("p", { class: "small", text: "Scores of this model are calibrated probabilities." }));
  if (model.hard_votes) body.append(el("p", { class: "small", text: "Scores of this model are fractions of tree votes (voting=\"hard\"), which tend to be more extreme than probabilities." }));
  lineChart(body, {
    label: "Reliability curve: fraction of positives by mean score",
    x: { label: "mean score in bin", min: 0, max: 1 }, y: { label: "fraction of positives", min: 0, max: 1 },
    series: [{ name: "fraction of positives", color: "labeled", x: r.predicted, y: r.observed, low: r.low, high: r.high, dots: true, joined: true }],
    marks: [{ diagonal: true }], height: 340,
  });
}

function showFeatures({ importances: f }, body) {
  // Two standard errors of the mean over trees.
  const reach = f.std.map((s) => (2 * s) / Math.sqrt(f.n_trees));
  const most = Math.max(...f.mean.map((m, i) => m + reach[i]), 1e-12);
  const place = (node, left, width) => {
    node.style.left = `${(100 * Math.max(0, left)) / most}%`;
    node.style.width = `${(100 * Math.max(0, width)) / most}%`;
    return node;
  };
  const rows = f.names.map((name, i) => {
    const m = f.mean[i], from = Math.max(0, m - reach[i]);
    const track = el("div", { class: "track" }, place(el("i"), 0, m));
    if (f.n_trees > 1) track.append(place(el("b"), from, m + reach[i] - from));
    return el("div", { class: "bar" }, el("span", { class: "name", title: name, text: name }), track, el("span", { class: "n", text: short(m) }));
  });
  body.append(el("div", { class: "bars", id: "importances" }, ...rows));
  if (f.n_features > f.names.length) body.append(el("p", { class: "small", text: `The ${f.names.length} most important of ${count(f.n_features)} features.` }));
  if (f.infinite) body.append(el("p", { class: "small", text: `${count(f.infinite)} splits with an infinite risk reduction are not included.` }));
}

function dependenceBars(curve, top) {
  const bar = (label, value, name) => {
    const fill = el("i");
    fill.style.width = `${(100 * value) / top}%`;
    return el("div", { class: `bar ${name}` }, el("span", { class: "name", title: label, text: label }), el("div", { class: "track" }, fill), el("span", { class: "n", text: short(value) }));
  };
  return el("div", { class: "bars", role: "group", "aria-label": `Mean score by ${curve.name}` },
    ...curve.labels.map((label, i) => bar(label, curve.y[i], "")),
    ...curve.missing.map((value) => bar("missing", value, "missing")));
}

function showDependence({ dependence: d }, body) {
  const grid = el("div", { class: "triple" });
  const top = Math.min(1, Math.max(...d.curves.flatMap((c) => [...c.y, ...c.missing])) * 1.1 || 1);
  body.append(grid);
  for (const curve of d.curves) {
    const cell = el("div", {}, el("h3", { text: curve.name, title: curve.name }));
    grid.append(cell);
    if (curve.labels) cell.append(dependenceBars(curve, top));
  }
  // Charts adapt to the width of their cells, so all cells must be there.
  d.curves.forEach((curve, i) => curve.labels || lineChart(grid.children[i], {
    label: `Mean score by ${curve.name}`, height: 190, y: { label: "mean score", min: 0, max: top },
    x: { label: { datetime: "date", duration: "days" }[curve.kind] ?? "feature value", date: curve.kind === "datetime" },
    series: [{ name: "mean score", color: "labeled", x: curve.x, y: curve.y, dots: curve.x.length < 8, joined: true }],
    marks: curve.missing.map((y) => ({ y, name: `missing: ${short(y)}` })),
  }));
  const many = d.curves.some((c) => c.kind === "category") ? ` Of the categories that occur in them, the ${d.max_categories} most frequent ones are shown.` : "";
  body.append(el("p", { class: "small", text: `Most important features, averaged over ${count(d.n_rows)} rows.${many}` }));
}

function showSensitivity({ sensitivity: s, prior, threshold }, body) {
  body.append(...notesOf(s.notes));
  const { estimate } = prior;
  const shade = estimate ? [estimate.low, estimate.high] : null;
  const x = { label: "class prior" }, marks = [{ x: s.prior, name: `model: ${usedPrior(prior)}` }];
  const line = (name, color, y, dash) => ({ name, color, x: s.priors, y, dash });
  const pair = el("div", { class: "pair" });
  body.append(pair);
  const part = (title, series, label, max) => {
    const place = el("div", {}, el("h3", { text: title }));
    pair.append(place);
    return () => lineChart(place, { label: `${title} by prior`, x, y: { label, min: 0, max }, series, marks, shade, height: 270 });
  };
  for (const draw of [
    part("Predictions", [line("predicted positive", "labeled", s.positive_fraction), line("changed predictions", "unlabeled", s.flipped_fraction, true)], "fraction of population", Math.min(1, 1.2 * Math.max(...s.positive_fraction, ...s.flipped_fraction, 0.001))),
    part("Quality, if the prior is correct", [line("precision", "labeled", s.precision), line("recall", "unlabeled", s.recall, true), line("F1", "ink", s.f1)], "estimate", 1),
  ]) draw();
  if (threshold.rule) body.append(el("p", { class: "small", text: `The threshold changes with the prior: it is set ${threshold.rule}.` }));
  if (shade) body.append(el("p", { class: "small", text: estimate.is_bound ? `Shaded: priors that the data allows, ${atMost(estimate.upper)}.` : `Shaded: ${100 * estimate.confidence}% interval of the estimated prior.` }));
}

function showLabels({ scar }, body) {
  body.append(el("p", { text: scar.explanation }), ...notesOf(scar.notes));
  if (!known(scar.p_value)) return;
  const n = scar.simulated.length;
  body.append(el("p", { class: "small", text: `Each dot is one of ${n} simulations with positives labeled at random. If the data lies far to the right of the dots, positives are not labeled at random.` }));
  lineChart(body, {
    label: "Excess of labels in simulations and data", height: 110, x: { label: "excess of labels, in standard deviations", min: Math.min(0, scar.simulated[0]), max: 1.1 * Math.max(scar.statistic, scar.simulated[n - 1]) },
    y: { label: "", min: -1, max: 1, hidden: true },
    series: [{ name: "simulations", color: "quiet", x: scar.simulated, y: scar.simulated.map(() => 0), dots: true }],
    marks: [{ x: scar.statistic, name: "data" }],
  });
}

function showParameters({ parameters, versions, source }, body) {
  const table = (head, rows) => el("table", {}, el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col", text })))), el("tbody", {}, ...rows));
  const lines = (layer) => layer.parameters.map((p) => el("tr", {}, el("th", { scope: "row", text: p.name }), el("td", {}, p.changed ? el("strong", {}, el("code", { text: p.value })) : el("code", { text: p.value }))));
  const about = source ? [...versions, [source.name ? `SHA-256 of ${source.name}` : "SHA-256 of the data", source.sha256]] : versions;
  const rows = about.map(([name, value]) => el("tr", {}, el("th", { scope: "row", text: name }), el("td", { text: value })));
  body.append(el("div", { class: "pair" },
    ...parameters.map((layer) => el("div", {}, el("h3", { text: layer.class }), table(["parameter", "value"], lines(layer)))),
    el("div", {}, el("h3", { text: "Software versions" }), table(["component", "version"], rows))));
}
