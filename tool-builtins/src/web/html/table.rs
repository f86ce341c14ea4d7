//! Tables, of data or of layout.

use super::Style;
use super::dom::Id;
use super::render::{End, Walk};

/// A table that we are in.
pub(super) struct Table {
    /// Rows are lines and cells are set apart; otherwise the table only says where things stand on the screen.
    is_grid: bool,
    /// The cells of the row so far.
    cells: usize,
    rows: usize,
}

impl Walk<'_> {
    pub(super) fn table(&mut self, id: Id) {
        self.out.gap(2);
        let is_grid = self.tables.is_empty() && self.has_heading(id);
        self.tables.push(Table { is_grid, cells: 0, rows: 0 });
        self.children_then(id, [End::Gap(2), End::Table]);
    }

    /// Whether the first row of a table has a heading.
    fn has_heading(&self, table: Id) -> bool {
        let children = |id: Id| self.dom.node(id).children.iter().copied();
        let is = |id: Id, tags: &[&str]| self.dom.tag(id).is_some_and(|tag| tags.contains(&tag));
        let first = children(table).find(|&id| is(id, &["thead", "tbody", "tr"]));
        let row =
            first.and_then(|id| if is(id, &["tr"]) { Some(id) } else { children(id).find(|&id| is(id, &["tr"])) });
        row.is_some_and(|row| children(row).any(|id| is(id, &["th"])))
    }

    /// The table, if its rows are lines.
    fn grid(&mut self) -> Option<&mut Table> {
        self.tables.last_mut().filter(|table| table.is_grid)
    }

    pub(super) fn row(&mut self, id: Id) {
        let markdown = self.style == Style::Markdown;
        self.out.gap(1);
        let Some(table) = self.grid() else { return self.children_then(id, [End::Gap(1)]) };
        table.cells = 0;
        if markdown {
            self.out.raw("|");
        }
        self.children_then(id, [End::Row]);
    }

    pub(super) fn cell(&mut self, id: Id) {
        let Some(table) = self.grid() else {
            self.out.space();
            return self.children(id);
        };
        table.cells += 1;
        let is_first = table.cells == 1;
        self.out.begin_cell();
        match self.style {
            Style::Markdown => self.out.space(),
            Style::Text if !is_first => self.out.tab(),
            Style::Text => {}
        }
        self.children_then(id, [End::Cell]);
    }

    pub(super) fn end_cell(&mut self) {
        self.out.end_cell();
        if self.style == Style::Markdown {
            self.out.glued(" |");
        }
    }

    pub(super) fn end_row(&mut self) {
        let markdown = self.style == Style::Markdown;
        if let Some(table) = self.grid() {
            table.rows += 1;
            let cells = table.cells;
            if table.rows == 1 && markdown {
                self.out.lines(&format!("|{}", " --- |".repeat(cells)));
            }
        }
        self.out.gap(1);
    }
}
