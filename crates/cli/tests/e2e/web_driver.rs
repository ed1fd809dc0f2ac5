//! A browser that tests control through `chromedriver`, by the WebDriver protocol.

use std::{
    io::{self, BufRead, BufReader, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::{Value as Json, json};

/// A headless browser with one window.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    // Removed after the browser has ended.
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts Chromium. `None` if the machine has no Chromium or no `chromedriver`.
    pub(crate) fn start() -> Option<Browser> {
        let chromium = ["chromium", "chromium-browser", "google-chrome"];
        let chromium = chromium.iter().find_map(|it| found(it))?;
        let mut driver = Command::new(found("chromedriver")?)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let lines = BufReader::new(driver.stdout.take().expect("is piped")).lines();
        let started = lines.map_while(Result::ok).find(|it| it.contains("successfully on port"));
        let port = started.expect("the driver says its port");
        let port: String = port.chars().filter(char::is_ascii_digit).collect();
        let profile = tempfile::tempdir().expect("a directory can be made");
        let mut browser = Browser {
            driver,
            port: port.parse().expect("a port"),
            session: String::new(),
            _profile: profile,
        };
        browser.open_session(&chromium);
        Some(browser)
    }

    fn open_session(&mut self, chromium: &str) {
        let profile = format!("--user-data-dir={}", self._profile.path().display());
        let arguments = json!(["--headless", "--no-sandbox", "--disable-gpu", profile]);
        let options = json!({"binary": chromium, "args": arguments});
        let capabilities =
            json!({"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}});
        let answer =
            self.ask("POST", "/session", json!({"capabilities": {"alwaysMatch": capabilities}}));
        self.session = answer["sessionId"].as_str().expect("a session").to_owned();
    }

    /// Loads a file.
    pub(crate) fn open(&self, file: &Path) {
        self.of_session("url", json!({"url": format!("file://{}", file.display())}));
    }

    /// Sets the size of the window in pixels.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        self.of_session("window/rect", json!({"width": width, "height": height}));
    }

    /// Sets the theme that the reader prefers: `light` or `dark`.
    pub(crate) fn prefer(&self, theme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": theme}]);
        let command =
            json!({"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}});
        self.of_session("goog/cdp/execute", command);
    }

    /// The result of an expression of JavaScript.
    pub(crate) fn value(&self, expression: &str) -> Json {
        let script = format!("return {expression};");
        self.of_session("execute/sync", json!({"script": script, "args": []}))
    }

    /// Presses keys one after the other, as a person does.
    pub(crate) fn press(&self, keys: &str) {
        let pressed = |key: char| {
            [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})]
        };
        let actions: Vec<Json> = keys.chars().flat_map(pressed).collect();
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": actions});
        self.of_session("actions", json!({"actions": [keyboard]}));
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub(crate) fn wait_until(&self, expression: &str) {
        for _ in 0..200 {
            if self.value(expression) == json!(true) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        panic!("never true: {expression}");
    }

    /// The messages of the console since the last call, among them refusals of the content security policy.
    pub(crate) fn console(&self) -> Json {
        self.of_session("se/log", json!({"type": "browser"}))
    }

    fn of_session(&self, command: &str, body: Json) -> Json {
        self.ask("POST", &format!("/session/{}/{command}", self.session), body)
    }

    fn ask(&self, method: &str, path: &str, body: Json) -> Json {
        let answered = self.answered(method, path, &body.to_string()).expect("the driver answers");
        let json: Json = serde_json::from_str(&answered).expect("the driver answers in JSON");
        assert!(json["value"].get("error").is_none(), "{method} {path}: {json}");
        json["value"].clone()
    }

    fn answered(&self, method: &str, path: &str, body: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        answer(&mut BufReader::new(stream))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends with its session, also after a test that failed.
        let _ = self.answered("DELETE", &format!("/session/{}", self.session), "{}");
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The body of an answer, whose length the driver always says.
fn answer(stream: &mut impl BufRead) -> io::Result<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    String::from_utf8(body).map_err(io::Error::other)
}

/// The path of a program; `None` if it is not installed.
fn found(program: &str) -> Option<String> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|it| it.join(program)).find(|it| it.is_file())?;
    Some(found.to_string_lossy().into_owned())
}
