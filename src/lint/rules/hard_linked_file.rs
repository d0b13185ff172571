use super::hard_linked_denial::report;
use crate::finding::Finding;
use crate::lint::Context;
use crate::plan::Protection;

rule! {
    /// A write-protected file that has another name.
    ///
    /// ## What it does
    ///
    /// Reports files in a read-only root inside a writable one, and guarded files such as `.git/config`, with
    /// more hard links than are protected with them.
    ///
    /// ## Why it is bad
    ///
    /// Walls stand around names. Where the other name of the file can be written, the protected file changes
    /// with it, for it is the same file.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     root "$workspace/linked" read-only   # shared.c in it is also ~/other/shared.c
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     root "$workspace/vendor" read-only
    /// }
    /// ```
    ///
    /// Looks alike and is fine: neither name of the file can be written.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "~/other" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Make it a file of its own: `cp -p F F.copy && mv F.copy F`. Package managers that link from a store can
    /// be told to copy: `package-import-method=copy` for pnpm, `UV_LINK_MODE=copy` for uv.
    name: "hard-linked-file",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

// Its tests stand beside those for denied files, with which it shares the code.
fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    report(context, &INFO, |protection| protection != Protection::Denied, "protected", findings);
}
