//! The pages of results, looked at by a browser as a reader does: at a desk and on a phone, by day and by
//! night, without a network.
#![allow(clippy::unwrap_used)]

mod browser;
mod sample;

use std::path::PathBuf;

use browser::{Browser, Scheme};
use hayase_bench::html;

const WIDTHS: [u32; 2] = [1280, 400];

/// Looks at a page at all widths and in all colours. Pictures of it stay in the target directory.
fn look_at(name: &str, html: &str, look: impl Fn(&Browser, u32)) {
    let Some(browser) = Browser::start(name) else { return };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let page = folder.join(format!("{name}.html"));
    std::fs::write(&page, html).unwrap();
    for scheme in [Scheme::Light, Scheme::Dark] {
        for width in WIDTHS {
            browser.resize(width, 900);
            browser.prefer(scheme);
            browser.open(&page);
            fits_and_is_readable(&browser, width, scheme);
            look(&browser, width);
            browser.picture(&folder.join(format!("{name}-{width}-{scheme:?}.png")));
        }
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

fn fits_and_is_readable(browser: &Browser, width: u32, scheme: Scheme) {
    assert_eq!(browser.ask("return innerWidth"), width);
    let overflow = "return document.documentElement.scrollWidth - innerWidth";
    assert!(browser.ask(overflow).as_i64().unwrap() <= 0, "the page is wider than {width}");
    let fetched = "return performance.getEntriesByType('resource').map(r => r.name)";
    assert_eq!(browser.ask(fetched), serde_json::json!([]), "the page loads something");
    // Every drawing that is shown has text of a size that can be read.
    let smallest = "return Math.min(1000, ...[...document.querySelectorAll('svg text')]
        .map(t => t.getBoundingClientRect().height).filter(h => h > 0))";
    let smallest = browser.ask(smallest).as_f64().unwrap();
    assert!(smallest >= 10.0, "text of {smallest} px at {width}");
    // WCAG 2.1's relative luminance; 4.5 to 1 is its least contrast for text.
    let contrast = "
        const light = (css) => css.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
            .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
        const ground = light(getComputedStyle(document.body).backgroundColor);
        const against = (l) => (Math.max(l, ground) + 0.05) / (Math.min(l, ground) + 0.05);
        const texts = [...document.querySelectorAll('h1, p, td, th, dt, dd, li, .tile b, .tile span')];
        return Math.min(...texts.map(t => against(light(getComputedStyle(t).color))))";
    let contrast = browser.ask(contrast).as_f64().unwrap();
    assert!(contrast >= 4.5, "contrast of {contrast} in {scheme:?}");
}

#[test]
fn the_page_of_a_run_shows_what_is_pointed_at() {
    let html = html::run_page(&sample::run());
    look_at("run", &html, |browser, width| {
        let drawings = "return [...document.querySelectorAll('svg')]
            .filter(s => s.getBoundingClientRect().width > 0).length";
        assert_eq!(browser.ask(drawings), 5, "one drawing of each chart at {width}");
        let readout = "return document.querySelector('output').textContent";
        assert_eq!(browser.ask(readout), "");
        let middle = "
            const svg = [...document.querySelectorAll('figure:first-of-type svg')]
                .find(s => s.getBoundingClientRect().width > 0);
            svg.scrollIntoView({block: 'center'});
            const box = svg.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2]";
        let middle = browser.ask(middle);
        browser.point_at(middle[0].as_f64().unwrap(), middle[1].as_f64().unwrap());
        let text = browser.ask(readout);
        let text = text.as_str().unwrap();
        assert!(
            text.contains("read ") && text.contains("write ") && text.contains("MiB/s"),
            "{text}"
        );
        assert!(text.contains(" s: "), "the time is told: {text}");
        // The first chart by keyboard, from its first point on.
        browser.ask("document.querySelector('figure').focus()");
        browser.press(&["\u{E00C}", "\u{E014}"]);
        let first = browser.ask(readout);
        assert!(first.as_str().unwrap().starts_with("0.25 s: "), "{first}");
    });
    assert!(html.contains("unknown"), "what the server does not tell is said to be unknown");
}

#[test]
fn the_page_of_a_broken_run_says_so_first() {
    let html = html::run_page(&sample::broken_run());
    look_at("broken-run", &html, |browser, _| {
        let alerts =
            "return [...document.querySelectorAll('[role=alert]')].map(a => a.textContent)";
        let alerts = browser.ask(alerts);
        let alerts = alerts.as_array().unwrap();
        assert_eq!(alerts.len(), 2);
        assert!(alerts[0].as_str().unwrap().contains("answers no more"), "{alerts:?}");
        assert!(alerts[1].as_str().unwrap().contains("<i>file</i>: no space left"), "{alerts:?}");
        assert_eq!(browser.ask("return document.querySelectorAll('main b b, main i').length"), 0);
    });
}

#[test]
fn the_page_of_several_clients_tells_who_was_lost() {
    look_at("fleet", &html::fleet_page(&sample::fleet()), |browser, _| {
        let alerts =
            "return [...document.querySelectorAll('[role=alert]')].map(a => a.textContent)";
        let alerts = browser.ask(alerts);
        let first = alerts[0].as_str().unwrap();
        assert!(first.starts_with("node2") && first.contains("12.4 s after its start"), "{alerts}");
        let rows = "return document.querySelector('table').querySelectorAll('tbody tr').length";
        assert_eq!(browser.ask(rows), 3);
        assert_eq!(browser.ask("return document.querySelectorAll('tbody .bad').length"), 1);
    });
}

#[test]
fn the_page_of_a_sweep_marks_the_knee() {
    look_at("sweep", &html::sweep_page(&sample::sweep()), |browser, _| {
        let marks =
            "return [...document.querySelectorAll('svg.wide .marked')].map(m => m.textContent)";
        let marks = browser.ask(marks);
        assert_eq!(marks, serde_json::json!(vec!["knee"; 4]), "in each chart");
        let row = "return document.querySelector('tr.knee th').textContent";
        assert_eq!(browser.ask(row), "8");
        assert_eq!(browser.ask("return document.querySelectorAll('tr.knee').length"), 1);
        // The first chart by keyboard, to its second value.
        browser.ask("document.querySelector('figure').focus()");
        browser.press(&["\u{E014}", "\u{E014}"]);
        let readout = browser.ask("return document.querySelector('output').textContent");
        assert_eq!(readout, "2: all clients 17 k/s");
    });
}

#[test]
fn the_page_of_a_matrix_shows_ratios_and_what_failed() {
    look_at("matrix", &html::matrix_page(&sample::matrix()), |browser, _| {
        let cells = "return [...document.querySelectorAll('table')[0].querySelectorAll('tbody td')]
            .map(c => c.textContent)";
        let cells = browser.ask(cells);
        let cells: Vec<&str> =
            cells.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap()).collect();
        assert!(
            cells.contains(&"690 MiB/s ×1.00") && cells.contains(&"610 MiB/s ×0.88"),
            "{cells:?}"
        );
        assert!(cells.contains(&"failed"), "{cells:?}");
        let alert = browser.ask("return document.querySelector('[role=alert]').textContent");
        assert!(alert.as_str().unwrap().starts_with("xfs, NFSv4.1 read."), "{alert}");
    });
}

#[test]
fn the_figures_can_be_taken_out_of_the_page() {
    let run = sample::run();
    let html = html::run_page(&run);
    let (_, data) = html.split_once("id=\"data\" type=\"application/json\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let taken: hayase_bench::report::Run = serde_json::from_str(data).unwrap();
    assert_eq!(taken, run);
}
