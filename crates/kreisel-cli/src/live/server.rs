//! The smallest server that a page needs: `GET` on the loopback, one answer a connection.

use super::Shown;
use kreisel::report::policed;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// The frame in which pages of runs are shown.
static FRAME: LazyLock<String> = LazyLock::new(|| policed(include_str!("frame.html")));

/// Bytes of a request, at most; browsers send less than a thousand.
const MAX_REQUEST: u64 = 16 * 1024;
/// Connections at a time that know the address, at most: a page has one that waits and one that fetches.
const MAX_CONNECTIONS: usize = 32;
/// Connections at a time that have not said yet what they want, at most. Anybody on this computer may open one, so
/// that they do not count among those that know the address.
const MAX_ASKING: usize = 512;
/// How long a connection may take to ask, from its first byte to its last.
const ASKING_TIME: Duration = Duration::from_secs(10);
/// How long it may take to take its answer.
const ANSWER_TIME: Duration = Duration::from_secs(60);
/// How long `state` waits for something new; browsers and proxies give up after a minute.
const PATIENCE: Duration = Duration::from_secs(20);

/// Answers browsers of this computer for as long as the program lives.
pub struct Server {
    address: SocketAddr,
    token: String,
}

impl Server {
    /// Begins to answer, at a free port of the loopback.
    pub fn start(shown: Arc<Shown>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (address, token) = (listener.local_addr()?, token());
        let (host, path) = (address.to_string(), format!("/{token}/"));
        let site = Arc::new(Site { shown, host, path, knowing: Arc::default() });
        std::thread::Builder::new().name("page".to_owned()).spawn(move || answer_all(&listener, &site))?;
        Ok(Self { address, token })
    }

    /// Where a browser finds the page.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token)
    }
}

/// 128 bits that nobody can guess: what a keyed hash makes of two words, with keys from the operating system.
pub(super) fn token() -> String {
    let keys = RandomState::new();
    let half = |word: u64| {
        let mut hasher = keys.build_hasher();
        hasher.write_u64(word);
        hasher.finish()
    };
    format!("{:016x}{:016x}", half(1), half(2))
}

struct Site {
    shown: Arc<Shown>,
    /// What an honest browser calls the server; a page of another host that found the way would not.
    host: String,
    /// Before everything that there is to be had.
    path: String,
    /// Connections that know the address.
    knowing: Arc<AtomicUsize>,
}

/// One of a limited number, given back when it is dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(count: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let place = Self(Arc::clone(count));
        (count.fetch_add(1, Ordering::Relaxed) < most).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn answer_all(listener: &TcpListener, site: &Arc<Site>) {
    let asking = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        // One that is gone already, or one too many: the browser tries again.
        let (Ok(stream), Some(place)) = (stream, Place::take(&asking, MAX_ASKING)) else { continue };
        let site = Arc::clone(site);
        // Where no thread is to be had the connection ends, and its place is free again.
        let _ = std::thread::Builder::new().spawn(move || {
            // Whoever went away before the answer does not want it.
            let _ = answer(&stream, &site, place);
        });
    }
}

/// A stream that ends at a time, however slowly bytes come and go.
struct Timed<'a> {
    stream: &'a TcpStream,
    until: Instant,
}

impl<'a> Timed<'a> {
    fn new(stream: &'a TcpStream, time: Duration) -> Self {
        Self { stream, until: Instant::now() + time }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(bytes)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn answer(stream: &TcpStream, site: &Site, asking: Place) -> io::Result<()> {
    let request = request(Timed::new(stream, ASKING_TIME))?;
    let mut knowing = None;
    let Answer { status, kind, body } = match &request {
        Some((path, host)) if *host == site.host => match path.strip_prefix(&site.path) {
            Some(rest) => {
                drop(asking);
                knowing = Place::take(&site.knowing, MAX_CONNECTIONS);
                if knowing.is_some() { site.at(rest) } else { Answer::refusal("503 Service Unavailable") }
            }
            None => Answer::refusal("404 Not Found"),
        },
        Some(_) => Answer::refusal("403 Forbidden"),
        None => Answer::refusal("400 Bad Request"),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
         X-Frame-Options: SAMEORIGIN\r\nCross-Origin-Resource-Policy: same-origin\r\n\r\n",
        body.len()
    );
    let mut out = Timed::new(stream, ANSWER_TIME);
    out.write_all(head.as_bytes())?;
    out.write_all(body.as_bytes())?;
    drop(knowing);
    out.flush()
}

/// Path and host of a `GET`; none of what is anything else, or too long.
fn request(stream: impl Read) -> io::Result<Option<(String, String)>> {
    let mut reader = BufReader::new(stream.take(MAX_REQUEST));
    let mut line = || -> io::Result<Option<String>> {
        let mut bytes = Vec::new();
        reader.read_until(b'\n', &mut bytes)?;
        let text = String::from_utf8(bytes).ok();
        Ok(text.and_then(|text| text.strip_suffix('\n').map(|text| text.trim_end_matches('\r').to_owned())))
    };
    let Some(first) = line()? else { return Ok(None) };
    let mut words = first.split(' ');
    let (Some("GET"), Some(path), Some("HTTP/1.1")) = (words.next(), words.next(), words.next()) else {
        return Ok(None);
    };
    let mut host = None;
    loop {
        match line()? {
            Some(empty) if empty.is_empty() => break,
            Some(text) => match text.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("host") => {
                    host = Some(value.trim().to_owned())
                }
                _ => {}
            },
            None => return Ok(None),
        }
    }
    Ok(host.map(|host| (path.to_owned(), host)))
}

struct Answer {
    status: &'static str,
    kind: &'static str,
    body: Arc<str>,
}

impl Answer {
    fn page(body: Arc<str>) -> Self {
        Self { status: "200 OK", kind: "text/html", body }
    }

    fn refusal(status: &'static str) -> Self {
        Self { status, kind: "text/plain", body: status.into() }
    }
}

impl Site {
    /// What there is at a path below the token.
    fn at(&self, rest: &str) -> Answer {
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        match place {
            "" => Answer::page(FRAME.as_str().into()),
            "page" => Answer::page(self.shown.page()),
            "state" => {
                let after = query.strip_prefix("after=").and_then(|number| number.parse().ok()).unwrap_or(0);
                let state = self.shown.newer(after, PATIENCE);
                let body = serde_json::to_string(&state).expect("a state has text keys");
                Answer { status: "200 OK", kind: "application/json", body: body.into() }
            }
            _ => Answer::refusal("404 Not Found"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Standing;
    use super::*;

    fn said(url: &str, request: &[u8]) -> String {
        let (host, _) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let mut text = String::new();
        // A request that is refused before it was read may be cut off, while it is sent as well as later.
        let _ = stream.write_all(request);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_string(&mut text);
        text
    }

    fn get(url: &str, path: &str, host: &str) -> String {
        said(url, format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
    }

    #[test]
    fn who_knows_the_address_sees_the_page_and_nobody_else_does() {
        let shown = Arc::new(Shown::new("swing"));
        shown.tell(Standing::Done, "good", 1.0, "");
        shown.show("<p>the page".to_owned());
        let url = Server::start(shown).unwrap().url();
        let (host, token) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        assert!(host.starts_with("127.0.0.1:") && token.trim_end_matches('/').len() == 32, "{url}");
        let path = |rest: &str| format!("/{token}{rest}");
        assert!(get(&url, &path("page?1"), host).ends_with("<p>the page"));
        let frame = get(&url, &path(""), host);
        let policy = frame.split("Content-Security-Policy").nth(1).and_then(|rest| rest.split('>').next());
        assert!(
            policy.is_some_and(
                |words| words.contains("script-src 'sha256-") && !words.contains("script-src 'unsafe")
            ),
            "{policy:?}"
        );
        let state = get(&url, &path("state?after=0"), host);
        assert!(state.contains(r#""version":2,"page":1,"standing":"done","title":"swing""#), "{state}");
        for (path, host, status) in [
            ("/", host, "404"),
            ("/00000000000000000000000000000000/page", host, "404"),
            (&*path("../Cargo.toml"), host, "404"),
            (&*path("page"), "evil.example", "403"),
        ] {
            let answer = get(&url, path, host);
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status}")) && !answer.contains("the page"),
                "{answer}"
            );
        }
    }

    #[test]
    fn what_is_no_request_is_refused_and_the_server_goes_on() {
        let shown = Arc::new(Shown::new("swing"));
        shown.show("<p>the page".to_owned());
        let url = Server::start(shown).unwrap().url();
        let (host, token) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let long = [b"GET /".to_vec(), vec![b'x'; 100_000]].concat();
        let post = format!("POST /{token}page HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let without = format!("GET /{token}page HTTP/1.1\r\n\r\n");
        for request in [&b""[..], b"\r\n\r\n", b"\xff\xfe\r\n", &long, post.as_bytes(), without.as_bytes()] {
            let answer = said(&url, request);
            assert!(
                !answer.contains("the page") && (answer.is_empty() || answer.contains(" 400 ")),
                "{answer}"
            );
        }
        assert!(get(&url, &format!("/{token}page"), host).ends_with("the page"));
    }

    #[test]
    fn connections_without_the_address_keep_nobody_out() {
        let shown = Arc::new(Shown::new("swing"));
        shown.show("<p>the page".to_owned());
        let url = Server::start(shown).unwrap().url();
        let (host, token) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let idle: Vec<TcpStream> =
            (0..3 * MAX_CONNECTIONS).map(|_| TcpStream::connect(host).unwrap()).collect();
        assert!(get(&url, &format!("/{token}page"), host).ends_with("the page"));
        drop(idle);
    }

    #[test]
    fn who_asks_byte_by_byte_is_cut_off_in_the_end() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut slow = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        let dripping = std::thread::spawn(move || {
            while slow.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let error = request(Timed::new(&stream, Duration::from_millis(300))).unwrap_err();
        // What the system calls a read that took too long differs.
        assert!(matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock), "{error}");
        drop(stream);
        dripping.join().unwrap();
    }
}
