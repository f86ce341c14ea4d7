//! Words, gaps and marks, put together to lines.

use super::Style;

/// Text that is being written. Nothing is written for what turns out to be empty: spaces, gaps and marks wait for the
/// word after them.
pub(super) struct Writer {
    text: String,
    style: Style,
    /// What a line begins with, from the outermost block to the innermost.
    prefixes: Vec<Prefix>,
    /// How many line ends are owed before the next word.
    gap: usize,
    /// Whether a space is owed before the next word.
    space: bool,
    /// The marks that are owed before the next word.
    waiting: Vec<(Mark, &'static str)>,
    marks: usize,
    /// In how many elements we are that have to stay on one line.
    one_line: usize,
    /// Whether a `|` would end a cell.
    in_cell: usize,
}

/// What a line begins with.
struct Prefix {
    /// Before the first line, such as a bullet. It is there until that line is written.
    first: Option<String>,
    /// Before those that follow.
    rest: String,
}

/// A mark that was begun; see [`Writer::open`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark(usize);

/// Deeper lists and quotes are written as if they stood here: each level is written before every line.
const DEEPEST_PREFIX: usize = 12;

impl Writer {
    pub(super) fn new(style: Style) -> Self {
        Self {
            text: String::new(),
            style,
            prefixes: Vec::new(),
            gap: 0,
            space: false,
            waiting: Vec::new(),
            marks: 0,
            one_line: 0,
            in_cell: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Text as HTML has it: white space of any kind and length separates words.
    pub(super) fn words(&mut self, text: &str) {
        let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c' | '\u{a0}');
        self.space |= text.starts_with(is_space);
        for word in text.split(is_space).filter(|word| !word.is_empty()) {
            self.before_word();
            self.escaped(word);
            self.space = true;
        }
        // The last word is followed by a space only if the text is.
        if text.contains(|c| !is_space(c)) {
            self.space = text.ends_with(is_space);
        }
    }

    /// A word that is written as it is, but for what would end a cell.
    pub(super) fn raw(&mut self, word: &str) {
        self.before_word();
        match self.in_cell > 0 && self.style == Style::Markdown {
            true => self.text.push_str(&word.replace('|', "\\|")),
            false => self.text.push_str(word),
        }
    }

    /// Directly after what was written, whatever is owed.
    pub(super) fn glued(&mut self, end: &str) {
        self.text.push_str(end);
        self.space = false;
    }

    /// Sets the next word apart from the one before it on the line.
    pub(super) fn tab(&mut self) {
        self.space = false;
        self.raw("\t");
    }

    /// Lines that are written as they are.
    pub(super) fn lines(&mut self, lines: &str) {
        for line in lines.lines() {
            self.gap = self.gap.max(1);
            self.before_word();
            self.text.push_str(line);
        }
    }

    /// A space before the next word.
    pub(super) fn space(&mut self) {
        self.space = true;
    }

    /// Line ends before the next word: one for a new line, two for a paragraph. On one line they are a space.
    pub(super) fn gap(&mut self, lines: usize) {
        if self.one_line > 0 {
            self.space = true;
        } else if self.prefixes.last().is_none_or(|prefix| prefix.first.is_none()) {
            // What has just begun is not set apart from its own beginning.
            self.gap = self.gap.max(lines);
            self.space = false;
        }
    }

    /// Begins something that has a mark before and after it, if anything is in it.
    pub(super) fn open(&mut self, before: &'static str) -> Mark {
        self.marks += 1;
        let mark = Mark(self.marks);
        self.waiting.push((mark, before));
        mark
    }

    /// Ends what was begun.
    pub(super) fn close(&mut self, mark: Mark, after: &str) {
        if self.waiting.last().is_some_and(|(waiting, _)| *waiting == mark) {
            self.waiting.pop();
        } else {
            self.text.push_str(after);
        }
    }

    /// Returns `true` if the next word is not the first of its line.
    pub(super) fn is_in_line(&self) -> bool {
        self.gap == 0 && !self.text.is_empty()
    }

    pub(super) fn is_on_one_line(&self) -> bool {
        self.one_line > 0
    }

    pub(super) fn begin_one_line(&mut self) {
        self.one_line += 1;
    }

    pub(super) fn end_one_line(&mut self) {
        self.one_line -= 1;
    }

    pub(super) fn begin_cell(&mut self) {
        self.in_cell += 1;
        self.begin_one_line();
    }

    pub(super) fn end_cell(&mut self) {
        self.in_cell -= 1;
        self.end_one_line();
    }

    /// Begins a quotation, unless there are too many around it; says whether it has.
    pub(super) fn begin_quote(&mut self) -> bool {
        self.begin("> ".to_owned(), "> ".to_owned())
    }

    /// Begins an item, likewise.
    pub(super) fn begin_item(&mut self, bullet: String) -> bool {
        let rest = " ".repeat(bullet.len());
        self.begin(bullet, rest)
    }

    fn begin(&mut self, first: String, rest: String) -> bool {
        let begun = self.prefixes.len() < DEEPEST_PREFIX && self.one_line == 0;
        if begun {
            self.prefixes.push(Prefix { first: Some(first), rest });
        }
        begun
    }

    /// Ends the innermost quotation or item.
    pub(super) fn end_prefix(&mut self) {
        self.prefixes.pop();
    }

    fn before_word(&mut self) {
        if self.gap > 0 || self.text.is_empty() {
            self.new_line();
        } else if self.space && !self.text.ends_with('\t') {
            self.text.push(' ');
        }
        self.gap = 0;
        self.space = false;
        for (_, mark) in self.waiting.drain(..) {
            self.text.push_str(mark);
        }
    }

    fn new_line(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
            for _ in 1..self.gap {
                self.blank_line();
            }
        }
        for prefix in &mut self.prefixes {
            self.text.push_str(prefix.first.take().as_ref().unwrap_or(&prefix.rest));
        }
    }

    /// A line without words belongs to the blocks that have begun before it.
    fn blank_line(&mut self) {
        let start = self.text.len();
        for prefix in self.prefixes.iter().take_while(|prefix| prefix.first.is_none()) {
            self.text.push_str(&prefix.rest);
        }
        let end = start + self.text[start..].trim_end().len();
        self.text.truncate(end);
        self.text.push('\n');
    }

    /// A word, so that Markdown does not take it for a mark. What would be one only at the edge of a word stays as it
    /// is inside: `snake_case` is easier to read than `snake\_case`.
    fn escaped(&mut self, word: &str) {
        if self.style == Style::Text {
            return self.text.push_str(word);
        }
        let starts_line = self.text.is_empty() || self.text.ends_with(['\n']) || self.text.ends_with("> ");
        if starts_line && starts_block(word) {
            match word.find(['.', ')']).filter(|_| word.starts_with(|c: char| c.is_ascii_digit())) {
                Some(end) => {
                    self.text.push_str(&word[..end]);
                    self.text.push('\\');
                    return self.text.push_str(&word[end..]);
                }
                None => self.text.push('\\'),
            }
        }
        let mut before = ' ';
        let mut rest = word.chars().peekable();
        while let Some(c) = rest.next() {
            let at_edge = !before.is_alphanumeric() || rest.peek().is_none_or(|next| !next.is_alphanumeric());
            let is_mark = match c {
                '\\' | '`' | '*' | '[' | ']' | '<' => true,
                '_' => at_edge,
                '|' => self.in_cell > 0,
                _ => false,
            };
            if is_mark {
                self.text.push('\\');
            }
            self.text.push(c);
            before = c;
        }
    }
}

/// Whether a word at the beginning of a line would make it a heading, an item, a quotation or a rule. Those that also
/// are marks elsewhere are not among them.
fn starts_block(word: &str) -> bool {
    let is_number =
        || word.strip_suffix(['.', ')']).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let is_run = |c: char| word.chars().all(|other| other == c);
    word.starts_with('>')
        || is_run('#')
        || word == "+"
        || is_run('-')
        || is_run('=')
        || word.starts_with("~~~")
        || is_number()
}
