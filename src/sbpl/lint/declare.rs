//! The declaration of a rule: its doc comment is what `palisade explain` prints.

/// Declares the rule of one file. The function named by `check` is called with the context and the findings so far.
macro_rules! sb_rule {
    (
        $(#[doc = $line:expr])+
        name: $name:literal,
        severity: $severity:ident,
        confidence: $confidence:ident,
        fix: $fix:ident,
        check: $function:ident $(,)?
    ) => {
        $(#[doc = $line])+
        pub struct Rule;

        static INFO: $crate::finding::RuleInfo = $crate::finding::RuleInfo {
            name: $name,
            severity: $crate::finding::Severity::$severity,
            confidence: $crate::finding::Confidence::$confidence,
            fix: $crate::finding::Offers::$fix,
            allowable: false,
            documentation: concat!($($line, "\n"),+),
        };

        impl $crate::sbpl::lint::Check for Rule {
            fn info(&self) -> &'static $crate::finding::RuleInfo {
                &INFO
            }

            fn check(
                &self,
                context: &$crate::sbpl::lint::Context<'_>,
                findings: &mut Vec<$crate::finding::Finding>,
            ) {
                $function(context, findings);
            }
        }

        #[cfg(test)]
        #[test]
        fn the_file_is_named_after_the_rule() {
            let module = module_path!().rsplit("::").next().unwrap_or_default();
            assert_eq!(module.replace('_', "-"), $name);
        }
    };
}
