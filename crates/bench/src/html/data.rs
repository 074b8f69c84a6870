//! JSON inside a page.

use serde::Serialize;

/// JSON that can stand in a `script` element: nothing in it ends the element or begins a comment.
pub fn script_json<T: Serialize>(value: &T) -> String {
    // What is put here are our own types, whose keys are strings: they cannot fail.
    let json = serde_json::to_string(value).unwrap_or_else(|error| format!("\"{error}\""));
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_element() {
        let hostile = "</script><script>alert(1)</script><!--";
        let json = script_json(&hostile);
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }
}
