//! In: the names whose connections are read in a run. Out: an authority of that run, and a certificate of it for each of those names.

use super::Unreadable;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CidrSubnet, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose, NameConstraints,
    PKCS_ECDSA_P256_SHA256,
};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use time::{Duration, OffsetDateTime};
use zeroize::Zeroize;

/// How long what an authority says holds.
const LIFETIME: Duration = Duration::hours(24);
/// Clocks differ, and a machine that slept may set its own back a little.
const SLACK: Duration = Duration::minutes(10);

/// Why there is no authority.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    #[error("no name to speak for")]
    Nobody,
    #[error("`{0}` is not the name of a host")]
    Name(String),
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
}

/// An authority that speaks for the names of one run, to programs that are told to believe it, and signs nothing else (RFC 5280, 4.2.1.10).
/// Its key stays in this process's memory.
pub struct Authority {
    key: KeyPair,
    params: CertificateParams,
    der: CertificateDer<'static>,
    pem: String,
    names: Vec<String>,
    /// How TLS is served as each name that was asked for already.
    served: Mutex<HashMap<String, Arc<ServerConfig>>>,
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

impl Authority {
    /// Makes one for some names: of hosts, in lower case and without a port.
    ///
    /// # Errors
    /// There is no name, one is none of a host, or there is no randomness for a key.
    pub fn new(names: &[String]) -> Result<Self, AuthorityError> {
        let mut names = names.to_vec();
        names.sort();
        names.dedup();
        if names.is_empty() {
            return Err(AuthorityError::Nobody);
        }
        if let Some(name) = names.iter().find(|name| !is_name(name)) {
            return Err(AuthorityError::Name(name.clone()));
        }
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut params = lasting();
        // One that remains of another run, in a list of certificates, is told from this one.
        let mut number = [0; 4];
        number.iter_mut().zip(params.key_identifier(&key)).for_each(|(to, from)| *to = from);
        let title = format!("Palisade, one run ({:08x})", u32::from_be_bytes(number));
        params.distinguished_name.push(DnType::CommonName, title);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        params.name_constraints = Some(NameConstraints {
            permitted_subtrees: names.iter().cloned().map(GeneralSubtree::DnsName).collect(),
            // A constraint of names says nothing of addresses.
            excluded_subtrees: vec![
                GeneralSubtree::IpAddress(CidrSubnet::V4([0; 4], [0; 4])),
                GeneralSubtree::IpAddress(CidrSubnet::V6([0; 16], [0; 16])),
            ],
        });
        let certificate = params.self_signed(&key)?;
        let (der, pem) = (certificate.der().clone(), certificate.pem());
        Ok(Self { key, params, der, pem, names, served: Mutex::default() })
    }

    /// The certificate that programs are to believe, as text.
    pub fn certificate_pem(&self) -> &str {
        &self.pem
    }

    /// The certificate that programs are to believe.
    pub fn certificate_der(&self) -> &CertificateDer<'static> {
        &self.der
    }

    /// How TLS is served as a name. Each has one certificate for the whole run.
    ///
    /// # Errors
    /// It is none of the authority's names.
    pub(super) fn serving(&self, name: &str) -> Result<Arc<ServerConfig>, Unreadable> {
        if !self.names.iter().any(|own| own == name) {
            return Err(Unreadable);
        }
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = served.get(name) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.config(name).map_err(|_| Unreadable)?);
        served.insert(name.to_owned(), Arc::clone(&config));
        Ok(config)
    }

    /// A certificate for a name, and its key.
    pub(super) fn leaf(&self, name: &str) -> Result<(Certificate, KeyPair), rcgen::Error> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut params = lasting();
        (params.not_before, params.not_after) = (self.params.not_before, self.params.not_after);
        params.distinguished_name.push(DnType::CommonName, "Palisade");
        params.subject_alt_names = CertificateParams::new([name.to_owned()])?.subject_alt_names;
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let issuer = Issuer::from_params(&self.params, &self.key);
        Ok((params.signed_by(&key, &issuer)?, key))
    }

    fn config(&self, name: &str) -> Result<ServerConfig, Box<dyn std::error::Error>> {
        let (leaf, mut key) = self.leaf(name)?;
        let der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(super::provider())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone(), self.der.clone()], der)?;
        key.zeroize();
        config.alpn_protocols = vec![super::ALPN.to_vec()];
        Ok(config)
    }
}

/// What every certificate has.
fn lasting() -> CertificateParams {
    let mut params = CertificateParams::default();
    let now = OffsetDateTime::now_utc();
    params.not_before = now - SLACK;
    params.not_after = now + LIFETIME;
    params.distinguished_name = DistinguishedName::new();
    params.use_authority_key_identifier_extension = true;
    params
}

/// Whether text is the name of a host, written as every name is here.
fn is_name(text: &str) -> bool {
    use crate::policy::host::Host;
    matches!(Host::parse(text), Ok(Host::Name(name)) if name == text)
}
