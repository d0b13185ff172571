//! Programs, and how each is made to ask `HOST` for something.

pub struct Client {
    pub name: &'static str,
    /// Looked for on `PATH`.
    pub program: &'static str,
    /// Others that it needs, the same.
    pub also: &'static [&'static str],
    /// A module of Python that it is written in.
    pub module: Option<&'static str>,
    /// The port that must be reached.
    pub port: u16,
    /// A line for the shell.
    pub line: &'static str,
}

pub const TLS: u16 = 443;

const fn plain(name: &'static str, program: &'static str, line: &'static str) -> Client {
    Client { name, program, also: &[], module: None, port: TLS, line }
}

const fn python(name: &'static str, module: &'static str, line: &'static str) -> Client {
    Client { name, program: "python3", also: &[], module: Some(module), port: TLS, line }
}

impl Client {
    /// The line by which it speaks TLS, where it can.
    pub fn inspected(&self) -> Option<String> {
        match self.port {
            TLS => Some(self.line.to_owned()),
            // Those have a store of their own, which is not told of an authority by a variable.
            80 if self.program == "java" => Some(self.line.replace("http://HOST", "https://HOST")),
            _ => None,
        }
    }
}

pub const CLIENTS: &[Client] = &[
    plain("curl", "curl", "curl -sS -m 20 https://HOST/"),
    Client { port: 80, ..plain("curl, plain HTTP", "curl", "curl -sS -m 20 http://HOST/") },
    plain("wget", "wget", "wget -q -T 20 -t 1 -O- https://HOST/"),
    Client { also: &["sh"], ..plain("git over https", "git", "git ls-remote https://HOST/x") },
    Client {
        also: &["ssh", "sh"],
        port: 22,
        ..plain(
            "git over ssh",
            "git",
            "GIT_SSH_COMMAND='ssh -F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=none -o ConnectTimeout=20' git ls-remote ssh://u@HOST/x",
        )
    },
    plain("Node fetch", "node", "node -e 'fetch(\"https://HOST/\").then(r => r.text()).then(console.log)'"),
    plain(
        "Node https",
        "node",
        "node -e 'require(\"https\").get(\"https://HOST/\", r => r.on(\"data\", d => console.log(String(d))))'",
    ),
    Client {
        also: &["node"],
        ..plain("npm", "npm", "npm view x --registry https://HOST/ --fetch-retries 0 --cache \"$TMPDIR/npm\"")
    },
    plain("deno", "deno", "deno run --allow-net - <<'E'\nconsole.log(await (await fetch('https://HOST/')).text())\nE\n"),
    plain("bun", "bun", "bun -e 'console.log(await (await fetch(\"https://HOST/\")).text())'"),
    python(
        "Python urllib",
        "urllib.request",
        "python3 -c 'import urllib.request as u; print(u.urlopen(\"https://HOST/\", timeout=20).read())'",
    ),
    python(
        "Python requests",
        "requests",
        "python3 -c 'import requests; print(requests.get(\"https://HOST/\", timeout=20).text)'",
    ),
    python("Python httpx", "httpx", "python3 -c 'import httpx; print(httpx.get(\"https://HOST/\", timeout=20).text)'"),
    python(
        "Python aiohttp",
        "aiohttp",
        "python3 -c 'import asyncio, aiohttp
async def main():
  async with aiohttp.ClientSession() as session:
    async with session.get(\"https://HOST/\") as answer: print(await answer.text())
asyncio.run(main())'",
    ),
    python(
        "Python websockets",
        "websockets",
        "python3 -c 'import asyncio, websockets
async def main():
  async with websockets.connect(\"wss://HOST/\", open_timeout=20): pass
asyncio.run(main())'",
    ),
    python(
        "pip",
        "pip",
        "python3 -m pip download -q --timeout 20 --retries 0 -d \"$TMPDIR/d\" --index-url https://HOST/simple x",
    ),
    Client {
        also: &["python3"],
        ..plain(
            "uv",
            "uv",
            "UV_CACHE_DIR=\"$TMPDIR/c\" XDG_DATA_HOME=\"$TMPDIR/s\" uv pip install --target \"$TMPDIR/t\" x --index-url https://HOST/simple",
        )
    },
    plain("cargo", "cargo", "CARGO_HOME=\"$TMPDIR/c\" cargo search x --index sparse+https://HOST/index/"),
    plain(
        "Go",
        "go",
        "GOPROXY=https://HOST GONOSUMDB=* GOFLAGS=-mod=mod GOPATH=\"$TMPDIR/g\" GOCACHE=\"$TMPDIR/gc\" go list -m x.example/y@latest",
    ),
    Client {
        port: 80,
        ..plain(
        "Java HttpURLConnection",
        "java",
        "cat >\"$TMPDIR/J.java\" <<'E'
public class J { public static void main(String[] a) throws Exception {
  System.out.println(((java.net.HttpURLConnection) new java.net.URL(\"http://HOST/\").openConnection()).getResponseCode());
} }
E
java \"$TMPDIR/J.java\"",
    )},
    Client {
        port: 80,
        ..plain(
        "Java HttpClient",
        "java",
        "cat >\"$TMPDIR/K.java\" <<'E'
import java.net.http.*;
public class K { public static void main(String[] a) throws Exception {
  HttpRequest r = HttpRequest.newBuilder(java.net.URI.create(\"http://HOST/\")).build();
  System.out.println(HttpClient.newHttpClient().send(r, HttpResponse.BodyHandlers.ofString()).statusCode());
} }
E
java \"$TMPDIR/K.java\"",
    )},
];
