//! What every page has.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use super::data::script_json;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// The page loads nothing, from nowhere: what names or paths in a result may contain, a browser
/// fetches nothing for it and runs none of it.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// A whole page: its title, a line below it, its body, and the figures it was made from, which
/// programs find in the element `data`.
pub(super) fn page<T: Serialize>(title: &str, sub: &str, body: &Markup, data: &T) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { h1 { (title) } p.sub { (sub) } }
                main { (body) }
                footer { "Figures as JSON: element " code { "#data" } " of this page." }
                script #data type="application/json" { (PreEscaped(script_json(data))) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

/// A figure that is to be seen first, and what it is.
pub(super) fn tile(figure: &str, what: &str) -> Markup {
    html! { div.tile { b { (figure) } span { (what) } } }
}

/// Something that went wrong.
pub(super) fn alert(what: &str, why: &str) -> Markup {
    html! { div.alert role="alert" { b { (what) } " " (why) } }
}

/// When, by this host's clock, in UTC: `2026-11-30 18:25:35 UTC`.
pub(super) fn when(unix_ms: u64) -> String {
    let secs = unix_ms / 1000;
    let (days, of_day) = (secs / 86_400, secs % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// The Gregorian date so many days after 1970-01-01. Counted in years that begin in March, so that the
/// day that leap years have more is the last one.
fn date(days: u64) -> (u64, u64, u64) {
    // From 0000-03-01 on; an era is 400 years.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (secs, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59:59 UTC"),
            (1_709_251_200, "2024-03-01 00:00:00 UTC"),
            (4_107_542_399, "2100-02-28 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(when(secs * 1000), text);
        }
    }

    #[test]
    fn a_page_escapes_what_is_not_its_own() {
        let body = html! { p { "<img src=x>" } };
        let page = page("</title><script>", "&", &body, &"</script>");
        assert!(!page.contains("<img") && !page.contains("</title><script>"), "{page}");
        // Our own two elements, and no more.
        assert_eq!(page.matches("</script>").count(), 2);
    }
}
