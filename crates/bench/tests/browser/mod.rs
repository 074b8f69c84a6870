//! A browser that a test drives, by `WebDriver`: Debian's chromium and chromium-driver.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use ureq::Agent;

/// A browser with one window. It ends with this value.
pub struct Browser {
    driver: Child,
    agent: Agent,
    /// `http://127.0.0.1:PORT/session/ID`
    session: String,
}

/// Which colours the reader has asked for.
#[derive(Clone, Copy, Debug)]
pub enum Scheme {
    Light,
    Dark,
}

impl Browser {
    /// Starts one; `None`, said aloud, where there is none.
    pub fn start(test: &str) -> Option<Self> {
        let driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut driver) = driver else {
            // Not by eprintln, which is kept from view in tests that pass.
            let note = format!(
                "\nSKIPPED: {test} has not looked at the page: there is no chromedriver here \
                 (on Debian: apt-get install chromium chromium-driver)\n\n"
            );
            std::io::stderr().write_all(note.as_bytes()).unwrap();
            return None;
        };
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port: u16 = lines
            .find_map(|line| {
                let line = line.unwrap();
                let (_, port) = line.split_once("successfully on port ")?;
                Some(port.trim_end_matches('.').parse().unwrap())
            })
            .expect("chromedriver says on which port it is");
        let agent = Agent::new_with_config(Agent::config_builder().proxy(None).build());
        let options = json!({"args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            // Whatever the page may ask for, it gets nothing.
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ]});
        let mut browser = Browser { driver, agent, session: format!("http://127.0.0.1:{port}") };
        let made = browser.post(
            "/session",
            &json!({"capabilities": {"alwaysMatch": {
                "browserName": "chrome",
                "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL"},
            }}}),
        );
        browser.session.push_str("/session/");
        browser.session.push_str(made["sessionId"].as_str().unwrap());
        Some(browser)
    }

    /// Opens a file.
    pub fn open(&self, file: &Path) {
        self.post("/url", &json!({"url": format!("file://{}", file.display())}));
    }

    /// Makes the window as large as this, in pixels.
    pub fn resize(&self, width: u32, height: u32) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Asks for these colours.
    pub fn prefer(&self, scheme: Scheme) {
        let value = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        let feature = json!({"name": "prefers-color-scheme", "value": value});
        self.devtools("Emulation.setEmulatedMedia", &json!({"features": [feature]}));
    }

    /// What a script of the page returns.
    pub fn ask(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Moves the pointer to a place of the window.
    pub fn point_at(&self, x: f64, y: f64) {
        let place = json!({"type": "pointerMove", "duration": 0, "x": x as i64, "y": y as i64});
        self.post(
            "/actions",
            &json!({"actions": [{"type": "pointer", "id": "mouse", "actions": [place]}]}),
        );
    }

    /// Presses keys, by their codes in `WebDriver`.
    pub fn press(&self, keys: &[&str]) {
        let strokes: Vec<Value> = keys
            .iter()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key})))
            .collect();
        self.post(
            "/actions",
            &json!({"actions": [{"type": "key", "id": "keys", "actions": strokes}]}),
        );
    }

    /// The whole page as a picture.
    pub fn picture(&self, file: &Path) {
        let height = self.ask("return document.documentElement.scrollHeight").as_u64().unwrap();
        let width = self.ask("return innerWidth").as_u64().unwrap();
        let clip = json!({"x": 0, "y": 0, "width": width, "height": height.min(8000), "scale": 1});
        let shot = self.devtools(
            "Page.captureScreenshot",
            &json!({"captureBeyondViewport": true, "clip": clip}),
        );
        std::fs::write(file, STANDARD.decode(shot["data"].as_str().unwrap()).unwrap()).unwrap();
    }

    /// What the browser complained of: errors of scripts, and what the page's policy forbade.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.post("/se/log", &json!({"type": "browser"}));
        let lines = log.as_array().unwrap().iter();
        lines.map(|line| line["message"].as_str().unwrap().to_owned()).collect()
    }

    fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let url = format!("{}{path}", self.session);
        let mut answer = self
            .agent
            .post(&url)
            .config()
            .http_status_as_error(false)
            .build()
            .send_json(body)
            .unwrap();
        let ok = answer.status().is_success();
        let mut answer: Value =
            answer.body_mut().with_config().limit(64 << 20).read_json().unwrap();
        assert!(ok, "{path}: {answer}");
        answer["value"].take()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The session's end ends the browser, which the driver's end alone does not.
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
