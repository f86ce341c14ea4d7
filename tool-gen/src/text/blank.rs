//! A text with parts of it blank: lines and columns stay what they were.

/// Copies a text with parts of it blank.
pub(super) struct Blank<'a> {
    text: &'a str,
    out: String,
    done: usize,
}

impl<'a> Blank<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, out: String::with_capacity(text.len().min(1 << 20)), done: 0 }
    }

    pub(super) fn keep_to(&mut self, end: usize) {
        self.out.push_str(&self.text[self.done..end]);
        self.done = end;
    }

    pub(super) fn leave_out_to(&mut self, end: usize) {
        let part = &self.text[self.done..end];
        let mut line = 0;
        for newline in memchr::memchr_iter(b'\n', part.as_bytes()) {
            self.out.push('\n');
            line = newline + 1;
        }
        self.out.extend(part[line..].chars().map(|_| ' '));
        self.done = end;
    }

    pub(super) fn leave_out(&mut self, start: usize, end: usize) {
        self.keep_to(start);
        self.leave_out_to(end);
    }

    /// Leaves a part out and has something else there.
    pub(super) fn replace(&mut self, start: usize, end: usize, by: &str) {
        self.keep_to(start);
        self.out.push_str(by);
        self.leave_out_to(end);
    }

    pub(super) fn finish(mut self) -> String {
        self.keep_to(self.text.len());
        self.out
    }
}
