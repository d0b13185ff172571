//! What the kernel and `env` make of a script's first line.

/// How much of a file the kernel looks at: `BINPRM_BUF_SIZE` of `linux/binfmts.h`. Longer lines are cut there (execve(2)).
pub const HEAD: usize = 256;

/// A `#!` line: the interpreter and at most one argument.
#[derive(Debug, PartialEq, Eq)]
pub struct Shebang {
    pub interpreter: String,
    pub argument: Option<String>,
}

/// Reads the first line as Linux does since 5.0. `None` where the file is no script.
///
/// # Errors
/// A line that the kernel refuses, or whose interpreter is not UTF-8 or not an absolute path.
pub fn shebang(head: &[u8]) -> Result<Option<Shebang>, String> {
    let Some(rest) = head.strip_prefix(b"#!") else { return Ok(None) };
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let line = match rest.iter().position(|&byte| byte == b'\n') {
        Some(end) => rest.get(..end).unwrap_or_default(),
        // Without a line end in the buffer the interpreter's name may be cut, unless something follows it.
        None if head.len() >= HEAD => {
            let name =
                rest.iter().position(|byte| !blank(byte)).and_then(|at| rest.get(at..)).unwrap_or_default();
            if !name.iter().any(|byte| blank(byte) || *byte == 0) {
                return Err("the `#!` line is longer than the 256 bytes that the kernel reads".into());
            }
            rest
        }
        None => rest,
    };
    let line = line.split(|&byte| byte == 0).next().unwrap_or_default();
    let text = std::str::from_utf8(line).map_err(|_| "the `#!` line is not UTF-8".to_owned())?;
    let text = text.trim_matches([' ', '\t']);
    let (interpreter, argument) = match text.find([' ', '\t']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    if interpreter.is_empty() {
        return Err("the `#!` line names no interpreter".into());
    }
    if !interpreter.starts_with('/') {
        return Err(format!("the interpreter `{interpreter}` is not an absolute path"));
    }
    let argument = argument.trim_start_matches([' ', '\t']);
    Ok(Some(Shebang {
        interpreter: interpreter.to_owned(),
        argument: (!argument.is_empty()).then(|| argument.to_owned()),
    }))
}

/// The program that `env` runs when a `#!` line gives it `argument` (env(1)): without `-S` the whole argument is a name.
///
/// # Errors
/// An argument that names no program, or in a way that cannot be followed without running `env`.
pub fn env_program(argument: Option<&str>) -> Result<String, String> {
    let argument = argument.ok_or("`env` is given no program to run")?;
    let split = ["-S", "-vS", "--split-string="].iter().find_map(|option| argument.strip_prefix(option));
    let Some(words) = split else {
        if argument.starts_with('-') || argument.contains('=') {
            return Err(format!("`env {argument}` runs nothing that can be told beforehand"));
        }
        if argument.contains([' ', '\t']) {
            return Err(format!("`env` takes `{argument}` for one name: it needs `env -S`"));
        }
        return Ok(argument.to_owned());
    };
    let mut words = words.split([' ', '\t']).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        if word.contains(['\'', '"', '\\', '$', '#']) {
            return Err(format!("`env -S` is given `{word}`, whose quoting is not followed"));
        }
        match word {
            "-" | "-i" | "--ignore-environment" | "-v" | "--debug" => {}
            "-u" | "--unset" => {
                words.next();
            }
            _ if word.starts_with("--unset=") => {}
            _ if word.starts_with('-') => {
                return Err(format!("`env` is given `{word}`, which is not followed"));
            }
            _ if word.contains('=') => {}
            _ => return Ok(word.to_owned()),
        }
    }
    Err("`env` is given no program to run".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(head: &str) -> (String, Option<String>) {
        let found = shebang(head.as_bytes()).unwrap().unwrap();
        (found.interpreter, found.argument)
    }

    #[test]
    fn splits_at_the_first_blank_only() {
        assert_eq!(parsed("#!/bin/sh\nx"), ("/bin/sh".into(), None));
        assert_eq!(parsed("#! \t/bin/awk \t-f  -x \t\n"), ("/bin/awk".into(), Some("-f  -x".into())));
        assert_eq!(parsed("#!/bin/sh"), ("/bin/sh".into(), None));
        assert_eq!(parsed("#!/bin/sh\0 -x\n"), ("/bin/sh".into(), None));
        assert_eq!(shebang(b"echo"), Ok(None));
    }

    #[test]
    fn a_carriage_return_belongs_to_the_name_as_it_does_for_the_kernel() {
        assert_eq!(parsed("#!/bin/sh\r\n").0, "/bin/sh\r");
    }

    #[test]
    fn refuses_what_the_kernel_refuses() {
        for head in
            ["#!\n", "#!   \t\n/bin/sh", "#!bin/sh\n", "#!", &format!("#!/{}", "x".repeat(300))[..256]]
        {
            assert!(shebang(head.as_bytes()).is_err(), "{head}");
        }
        let long = format!("#!/bin/sh {}", "x".repeat(300));
        assert_eq!(parsed(&long[..HEAD]).0, "/bin/sh");
        assert!(shebang(b"#!/bin/\xff\n").is_err());
    }

    #[test]
    fn follows_env() {
        for (argument, program) in [
            ("python3", "python3"),
            ("-S node --no-warnings", "node"),
            ("-S -i -u HOME A=b /usr/bin/perl -w", "/usr/bin/perl"),
            ("-vS deno run", "deno"),
            ("--split-string=ruby -w", "ruby"),
            ("-Sruby", "ruby"),
        ] {
            assert_eq!(env_program(Some(argument)).unwrap(), program);
        }
        for argument in ["python3 -u", "-i", "A=b", "-S", "-S A=b", "-S \"a b\"", "-S --chdir=/ x", "-S ${X}"]
        {
            assert!(env_program(Some(argument)).is_err(), "{argument}");
        }
        assert!(env_program(None).is_err());
    }
}
