"""The report in a browser: it opens without errors or requests, and its controls work.

The tests are skipped if Chromium is not installed.
"""

import re
import shutil

import numpy as np
import pytest
from messy_tables import ONE, messy_table
from prior_bounds import bounded
from two_clouds import draw, forest

from puforest import PUForestClassifier
from puforest.checking import select_checks
from puforest.metrics import gains_curve, pu_interval
from puforest.recipes import RECIPES
from puforest.report import write_report

sync_api = pytest.importorskip("playwright.sync_api")
# Waits for what a browser does in its own time, such as opening an element.
expect = sync_api.expect

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE = "</script><img src=x onerror=\"document.title='broken'\"> <b>☃</b> {{data}}"

NAMES = ["full", "hostile", "alone", "folds", "table", "compared", "bounded", "checked"]

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on the path: apt-get install chromium, or the like"
)


@pytest.fixture(scope="module")
def window():
    """A browser page, and the errors and requests on it."""
    events = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.on("console", lambda message: events.append(message.text))
        page.on("pageerror", lambda error: events.append(str(error)))
        page.on("dialog", lambda dialog: events.append("dialog"))
        page.on("request", lambda request: events.append(request.url))
        yield page, events
        browser.close()


@pytest.fixture(scope="module")
def held_out():
    """A model and held-out rows."""
    X, y, _ = draw(800, "case-control")
    model = forest(voting="soft", min_samples_leaf=20, n_estimators=12).fit(X, y)
    return model, *draw(600, "case-control", seed=1)[:2]


@pytest.fixture(scope="module")
def files(tmp_path_factory, held_out):
    folder = tmp_path_factory.mktemp("reports")
    model, X, y = held_out
    names = [HOSTILE, "b", "c"]
    full = {"held_out": True, "n_simulations": 5, "n_jobs": 1, "random_state": 0}
    training = draw(900, "case-control")[:2]
    compared = PUForestClassifier(0.4, n_estimators=10, random_state=0).fit(*training)
    oob = {"held_out": False, "n_simulations": 0}
    hard = forest("single-training-set", n_estimators=4, oob_score=False)
    (table, labeled), (new, y_new) = messy_table(), messy_table(600, seed=1)
    for rows in (table, new):
        rows["color"] = rows["color"].replace("blue", HOSTILE)
    of_table = forest(ONE, voting="soft", min_samples_leaf=10, n_estimators=12).fit(table, labeled)
    new.loc[:9, "color"] = "violet"
    X_single, y_single, _ = draw(300, "single-training-set")
    unsure = forest(prior=bounded(), voting="soft", min_samples_leaf=20, n_estimators=12)
    checks = select_checks(compared, training[0], 60, y=training[1], random_state=0)
    answers = draw(900, "case-control")[2][checks.rows]
    verdicts = dict(zip(("checked", "check_probability"), checks.verdicts(answers), strict=True))
    return {
        "bounded": write_report(
            unsure.fit(*training), folder / "bounded.html", X, y, data_file=__file__, **full
        ),
        "checked": write_report(
            compared, folder / "checked.html", *training, **full | oob | verdicts
        ),
        "full": write_report(model, folder / "full.html", X, y, title="Tumors & Co", **full),
        "hostile": write_report(
            model, folder / "hostile.html", X, y, feature_names=names, title=HOSTILE, **full
        ),
        "alone": write_report(model, folder / "alone.html"),
        "compared": write_report(compared, folder / "compared.html", *training, **full | oob),
        "table": write_report(of_table, folder / "table.html", new, y_new, **full),
        "folds": write_report(
            hard.fit(X_single, y_single),
            folder / "folds.html",
            X_single,
            y_single,
            cv=2,
            **full | {"held_out": False, "n_simulations": 0},
        ),
    }


@pytest.fixture
def opened(window, files):
    """Open a report; finally check that there were no errors and no other requests."""
    page, events = window
    events.clear()
    asked = []

    def open_report(name="full", *, width=1280, scheme="light"):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        asked.append(files[name].as_uri())
        page.goto(asked[-1])
        return page

    yield open_report
    assert events == asked


def value_of(page, name, place="#chosen"):
    """The number on the card of this name."""
    card = page.locator(
        f"{place} .card", has=page.locator(".name", has_text=re.compile(f"^{name}"))
    )
    return card.locator(".value").inner_text()


def choose(page, selector, value):
    page.locator(selector).fill(str(value))


def names_of_sections(page):
    return page.locator("nav a").all_inner_texts()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [1280, 360])
def test_opens_without_errors(opened, name, width):
    page = opened(name, width=width)
    assert page.locator("section").count() == len(names_of_sections(page)) >= 6
    assert page.locator("section .body:empty").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert "NaN" not in page.locator("main").inner_text()
    assert "undefined" not in page.locator("main").inner_text()


def test_sections(opened):
    full = names_of_sections(opened("full"))
    assert full == [
        *("Summary", "Data", "Prior", "Quality", "Gains", "Scores", "Threshold", "Calibration"),
        *("Features", "Dependence", "Sensitivity", "Labels", "Trees", "Parameters"),
    ]
    alone = names_of_sections(opened("alone"))
    assert alone == ["Summary", "Data", "Prior", "Features", "Trees", "Parameters"]


def test_numbers_are_those_of_the_library(opened, held_out):
    model, X, y = held_out
    page = opened()
    found = pu_interval("precision", y, model.predict(X), prior=0.4)
    assert value_of(page, "Precision", "#summary") == found.value_text
    card = page.locator("#summary .card", has_text="Precision")
    assert found.range_text in card.inner_text()
    row = page.locator("#metrics tr", has_text="F1")
    assert pu_interval("f1", y, model.predict(X), prior=0.4).value_text in row.inner_text()


def test_bounded_priors_are_never_numbers(opened):
    page = opened("bounded")
    assert value_of(page, "Prior", "#summary") == "at most 0.50"
    for place in ("#summary", "#chosen"):
        assert value_of(page, "Precision", place).startswith("0.00 to ")
        assert re.fullmatch(r"0\.\d\d", value_of(page, "Recall", place))
    assert (
        "The data does not identify the prior"
        in page.locator("#summary .caveat").first.inner_text()
    )
    rows = page.locator("#metrics tbody tr").all_inner_texts()
    assert ["range" in row for row in rows] == [not row.startswith("Recall") for row in rows]
    assert page.locator("#metrics .dot").count() == 1
    found = page.locator("#gains-found").inner_text()
    assert re.search(r"find 0 to \d+ positives.*only bounded: at most 0.50", found)
    assert "test_report_browser.py" in page.locator("#source").inner_text()
    digest = page.locator("#source code").get_attribute("title")
    assert digest in page.locator("#parameters").inner_text()


def test_gains(opened, held_out):
    model, X, y = held_out
    page = opened()
    gains = gains_curve(y, model.predict_proba(X)[:, 1], prior=0.4)
    for n in (1, 50, 600):
        choose(page, "#gains-n", n)
        numbers = re.findall(r"\d+", page.locator("#gains-found").inner_text())
        expected = np.array([n, *gains.at(n), gains.random[n - 1]])
        assert np.abs(np.array(numbers, dtype=float) - expected).max() <= 2
    choose(page, "#gains-n", 601)
    assert page.locator("#gains-found").inner_text() == "Enter a number from 1 to 600."
    chart = page.locator("#gains svg[role=img]")
    chart.click(position={"x": chart.bounding_box()["width"] / 2, "y": 100})
    assert 200 < int(page.locator("#gains-n").input_value()) < 400
    chart.hover()
    expect(page.locator("#gains .tip")).to_contain_text(
        re.compile(r"in order of score: \d+ \(\d+ to \d+\)in random order: \d+")
    )


def test_checked_rows(opened):
    page = opened("checked")
    assert "Checked rows" in names_of_sections(page)
    assert value_of(page, "Checked rows", "#checked") == "60"
    rows = page.locator("#checks tbody tr")
    assert rows.count() == 5
    prior = rows.first.locator("td").last.inner_text()
    assert re.fullmatch(r"0\.\d+\s+0\.\d+ to 0\.\d+", prior)


def test_baseline(opened):
    page = opened()
    assert page.locator("#baseline thead th").all_inner_texts()[1:] == [
        *("this model", "baseline, cut at the prior", "baseline, cut at 0.5")
    ]
    model, prior, half = page.locator("#baseline tbody tr").nth(1).locator("td").all_inner_texts()
    assert float(half[:4]) < float(prior[:4]) <= float(model[:4]) + 0.2


def test_candidates(opened):
    page = opened("compared")
    assert names_of_sections(page)[3] == "Candidates"
    rows = page.locator("#compared tbody tr")
    assert rows.count() == len(RECIPES)
    assert "best" in rows.first.inner_text()
    assert page.locator("#scores .mark").count() == 1
    threshold = page.locator("#threshold-value").inner_text()
    assert f"threshold: {threshold}" in page.locator("#scores .chart").inner_text()
    page.locator("#open-tree").click()
    page.locator("#open-tree").click()
    leaves = page.locator("#tree .leaf .q").all_inner_texts()
    assert leaves
    assert all(re.fullmatch(r"leaf value [01]\.\d{3}", text) for text in leaves)


def test_slider_moves_the_threshold(opened, held_out):
    model, X, y = held_out
    page = opened()
    before = page.locator("#chooser .moving").first.get_attribute("x1")
    slider = page.locator("#threshold")
    slider.focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    shown = float(page.locator("#threshold-value").inner_text())
    assert shown > 0.55
    assert slider.get_attribute("aria-valuetext") == page.locator("#threshold-value").inner_text()
    called = (model.predict_proba(X)[:, 1] > shown).astype(int)
    assert value_of(page, "Recall") == pu_interval("recall", y, called).value_text
    precision = pu_interval("precision", y, called, prior=0.4)
    assert value_of(page, "Precision") == precision.value_text
    assert page.locator("#chooser .moving").first.get_attribute("x1") != before
    assert f"{called[y == 0].sum()} of the unlabeled" in page.locator("#chosen").inner_text()
    chart = page.locator("#chooser svg[role=img]").first
    box = chart.bounding_box()
    chart.click(position={"x": 60, "y": box["height"] / 2})
    assert float(page.locator("#threshold-value").inner_text()) < 0.05


def test_costs_choose_the_best_threshold(opened):
    page = opened()
    best = {}
    for alarm, miss in ((1, 1), (10, 1), (1, 10)):
        choose(page, "#cost-alarm", alarm)
        choose(page, "#cost-miss", miss)
        best[alarm, miss] = float(value_of(page, "Best"))
        page.locator("#use-best").click()
        assert float(page.locator("#threshold-value").inner_text()) == best[alarm, miss]
        assert page.locator("#use-best").is_disabled()
        # No threshold costs less than the best one.
        costs = page.evaluate(
            """([a, m]) => {
              const t = JSON.parse(document.getElementById("report-data").textContent).thresholds;
              return t.false_alarms.map((f, i) => 1000 * (a * f + m * t.missed[i]));
            }""",
            [alarm, miss],
        )
        assert float(value_of(page, "Cost")) == pytest.approx(min(costs), rel=0.05)
    assert best[1, 10] < best[1, 1] < best[10, 1]
    choose(page, "#cost-alarm", -1)
    assert value_of(page, "Best") == value_of(page, "Cost") == "unknown"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_theme_follows_the_system_and_the_button(opened, scheme):
    page = opened(scheme=scheme)

    def lightness():
        color = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return np.mean([int(part) for part in re.findall(r"\d+", color)[:3]])

    at_first = lightness()
    assert (at_first > 128) == (scheme == "light")
    page.locator("#theme").click()
    assert (lightness() > 128) == (scheme == "dark")
    assert page.locator("#theme").get_attribute("aria-pressed") == str(scheme == "light").lower()
    page.locator("#theme").click()
    assert lightness() == at_first


def test_print_is_light(opened):
    page = opened(scheme="dark")
    page.locator("#theme").click()
    page.locator("#theme").click()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("nav").is_hidden()
    page.emulate_media(media="screen")


def test_trees_can_be_browsed(opened, held_out):
    model = held_out[0]
    page = opened()
    nodes = page.locator("#tree .node:visible")
    at_first = nodes.count()
    assert at_first >= 3
    root = model._forest.tree(0)
    question = f"x{root.feature[0]} ≤ {root.threshold[0]:.4g}?"
    assert question in nodes.first.inner_text()
    assert f"{root.n_labeled[0]} labeled" in nodes.first.inner_text()
    closed = page.locator("#tree details:not([open]) > summary").first
    closed.focus()
    page.keyboard.press("Enter")
    expect(nodes).not_to_have_count(at_first)
    for _ in range(8):
        page.locator("#open-tree").click()
    expect(nodes).to_have_count(len(root.feature))
    page.locator("#close-tree").click()
    expect(nodes).to_have_count(1)
    choose(page, "#tree-number", 3)
    third = model._forest.tree(2)
    assert f"x{third.feature[0]} ≤ {third.threshold[0]:.4g}?" in nodes.first.inner_text()
    assert page.locator("#tree-facts").inner_text().startswith("Tree 3 of 12")
    choose(page, "#tree-number", 99)
    assert "from 1 to 12" in page.locator("#tree-facts").inner_text()


def test_scores_have_two_views_and_charts_their_numbers(opened):
    page = opened()
    page.locator("#score-view").select_option("population")
    assert "negatives, by difference" in page.locator("#scores .legend").inner_text()
    page.locator("#scores .numbers summary").click()
    expect(page.locator("#scores .numbers tbody tr")).to_have_count(3 * 40)
    page.locator("#scores svg[role=img]").hover()
    expect(page.locator("#scores .tip")).to_contain_text("population:")


def test_hostile_names_are_shown_and_do_nothing(opened):
    page = opened("hostile")
    assert page.title() == HOSTILE
    assert page.locator("#title").inner_text() == re.sub(r"\s+", " ", HOSTILE)
    assert HOSTILE in page.locator("#importances .name").all_inner_texts()
    assert page.locator("img").count() == page.locator("main b:text('☃')").count() == 0


def test_columns_of_a_table(opened):
    page = opened("table")
    rows = page.locator("#columns tbody tr")
    assert rows.locator("th").all_inner_texts() == [
        *("age", "color", "city", "member", "since", "wait")
    ]
    cells = rows.nth(1).locator("td").all_inner_texts()
    assert cells[:2] == ["category", "3"]
    assert cells[3] == "10"
    text = page.locator("#data").inner_text()
    assert "1 number, 2 categorical, 1 boolean, 1 date, 1 duration." in text
    assert "2 columns have missing values. 1 column has categories that" in text
    assert "unknown" not in opened("full").locator("#columns").inner_text()


def test_categories_and_dates_in_dependence(opened):
    page = opened("table")
    cells = page.locator("#dependence .triple > div")
    color = cells.filter(has=page.locator("h3", has_text=re.compile("^color$")))
    names = color.locator(".bar .name").all_inner_texts()
    assert names == [*sorted([HOSTILE, "green", "red"]), "missing"]
    since = cells.filter(has=page.locator("h3", has_text=re.compile("^since$")))
    assert re.search(r"2020-\d\d2021-\d\d", since.locator("svg").first.text_content())
    since.locator(".numbers summary").click()
    first = since.locator(".numbers tbody td").first
    expect(first).to_have_text(re.compile(r"^20\d\d-\d\d-\d\d$"))
    age = cells.filter(has=page.locator("h3", has_text=re.compile("^age$")))
    assert "missing: 0." in age.locator("svg").first.text_content()
    assert page.locator("img").count() == 0


def test_trees_of_a_table(opened):
    page = opened("table")
    for _ in range(4):
        page.locator("#open-tree").click()
    asked = page.locator("#tree .q").all_inner_texts()
    assert any(re.fullmatch(r"color (in \{.*\}|= .*)\?", text) for text in asked)
    assert any(re.fullmatch(r"since ≤ \d{4}-\d\d-\d\d( or missing)?\?", text) for text in asked)
    facts = page.locator("#tree .facts").all_inner_texts()
    assert {text[:12] for text in facts if "missing" in text} >= {"missing: no "}
    assert "take the same branch as missing values" in page.locator("#trees").inner_text()


def test_controls_have_names_and_charts_descriptions(opened):
    page = opened()
    for control in page.locator("button, input, select").all():
        assert control.evaluate("e => e.labels?.length || e.textContent.trim() || e.ariaLabel")
    charts = page.locator("svg[role=img]")
    assert charts.count() >= 9
    assert all(chart.get_attribute("aria-label") for chart in charts.all())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
