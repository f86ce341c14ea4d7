//! Assembly of words, gaps and marks into lines.

use super::RenderStyle;

/// Writes text. Spaces, gaps and marks are held back until the next word, so that empty elements leave no trace.
pub(super) struct TextWriter {
    text: String,
    style: RenderStyle,
    /// The line prefixes of the enclosing blocks, from the outermost to the innermost.
    prefixes: Vec<LinePrefix>,
    /// The number of line breaks due before the next word.
    gap: usize,
    /// `true` if a space is due before the next word.
    space: bool,
    /// The marks due before the next word.
    pending: Vec<(MarkId, &'static str)>,
    marks: usize,
    /// The number of enclosing elements that must stay on one line.
    one_line: usize,
    /// The number of enclosing table cells, in which `|` must be escaped.
    in_cell: usize,
}

/// The prefix of a block's lines.
struct LinePrefix {
    /// The prefix of the first line, such as a bullet, until that line is written.
    first: Option<String>,
    /// The prefix of the following lines.
    rest: String,
}

/// Identifies an open mark; see [`TextWriter::open`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct MarkId(usize);

/// The maximum depth of lists and quotes. Each level adds to every line, so deeper ones are written at this level.
const MAX_PREFIXES: usize = 12;

impl TextWriter {
    pub(super) fn new(style: RenderStyle) -> Self {
        Self {
            text: String::new(),
            style,
            prefixes: Vec::new(),
            gap: 0,
            space: false,
            pending: Vec::new(),
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

    /// Writes HTML text, in which any white space separates words.
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

    /// Writes a word without Markdown escaping; only `|` is escaped in table cells.
    pub(super) fn raw(&mut self, word: &str) {
        self.before_word();
        match self.in_cell > 0 && self.style == RenderStyle::Markdown {
            true => self.text.push_str(&word.replace('|', "\\|")),
            false => self.text.push_str(word),
        }
    }

    /// Appends text at once, without any space or gap that is due.
    pub(super) fn append(&mut self, end: &str) {
        self.text.push_str(end);
        self.space = false;
    }

    /// Writes a tab before the next word.
    pub(super) fn tab(&mut self) {
        self.space = false;
        self.raw("\t");
    }

    /// Writes lines verbatim.
    pub(super) fn lines(&mut self, lines: &str) {
        for line in lines.lines() {
            self.gap = self.gap.max(1);
            self.before_word();
            self.text.push_str(line);
        }
    }

    /// Requests a space before the next word.
    pub(super) fn space(&mut self) {
        self.space = true;
    }

    /// Requests line breaks before the next word: one for a new line, two for a paragraph. Inside a line, a space.
    pub(super) fn gap(&mut self, lines: usize) {
        if self.one_line > 0 {
            self.space = true;
        } else if self.prefixes.last().is_none_or(|prefix| prefix.first.is_none()) {
            // A block that has just begun needs no gap before its content.
            self.gap = self.gap.max(lines);
            self.space = false;
        }
    }

    /// Opens a mark. It is written only if a word follows.
    pub(super) fn open(&mut self, before: &'static str) -> MarkId {
        self.marks += 1;
        let mark = MarkId(self.marks);
        self.pending.push((mark, before));
        mark
    }

    /// Closes a mark.
    pub(super) fn close(&mut self, mark: MarkId, after: &str) {
        if self.pending.last().is_some_and(|(pending, _)| *pending == mark) {
            self.pending.pop();
        } else {
            self.text.push_str(after);
        }
    }

    /// Returns `true` if the current line already has words.
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

    /// Begins a quote. Returns `false` if it is nested too deeply.
    pub(super) fn begin_quote(&mut self) -> bool {
        self.begin("> ".to_owned(), "> ".to_owned())
    }

    /// Begins a list item. Returns `false` if it is nested too deeply.
    pub(super) fn begin_item(&mut self, bullet: String) -> bool {
        let rest = " ".repeat(bullet.len());
        self.begin(bullet, rest)
    }

    fn begin(&mut self, first: String, rest: String) -> bool {
        let begun = self.prefixes.len() < MAX_PREFIXES && self.one_line == 0;
        if begun {
            self.prefixes.push(LinePrefix { first: Some(first), rest });
        }
        begun
    }

    /// Ends the innermost quote or list item.
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
        for (_, mark) in self.pending.drain(..) {
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

    /// Writes a blank line with the prefixes of the blocks that have already begun.
    fn blank_line(&mut self) {
        let start = self.text.len();
        for prefix in self.prefixes.iter().take_while(|prefix| prefix.first.is_none()) {
            self.text.push_str(&prefix.rest);
        }
        let end = start + self.text[start..].trim_end().len();
        self.text.truncate(end);
        self.text.push('\n');
    }

    /// Writes a word with Markdown characters escaped. Characters that are special only at word boundaries stay
    /// unescaped inside a word: `snake_case` is easier to read than `snake\_case`.
    fn escaped(&mut self, word: &str) {
        if self.style == RenderStyle::Text {
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

/// Returns `true` if a word at the start of a line would begin a heading, an item, a quote or a rule. Excludes characters
/// that are always escaped.
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
