//! The declaration of a rule: its doc comment is what `palisade explain` prints.

/// Declares the rule of one file. The function named by `check` is called with the context and the findings so far;
/// the one named by `check_allowances` also with the allowances that allowed nothing.
macro_rules! rule {
    (
        $(#[doc = $line:expr])+
        name: $name:literal,
        severity: $severity:ident,
        confidence: $confidence:ident,
        fix: $fix:ident,
        allowable: $allowable:literal,
        $hook:ident: $function:ident $(,)?
    ) => {
        $(#[doc = $line])+
        pub struct Rule;

        static INFO: $crate::lint::RuleInfo = $crate::lint::RuleInfo {
            name: $name,
            severity: $crate::finding::Severity::$severity,
            confidence: $crate::finding::Confidence::$confidence,
            fix: $crate::finding::Offers::$fix,
            allowable: $allowable,
            documentation: concat!($($line, "\n"),+),
        };

        impl $crate::lint::Check for Rule {
            fn info(&self) -> &'static $crate::lint::RuleInfo {
                &INFO
            }

            rule!(@ $hook $function);
        }

        #[cfg(test)]
        #[test]
        fn the_file_is_named_after_the_rule() {
            let module = module_path!().rsplit("::").next().unwrap_or_default();
            assert_eq!(module.replace('_', "-"), $name);
        }
    };
    (@ check $function:ident) => {
        fn check(
            &self,
            context: &$crate::lint::Context<'_>,
            findings: &mut Vec<$crate::finding::Finding>,
        ) {
            $function(context, findings);
        }
    };
    (@ check_allowances $function:ident) => {
        fn check_allowances(
            &self,
            context: &$crate::lint::Context<'_>,
            unused: &[$crate::lint::UnusedAllowance<'_>],
            findings: &mut Vec<$crate::finding::Finding>,
        ) {
            $function(context, unused, findings);
        }
    };
}
