// Fill the sections that have data and remove the others.

const data = JSON.parse(document.getElementById("report-data").textContent);

const SECTIONS = {
  summary: [showSummary, true],
  data: [showData, true],
  prior: [showPrior, data.model.risk !== "pn"],
  candidates: [showCandidates, data.candidates],
  quality: [showQuality, data.quality || known(data.model.oob_risk)],
  checked: [showChecked, data.checked],
  gains: [showGains, data.gains],
  scores: [showScores, data.histogram],
  chooser: [showChooser, data.thresholds],
  reliability: [showReliability, data.reliability],
  features: [showFeatures, true],
  dependence: [showDependence, data.dependence],
  sensitivity: [showSensitivity, data.sensitivity],
  labels: [showLabels, data.scar],
  trees: [showTrees, true],
  parameters: [showParameters, true],
};

function start() {
  document.getElementById("made").textContent = `${data.model.class}, ${data.made}`;
  const contents = document.getElementById("contents");
  for (const [id, [show, hasData]] of Object.entries(SECTIONS)) {
    const section = document.getElementById(id);
    if (!hasData) {
      section.remove();
      continue;
    }
    contents.append(el("a", { href: `#${id}`, text: section.dataset.name }));
    show(data, section.querySelector(".body"));
  }
  highlightCurrentSection(contents);
  themeButton();
}

function highlightCurrentSection(contents) {
  const link = (section) => contents.querySelector(`a[href="#${section.id}"]`);
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const a of contents.children) a.removeAttribute("aria-current");
      link(entry.target).setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-15% 0px -75% 0px" });
  for (const section of document.querySelectorAll("section")) watch.observe(section);
}

function themeButton() {
  const button = document.getElementById("theme"), root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Use light colors" : "Use dark colors");
    button.setAttribute("aria-pressed", String(dark()));
  };
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });
  system.addEventListener("change", name);
  name();
}

start();
