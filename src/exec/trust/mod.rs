//! In: the authorities that whoever runs a command trusts, and the one of the run. Out: what has the command's programs trust all of them:
//! files, and the variables that name these (measured with 22 clients, one variable at a time).

mod jks;

use super::Note;
use pem::{EncodeConfig, LineEnding, Pem};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls_native_certs::CertificateResult;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};

/// The files, by their names in whatever directory they are put into.
const BUNDLE: &str = "trust.pem";
const STORE: &str = "trust.jks";
const WGET: &str = "wgetrc";

/// What names a file of all authorities to trust, or of further ones. Go on macOS takes none.
const NAMING: [&str; 14] = [
    "AWS_CA_BUNDLE",
    "CARGO_HTTP_CAINFO",
    "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
    "CURL_CA_BUNDLE",
    "DENO_CERT",
    "GIT_SSL_CAINFO",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "HTTPLIB2_CA_CERTS",
    "NIX_SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_FILE",
    // One that an `.npmrc` names would win over that of Node.
    "npm_config_cafile",
];
/// The only thing that wget takes but the system's file.
const WGETRC: &str = "WGETRC";
/// The options of any Java machine, which says on standard error that it took them.
const JAVA: &str = "JAVA_TOOL_OPTIONS";
/// It wins over the file in some programs (curl), so that there must be none.
const DIRECTORY: &str = "SSL_CERT_DIR";

/// Where Linux distributions keep all authorities in one file. What stands there is replaced for programs that take no variable.
#[cfg(target_os = "linux")]
pub const SYSTEM: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
];

/// The authorities that the caller trusts.
#[derive(Debug, Default)]
pub struct Roots {
    pub certificates: Vec<CertificateDer<'static>>,
    /// What could not be read of them.
    pub warnings: Vec<Note>,
}

impl Roots {
    /// Reads those of this machine (on macOS of its keychain; `SSL_CERT_FILE` and `SSL_CERT_DIR` win over both) and those in files that the
    /// caller's environment names.
    pub fn read() -> Self {
        let found = native();
        let mut roots = Self::default();
        let mut seen = HashSet::new();
        let mut add = |certificates: &mut Vec<CertificateDer<'static>>,
                       certificate: CertificateDer<'static>| {
            if seen.insert(certificate.clone()) {
                certificates.push(certificate);
            }
        };
        for certificate in found.certs {
            add(&mut roots.certificates, certificate);
        }
        for error in found.errors {
            roots.warn(format!("an authority of this machine is not trusted: {error}"));
        }
        for name in NAMING.iter().filter(|name| **name != "SSL_CERT_FILE") {
            let Some(path) = std::env::var_os(name).filter(|path| !path.is_empty()) else { continue };
            let shown = path.to_string_lossy().into_owned();
            let certificates = match CertificateDer::pem_file_iter(&path) {
                Ok(certificates) => certificates,
                Err(error) => {
                    roots.warn(format!(
                        "the authorities in `{shown}`, which `{name}` names, are not trusted: {error}"
                    ));
                    continue;
                }
            };
            for certificate in certificates {
                match certificate {
                    Ok(certificate) => add(&mut roots.certificates, certificate),
                    Err(error) => {
                        roots.warn(format!(
                            "an authority in `{shown}`, which `{name}` names, is not trusted: {error}"
                        ));
                        break;
                    }
                }
            }
        }
        if roots.certificates.is_empty() && roots.warnings.is_empty() {
            roots.warn("this machine has no list of authorities: no server can be verified".to_owned());
        }
        roots
    }

    fn warn(&mut self, message: String) {
        self.warnings.push(Note { message, help: None });
    }
}

/// Those of this machine. Where it has one file of them all, that alone: a directory has each in a file of its own, of which there are hundreds.
fn native() -> CertificateResult {
    #[cfg(target_os = "linux")]
    if ["SSL_CERT_FILE", DIRECTORY]
        .iter()
        .all(|name| std::env::var_os(name).is_none_or(|value| value.is_empty()))
    {
        let file = SYSTEM.iter().map(std::path::Path::new).find(|file| file.is_file());
        let found = rustls_native_certs::load_certs_from_paths(file, None);
        if !found.certs.is_empty() {
            return found;
        }
    }
    rustls_native_certs::load_native_certs()
}

/// What the command's programs are to trust.
#[derive(Debug)]
pub struct Trust {
    bundle: Vec<u8>,
    store: Vec<u8>,
}

impl Trust {
    /// `own` is the certificate of the run's authority.
    pub fn new(own: &CertificateDer<'_>, roots: &[CertificateDer<'_>]) -> Self {
        let all = || std::iter::once(own).chain(roots);
        let parts: Vec<Pem> = all().map(|one| Pem::new("CERTIFICATE", one.as_ref())).collect();
        let bundle = pem::encode_many_config(&parts, EncodeConfig::new().set_line_ending(LineEnding::LF));
        let every: Vec<&[u8]> = all().map(AsRef::as_ref).collect();
        Self { bundle: bundle.into_bytes(), store: jks::store(every.into_iter()) }
    }

    /// All authorities as text, which is what each program but Java's reads.
    #[cfg(target_os = "linux")]
    pub fn bundle(&self) -> &[u8] {
        &self.bundle
    }

    /// The files, by name, as they are to be in `directory`.
    pub fn files(&self, directory: &str) -> [(&'static str, Vec<u8>); 3] {
        let settings = format!("ca_certificate = {directory}/{BUNDLE}\n");
        [(BUNDLE, self.bundle.clone()), (STORE, self.store.clone()), (WGET, settings.into_bytes())]
    }
}

/// Has the command's environment name the files in `directory`. What the profile sets (`is_set`) stands. What it only passes on is replaced:
/// the files hold what that names.
pub fn name_in(environment: &mut Vec<(OsString, OsString)>, directory: &str, is_set: impl Fn(&str) -> bool) {
    let bundle = format!("{directory}/{BUNDLE}");
    environment.retain(|(name, _)| name != DIRECTORY || is_set(DIRECTORY));
    for name in NAMING.into_iter().filter(|name| !is_set(name)) {
        environment.retain(|(known, _)| known != name);
        environment.push((name.into(), bundle.clone().into()));
    }
    let find = |environment: &[(OsString, OsString)], name: &str| {
        environment.iter().position(|(known, _)| known == OsStr::new(name))
    };
    if find(environment, WGETRC).is_none() {
        environment.push((WGETRC.into(), format!("{directory}/{WGET}").into()));
    }
    let options = format!(
        "-Djavax.net.ssl.trustStore={directory}/{STORE} -Djavax.net.ssl.trustStoreType=JKS -Djavax.net.ssl.trustStorePassword={}",
        jks::PASSWORD
    );
    match find(environment, JAVA).and_then(|at| environment.get_mut(at)) {
        None => environment.push((JAVA.into(), options.into())),
        Some(_) if is_set(JAVA) => {}
        // The caller's own, or what names the proxy.
        Some((_, value)) => {
            value.push(" ");
            value.push(options);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> (OsString, OsString) {
        (name.into(), value.into())
    }

    fn value<'a>(environment: &'a [(OsString, OsString)], name: &str) -> Vec<&'a str> {
        environment
            .iter()
            .filter(|(known, _)| known == name)
            .map(|(_, value)| value.to_str().unwrap())
            .collect()
    }

    #[test]
    fn what_is_set_stands_and_what_is_passed_on_is_in_the_bundle() {
        let mut environment = vec![
            pair("SSL_CERT_FILE", "/mine.pem"),
            pair("SSL_CERT_DIR", "/certs"),
            pair("NODE_EXTRA_CA_CERTS", "/company.pem"),
            pair("JAVA_TOOL_OPTIONS", "-Xmx1g"),
        ];
        name_in(&mut environment, "/d", |name| name == "SSL_CERT_FILE");
        assert_eq!(value(&environment, "SSL_CERT_FILE"), ["/mine.pem"]);
        assert_eq!(value(&environment, "NODE_EXTRA_CA_CERTS"), ["/d/trust.pem"]);
        assert_eq!(value(&environment, "SSL_CERT_DIR"), [""; 0]);
        assert_eq!(value(&environment, "WGETRC"), ["/d/wgetrc"]);
        let java = value(&environment, "JAVA_TOOL_OPTIONS");
        assert!(
            java.len() == 1 && java[0].starts_with("-Xmx1g -Djavax.net.ssl.trustStore=/d/trust.jks "),
            "{java:?}"
        );
        assert_eq!(NAMING.iter().map(|name| value(&environment, name).len()).sum::<usize>(), NAMING.len());
    }

    #[test]
    fn options_that_the_profile_sets_are_left_alone() {
        let mut environment = vec![pair("JAVA_TOOL_OPTIONS", "-Xmx1g"), pair("SSL_CERT_DIR", "/certs")];
        name_in(&mut environment, "/d", |_| true);
        assert_eq!(value(&environment, "JAVA_TOOL_OPTIONS"), ["-Xmx1g"]);
        assert_eq!(value(&environment, "SSL_CERT_DIR"), ["/certs"]);
        assert_eq!(value(&environment, "SSL_CERT_FILE"), [""; 0]);
    }

    #[test]
    fn the_bundle_reads_back_with_the_authority_of_the_run_first() {
        let certificates = ["own", "one", "two"].map(|text| CertificateDer::from(text.as_bytes().to_vec()));
        let trust = Trust::new(&certificates[0], &certificates[1..]);
        let [(_, bundle), (_, store), (_, settings)] = trust.files("/d");
        let read: Vec<_> = CertificateDer::pem_slice_iter(&bundle).map(Result::unwrap).collect();
        assert_eq!(read, certificates);
        assert!(store.windows(3).any(|part| part == b"two"));
        assert_eq!(settings, b"ca_certificate = /d/trust.pem\n");
    }
}
