//! Comparison of `apply_patch` with Git: output of `git diff` is applied as by `git apply`.
//!
//! The patches are random but reproducible. `PATCH_CASES` sets their number, by default a thousand. Without Git the test is
//! skipped, unless `PATCH_GIT=required`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tool_builtins::files::Files;
use tool_runtime::inject::Notes;

use super::in_memory;

/// Files by path, with their content and whether they are executable.
type Tree = BTreeMap<String, (Vec<u8>, bool)>;

/// Options with which Git writes a patch.
struct Form {
    flags: &'static [&'static str],
    finds_renames: bool,
    finds_copies: bool,
}

const FORMS: [Form; 5] = [
    Form { flags: &["-U3", "-M"], finds_renames: true, finds_copies: false },
    Form { flags: &["-U3", "-M", "-C", "--find-copies-harder"], finds_renames: true, finds_copies: true },
    Form { flags: &["-U0", "-M"], finds_renames: true, finds_copies: false },
    Form { flags: &["-U1", "--no-renames"], finds_renames: false, finds_copies: false },
    Form { flags: &["-U10", "-M30%"], finds_renames: true, finds_copies: false },
];

/// A tree before and after a change.
struct Case {
    form: usize,
    before: Tree,
    after: Tree,
    /// The tree to apply the patch to, if it differs from `before`.
    drifted: Option<Tree>,
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Returns a line; many are repeated or look like parts of patches.
    fn line(&mut self) -> String {
        if self.percent(50) {
            return format!("line {}", self.below(200));
        }
        let lines = [
            "",
            "}",
            "    indented",
            "\ttab",
            "return x;",
            "-- dash",
            "++ plus",
            "@@ at",
            "--- a/x",
            "+++ b/x",
            "grün 漢字 😀",
            "\\ No newline at end of file",
            "diff --git a/x b/x",
            "rename from x",
            "\x1b[31mred",
        ];
        self.pick(&lines).to_owned()
    }

    fn text(&mut self) -> String {
        let ending = if self.percent(25) { "\r\n" } else { "\n" };
        let mut text = String::from(if self.percent(10) { "\u{feff}" } else { "" });
        for _ in 0..self.pick(&[0, 1, 2, 5, 20, 60]) {
            text += &(self.line() + ending);
        }
        if self.percent(20) {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    }

    fn tree(&mut self) -> Tree {
        let mut tree = Tree::new();
        for index in 0..1 + self.below(4) {
            let directory = self.pick(&["", "d/", "sp ace/", "grün/", "d/e/", "tab\there/"]);
            let is_executable = self.percent(25);
            match self.percent(12) {
                true => tree.insert(format!("{directory}b{index}.bin"), (self.binary(), is_executable)),
                false => tree.insert(format!("{directory}f {index}.txt"), (self.text().into_bytes(), is_executable)),
            };
        }
        tree
    }

    fn binary(&mut self) -> Vec<u8> {
        (0..40).flat_map(|_| self.next().to_le_bytes()).chain([0]).collect()
    }

    /// Changes some lines, their line breaks, or the byte order mark.
    fn changed(&mut self, text: &[u8]) -> Vec<u8> {
        let text = String::from_utf8(text.to_vec()).unwrap();
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
        for _ in 0..1 + self.below(4) {
            let at = self.below(lines.len() + 1);
            match (self.below(10), lines.get_mut(at)) {
                (0..=3, _) | (_, None) => {
                    if let Some(last) = lines.last_mut().filter(|last| at > 0 && !last.ends_with('\n')) {
                        last.push_str(ending);
                    }
                    lines.insert(at.min(lines.len()), self.line() + ending);
                }
                (4..=5, Some(_)) => drop(lines.remove(at)),
                (6..=7, Some(line)) => {
                    let end = line.trim_end_matches(['\r', '\n']).len();
                    line.insert(end, '!');
                }
                (8, Some(line)) if line.ends_with("\r\n") => *line = line.replace("\r\n", "\n"),
                (8, Some(line)) => *line = line.replace('\n', "\r\n"),
                (_, Some(_)) if self.percent(30) => {
                    lines.iter_mut().for_each(|line| *line = line.replace("\r\n", "\n"));
                }
                (_, Some(_)) => {
                    if let Some(last) = lines.last_mut() {
                        last.truncate(last.trim_end_matches(['\r', '\n']).len());
                    }
                }
            }
        }
        let text = lines.concat();
        match (self.percent(5), text.strip_prefix('\u{feff}')) {
            (true, Some(text)) => text.as_bytes().to_vec(),
            (true, None) => format!("\u{feff}{text}").into_bytes(),
            (false, _) => text.into_bytes(),
        }
    }

    /// Changes a tree in a way that Git can express as text.
    fn changed_tree(&mut self, before: &Tree, form: &Form) -> Tree {
        let mut after = before.clone();
        for (number, (path, (content, is_executable))) in before.iter().enumerate() {
            let is_text = !content.contains(&0);
            let new_content = if is_text && self.percent(60) { self.changed(content) } else { content.clone() };
            let new_content = if form.flags.contains(&"-U0") { whole_endings(new_content) } else { new_content };
            let new = (new_content, self.percent(15) ^ is_executable);
            match self.below(10) {
                0..=4 if is_text => drop(after.insert(path.clone(), new)),
                5 if is_text => drop(after.remove(path)),
                6..=7 if is_text || form.finds_renames => {
                    after.remove(path);
                    after.insert(format!("moved/ü{number}"), new);
                }
                8 if is_text || form.finds_copies => drop(after.insert(format!("copied {number}"), new)),
                9 => drop(after.insert(path.clone(), (content.clone(), !is_executable))),
                _ => {}
            }
        }
        if self.percent(30) {
            let is_executable = self.percent(50);
            after.insert("new/brand.sh".to_owned(), (self.text().into_bytes(), is_executable));
        }
        after
    }

    fn drifted(&mut self, tree: &Tree) -> Tree {
        let mut drifted = tree.clone();
        for (content, _) in drifted.values_mut().filter(|(content, _)| !content.contains(&0)) {
            if self.percent(60) {
                *content = self.changed(content);
            }
        }
        drifted
    }

    fn case(&mut self) -> Case {
        let form = self.below(FORMS.len());
        let before = self.tree();
        let after = self.changed_tree(&before, &FORMS[form]);
        // Without context lines, hunks are applied at the stated lines, also by Git.
        let drifts = !FORMS[form].flags.contains(&"-U0") && self.percent(25);
        let drifted = drifts.then(|| self.drifted(&before));
        Case { form, before, after, drifted }
    }
}

/// Converts all line breaks to `\r\n` if the text contains any. Without context lines, a line with `\n` in such a file is
/// assumed to ignore line breaks and gets those of the file, unlike in Git.
fn whole_endings(content: Vec<u8>) -> Vec<u8> {
    match String::from_utf8(content) {
        Ok(text) if text.contains("\r\n") => text.replace("\r\n", "\n").replace('\n', "\r\n").into_bytes(),
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    }
}

/// Runs Git without the configuration of this machine.
fn git(directory: &Path, arguments: &[&str], input: &[u8]) -> std::io::Result<Output> {
    let mut running = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut stdin = running.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // Git may exit before it has read everything.
        scope.spawn(move || drop(stdin.write_all(input)));
        running.wait_with_output()
    })
}

/// Runs Git and asserts that it succeeds.
fn output(directory: &Path, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let output = git(directory, arguments, input).unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Returns the patches that Git writes for the cases, with two processes plus one per form.
fn patches(directory: &Path, cases: &[Case]) -> Vec<String> {
    output(directory, &["init", "-q", "--bare", "."], b"");
    let mut stream = Vec::new();
    for (number, tree) in cases.iter().flat_map(|case| [&case.before, &case.after]).enumerate() {
        let mark = number + 1;
        write!(stream, "commit refs/heads/all\nmark :{mark}\ncommitter x <x> 0 +0000\ndata 0\ndeleteall\n").unwrap();
        for (path, (content, is_executable)) in tree {
            let mode = if *is_executable { "100755" } else { "100644" };
            write!(stream, "M {mode} inline {path}\ndata {}\n", content.len()).unwrap();
            stream.extend_from_slice(content);
            stream.push(b'\n');
        }
    }
    output(directory, &["fast-import", "--quiet", "--export-marks=marks"], &stream);
    let marks = fs::read_to_string(directory.join("marks")).unwrap();
    let commits: BTreeMap<usize, &str> = marks
        .lines()
        .map(|line| line.trim_start_matches(':').split_once(' ').unwrap())
        .map(|(mark, commit)| (mark.parse().unwrap(), commit))
        .collect();
    let mut patches = vec![String::new(); cases.len()];
    for (index, form) in FORMS.iter().enumerate() {
        let of_form = || cases.iter().enumerate().filter(|(_, case)| case.form == index).map(|(number, _)| number);
        let input = of_form().fold(String::new(), |mut input, number| {
            writeln!(input, "{} {}", commits[&(2 * number + 2)], commits[&(2 * number + 1)]).unwrap();
            input
        });
        let wanted: BTreeMap<&str, usize> = of_form().map(|number| (commits[&(2 * number + 2)], number)).collect();
        let arguments = [&["diff-tree", "--stdin", "-r", "-p"], form.flags].concat();
        let diffs = String::from_utf8(output(directory, &arguments, input.as_bytes())).unwrap();
        let mut current = None;
        for line in diffs.split_inclusive('\n') {
            match (wanted.get(line.trim_end_matches('\n')), current) {
                (Some(number), _) => current = Some(*number),
                (None, Some(number)) => patches[number].push_str(line),
                (None, None) => panic!("{line}"),
            }
        }
    }
    patches
}

fn write_tree(directory: &Path, tree: &Tree) {
    fs::create_dir(directory).unwrap();
    for (path, (content, is_executable)) in tree {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(if *is_executable { 0o755 } else { 0o644 })).unwrap();
    }
}

fn read_tree(directory: &Path) -> Tree {
    let mut found = Tree::new();
    for (path, content) in super::tree(directory) {
        let metadata = path.metadata().unwrap();
        if metadata.is_file() {
            let name = path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
            found.insert(name, (content, metadata.mode() & 0o100 != 0));
        }
    }
    found
}

/// Applies a patch to a tree, by this crate or by Git. Asserts that a rejected patch changes nothing.
fn applied(directory: &Path, tree: &Tree, patch: &str, by_git: bool) -> Result<Tree, String> {
    write_tree(directory, tree);
    let refused = match by_git {
        true => {
            let output = git(directory, &["apply", "--whitespace=nowarn", "-"], patch.as_bytes()).unwrap();
            (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
        }
        false => {
            let files = Files::new(directory).unwrap().allow_delete(true);
            files.apply_patch(patch, &Notes::default()).err().map(|error| error.to_string())
        }
    };
    let found = read_tree(directory);
    fs::remove_dir_all(directory).unwrap();
    match refused {
        None => Ok(found),
        Some(refused) => {
            assert_eq!(&found, tree, "refused, but changed: {refused}\n{patch}");
            Err(refused)
        }
    }
}

#[test]
fn applies_patches_like_git() {
    if Command::new("git").arg("--version").output().is_err() {
        assert!(std::env::var("PATCH_GIT").as_deref() != Ok("required"), "git is not on the PATH");
        println!("skipped: git is not on the PATH");
        return;
    }
    let count = std::env::var("PATCH_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(1000);
    let mut random = Random(1);
    let cases: Vec<Case> = (0..count).map(|_| random.case()).collect();
    let directory = in_memory();
    let repository = directory.path().join("repository");
    fs::create_dir(&repository).unwrap();
    let patches = patches(&repository, &cases);
    for sign in
        ["rename from ", "copy from ", "\nnew mode 100755", "new file mode 100755", "deleted file", "\r\n", "\u{feff}"]
    {
        assert!(patches.iter().any(|patch| patch.contains(sign)), "no patch has {sign:?}");
    }
    let (mut same, mut stricter, mut looser) = (0, 0, 0);
    let work = directory.path().join("work");
    for (number, (case, patch)) in cases.iter().zip(&patches).enumerate() {
        if patch.is_empty() {
            assert!(case.before == case.after, "{number}");
            continue;
        }
        let ours = applied(&work, &case.before, patch, false);
        let ours = ours.unwrap_or_else(|refused| panic!("{number} was refused: {refused}\n{patch}"));
        assert!(ours == case.after, "{number}: {ours:?}\n{:?}\n{:?}\n{patch}", case.before, case.after);
        // Git would join lines that follow a line without line break.
        let is_open = patch.contains("\n\\ No newline");
        let Some(drifted) = case.drifted.as_ref().filter(|_| !is_open) else { continue };
        match (applied(&work, drifted, patch, false), applied(&work, drifted, patch, true)) {
            (Ok(ours), Ok(gits)) => {
                same += 1;
                assert!(ours == gits, "{number}: {ours:?}\n{gits:?}\n{drifted:?}\n{patch}");
            }
            (Err(_), Err(_)) => same += 1,
            (Err(_), Ok(_)) => stricter += 1,
            (Ok(_), Err(_)) => looser += 1,
        }
    }
    println!(
        "{same} drifted patches as in git, {stricter} rejected that git applies, {looser} applied that git rejects"
    );
    // Ambiguous hunks are rejected, hunks with different line breaks are accepted; most cases are neither.
    assert!(same > 4 * (stricter + looser), "{same} {stricter} {looser}");
}
