//! Fetches the files of a question from their signed addresses, by plain HTTP/1.0 over a socket.
//!
//! HTTP/1.0 keeps it short: the server answers without chunks and closes, so the body is what is left to read.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;
/// Time for one file, from connecting to the last byte.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Reads the text behind `url`.
///
/// # Errors
/// A sentence for people: an address other than `http://`, a failed connection, a status other than 200, a file that is
/// too large, cut or not UTF-8, or ten seconds without an end.
pub async fn fetch(url: &str) -> Result<String, String> {
    let (authority, target) = split(url)?;
    match timeout(TIME_LIMIT, get(&authority, &target)).await {
        Ok(body) => body,
        Err(_) => Err(format!(
            "{authority} did not deliver the file within {} s",
            TIME_LIMIT.as_secs()
        )),
    }
}

/// Splits an address into `host:port` and path with query.
fn split(url: &str) -> Result<(String, String), String> {
    let rest = url
        .strip_prefix("http://")
        .ok_or("this agent reads files by plain http:// only")?;
    let (host, target) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, "/"),
    };
    let unsafe_byte = |byte: u8| byte <= b' ' || byte == 0x7f;
    if host.is_empty() || host.contains('@') || url.bytes().any(unsafe_byte) {
        return Err("the address of the file is not a plain http:// address".to_owned());
    }
    // The colons of an IPv6 address lie inside its brackets.
    let after_brackets = host.rsplit(']').next().unwrap_or(host);
    let authority = if after_brackets.contains(':') {
        host.to_owned()
    } else {
        format!("{host}:80")
    };
    let target = target.split('#').next().unwrap_or(target);
    Ok((authority, target.to_owned()))
}

async fn get(authority: &str, target: &str) -> Result<String, String> {
    let failed =
        |error: std::io::Error| format!("could not read the file from {authority}: {error}");
    let mut stream = TcpStream::connect(authority).await.map_err(failed)?;
    let request = format!(
        "GET {target} HTTP/1.0\r\nHost: {authority}\r\nUser-Agent: facts-bot\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.map_err(failed)?;
    let mut reply = Vec::new();
    stream
        .take(MAX_BYTES + 1)
        .read_to_end(&mut reply)
        .await
        .map_err(failed)?;
    if reply.len() as u64 > MAX_BYTES {
        return Err(format!("the file is larger than {MAX_BYTES} bytes"));
    }
    body_of(&reply)
}

/// Checks status and length and returns the body.
fn body_of(reply: &[u8]) -> Result<String, String> {
    let gap = reply
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .ok_or("the file server's reply has no header")?;
    let header = String::from_utf8_lossy(&reply[..gap]);
    let body = &reply[gap + 4..];
    let mut lines = header.lines();
    let status = lines.next().unwrap_or_default();
    if status.split(' ').nth(1) != Some("200") {
        return Err(format!("the file server answered \"{status}\""));
    }
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length")
            && value
                .parse::<usize>()
                .is_ok_and(|length| length != body.len())
        {
            return Err("the file arrived cut".to_owned());
        }
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err("the file server answered in chunks, which HTTP/1.0 rules out".to_owned());
        }
    }
    String::from_utf8(body.to_vec()).map_err(|_| "the file is not UTF-8 text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{body_of, split};

    #[test]
    fn addresses_are_split_with_their_signature() {
        let whole = split("http://127.0.0.1:3000/files/a.csv?run=r&sig=ab%2F").unwrap();
        assert_eq!(
            whole,
            (
                "127.0.0.1:3000".into(),
                "/files/a.csv?run=r&sig=ab%2F".into()
            )
        );
        assert_eq!(
            split("http://localhost").unwrap(),
            ("localhost:80".into(), "/".into())
        );
        assert_eq!(split("http://[::1]/x").unwrap().0, "[::1]:80");
        assert_eq!(split("http://[::1]:81/x").unwrap().0, "[::1]:81");
    }

    #[test]
    fn other_addresses_are_refused() {
        for url in [
            "https://a/b",
            "file:///etc/hosts",
            "http://",
            "http://u:p@h/",
            "http://h/a\r\nX: y",
        ] {
            assert!(split(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_body_is_taken_whole_or_not_at_all() {
        assert_eq!(
            body_of(b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\na,b").unwrap(),
            "a,b"
        );
        for bad in [
            &b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\na,b"[..],
            b"HTTP/1.0 403 Forbidden\r\n\r\nno",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na,b\r\n0\r\n\r\n",
            b"HTTP/1.0 200 OK\r\n\r\n\xff",
            b"hello",
            b"",
        ] {
            assert!(body_of(bad).is_err());
        }
    }
}
