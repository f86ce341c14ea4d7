//! The location of a path relative to a workspace.

use std::io;
use std::path::{Component, Path, PathBuf};

/// Returns `true` if a path lies in a workspace, so that the file tools can change it or what it leads to.
///
/// A program must keep files that control it, such as its settings and plugins, outside of the workspace. Symbolic links
/// are resolved. A link in the workspace counts as inside wherever it leads, because it can be replaced. The path need not
/// exist.
///
/// ```
/// use tool_builtins::files::is_inside;
///
/// # fn main() -> std::io::Result<()> {
/// # let directory = tempfile::tempdir()?;
/// # let workspace = directory.path().join("site");
/// # std::fs::create_dir(&workspace)?;
/// assert!(is_inside(&workspace, &workspace.join("plugins"))?);
/// assert!(!is_inside(&workspace, &workspace.join("../plugins"))?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Fails if the workspace does not exist, or if there is no current directory for a relative path.
pub fn is_inside(workspace: &Path, path: &Path) -> io::Result<bool> {
    let workspace = workspace.canonicalize()?;
    let mut resolved = PathBuf::new();
    for component in std::path::absolute(path)?.components() {
        match component {
            Component::ParentDir => {
                resolved.pop();
            }
            Component::Normal(name) => {
                resolved.push(name);
                // The part that does not exist has no links.
                let Ok(target) = resolved.canonicalize() else { continue };
                if target != resolved && resolved.starts_with(&workspace) {
                    return Ok(true);
                }
                resolved = target;
            }
            root => resolved.push(root),
        }
    }
    Ok(resolved.starts_with(&workspace))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_resolved_and_those_in_the_workspace_are_inside() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let at = |path: &str| directory.path().join(path);
        for made in ["work/sub", "other/plugins", "work-2"] {
            fs::create_dir_all(at(made))?;
        }
        symlink(at("work/sub"), at("other/into"))?;
        symlink(at("other/plugins"), at("work/out"))?;
        symlink(at("work"), at("alias"))?;
        let inside = ["work", "work/sub/x/y", "other/into", "other/into/x", "work/out", "work/out/x", "alias/x"];
        let outside = ["other/plugins", "work-2/x", "work/../other", "other/into/../../work-2", "missing/x"];
        for (paths, expected) in [(&inside[..], true), (&outside[..], false)] {
            for path in paths {
                assert_eq!(is_inside(&at("work"), &at(path))?, expected, "{path}");
                assert_eq!(is_inside(&at("alias"), &at(path))?, expected, "{path}");
            }
        }
        assert!(is_inside(&at("missing"), &at("work")).is_err());
        Ok(())
    }
}
