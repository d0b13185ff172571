//! The AppArmor profile that lets this program have user namespaces where AppArmor takes them from everybody else.

use camino::Utf8Path;

/// A profile for the program at a path, with how to install it. The profile confines nothing: it only stands for the right to `userns`
/// (Ubuntu 24.04 release notes, "Unprivileged user namespace restrictions"; apparmor.d(5)).
///
/// # Errors
/// A path that cannot be named in a profile without doubt.
pub fn profile(program: &Utf8Path) -> Result<String, String> {
    let path = program.as_str();
    // In a profile these would be a pattern, a variable, or the end of the path.
    if !path.starts_with('/') || path.contains(|c: char| c.is_control() || "\"\\*?[]{}^@,#".contains(c)) {
        return Err(format!("`{path}` cannot be named in an AppArmor profile"));
    }
    let quote = if path.contains(char::is_whitespace) { "\"" } else { "" };
    Ok(format!(
        "# AppArmor profile for palisade. It is needed where AppArmor restricts user namespaces
# (kernel.apparmor_restrict_unprivileged_userns = 1), as on Ubuntu 23.10 and newer.
#
# It gives user namespaces to whatever program stands at this path: only root should be
# able to write there. Install it with:
#
#   palisade doctor --apparmor | sudo tee /etc/apparmor.d/palisade
#   sudo apparmor_parser -r /etc/apparmor.d/palisade

abi <abi/4.0>,
include <tunables/global>

profile palisade {quote}{path}{quote} flags=(unconfined) {{
  userns,

  include if exists <local/palisade>
}}
"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_program() {
        let profile = profile("/usr/local/bin/palisade".into()).unwrap();
        assert!(
            profile.contains("\nprofile palisade /usr/local/bin/palisade flags=(unconfined) {\n  userns,\n")
        );
        let line = profile.lines().find(|line| line.starts_with("abi")).unwrap();
        assert_eq!(line, "abi <abi/4.0>,");
        assert!(
            super::profile("/opt/my tools/palisade".into()).unwrap().contains(" \"/opt/my tools/palisade\" ")
        );
    }

    #[test]
    fn a_path_that_would_be_a_pattern_is_refused() {
        for path in
            ["/opt/*/palisade", "/a{b,c}/palisade", "/a\"b", "/a\nb", "/@{HOME}/palisade", "palisade", "/a,b"]
        {
            assert!(profile(path.into()).is_err(), "{path}");
        }
    }
}
