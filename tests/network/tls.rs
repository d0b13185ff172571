//! TLS for a client behind the walls that believes what it is told to.

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io;
use std::net::TcpStream;
use std::sync::Arc;

/// Begins TLS, as a program does that looks into `SSL_CERT_FILE`.
pub fn client(stream: TcpStream, host: &str) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let file = std::env::var("SSL_CERT_FILE").map_err(io::Error::other)?;
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file).map_err(io::Error::other)?;
    roots.add_parsable_certificates(certificates.filter_map(Result::ok));
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    let config = builder.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(StreamOwned::new(connection, stream))
}
