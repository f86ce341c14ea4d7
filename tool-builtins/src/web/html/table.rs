//! Tables, of data or of layout.

use super::Style;
use super::dom::{Element, Id};
use super::render::{End, Walk};

/// Broader cells, and columns beyond, are written as if they ended here: each column is written in every row.
const MOST_COLUMNS: usize = 100;

/// Where the numbers of lines are looked for in a table.
const FIRST_NODES: usize = 20;

/// A table that we are in.
pub(super) struct Table {
    /// Rows are lines and cells are set apart; otherwise the table only says where things stand on the screen.
    is_grid: bool,
    /// Whether the first row has the headings.
    has_heading: bool,
    /// The cells of the row so far.
    cells: usize,
    rows: usize,
    /// How many rows below this one each column is taken by a cell above them.
    taken: Vec<usize>,
    /// How many columns the current cell takes beside its own.
    more_columns: usize,
}

impl Walk<'_> {
    pub(super) fn table(&mut self, id: Id, element: &Element) {
        self.out.gap(2);
        let is_layout = matches!(element.attribute("role"), Some("none" | "presentation")) || self.numbers_lines(id);
        let has_heading = self.has_heading(id);
        let is_inside = self.tables.iter().any(|table| table.is_grid);
        let is_grid = !is_layout && !is_inside && (has_heading || self.is_data(id));
        let (taken, more_columns) = (Vec::new(), 0);
        self.tables.push(Table { is_grid, has_heading, cells: 0, rows: 0, taken, more_columns });
        self.children_then(id, [End::Gap(2), End::Table]);
    }

    /// Returns `true` for a table of code and the numbers of its lines.
    fn numbers_lines(&self, table: Id) -> bool {
        let mut first =
            self.dom.below(table, |_| true).take(FIRST_NODES).filter_map(|id| Some((id, self.dom.element(id)?)));
        first.any(|(id, element)| element.tag() == "td" && self.dom.is_line_numbers(id, element))
    }

    /// Whether the first row of a table has a heading.
    fn has_heading(&self, table: Id) -> bool {
        let is = |id: Id, tags: &[&str]| self.dom.tag(id).is_some_and(|tag| tags.contains(&tag));
        let first = self.dom.children(table).find(|&id| is(id, &["thead", "tbody", "tr"]));
        let row = first
            .and_then(|id| if is(id, &["tr"]) { Some(id) } else { self.dom.children(id).find(|&id| is(id, &["tr"])) });
        row.is_some_and(|row| is(first.unwrap_or(row), &["thead"]) || self.dom.children(row).any(|id| is(id, &["th"])))
    }

    /// Returns `true` for a table of at least two rows of several cells with nothing but a few words in them. Tables for
    /// layout have headings, lists, forms or other tables in their cells.
    fn is_data(&self, table: Id) -> bool {
        let mut rows_of_cells = 0;
        let mut cells = 0;
        for id in self.dom.below(table, |id| self.dom.is_shown(id)) {
            match self.dom.tag(id) {
                Some("tr") => cells = 0,
                Some("td" | "th") => {
                    cells += 1;
                    rows_of_cells += usize::from(cells == 2);
                }
                Some(
                    "article" | "blockquote" | "dl" | "fieldset" | "footer" | "form" | "h1" | "h2" | "h3" | "h4" | "h5"
                    | "h6" | "header" | "hr" | "main" | "nav" | "ol" | "pre" | "section" | "table" | "textarea" | "ul",
                ) => return false,
                _ => {}
            }
        }
        rows_of_cells >= 2
    }

    /// The table, if its rows are lines.
    fn grid(&mut self) -> Option<&mut Table> {
        self.tables.last_mut().filter(|table| table.is_grid)
    }

    pub(super) fn row(&mut self, id: Id) {
        let markdown = self.style == Style::Markdown;
        self.out.gap(1);
        let columns = self.columns_of(id);
        let Some(table) = self.grid() else { return self.children_then(id, [End::Gap(1)]) };
        table.cells = 0;
        if markdown {
            // A table of Markdown has headings.
            if table.rows == 0 && !table.has_heading {
                table.rows = 1;
                self.out.lines(&format!("|{}\n|{}", " |".repeat(columns), " --- |".repeat(columns)));
                self.out.gap(1);
            }
            self.out.raw("|");
        }
        self.children_then(id, [End::Row]);
    }

    /// Returns how many columns the cells of a row take.
    fn columns_of(&self, row: Id) -> usize {
        let cells = self.dom.children(row).filter(|&id| matches!(self.dom.tag(id), Some("td" | "th")));
        let columns = cells.filter_map(|id| self.dom.element(id)).map(columns).sum::<usize>();
        columns.min(MOST_COLUMNS)
    }

    pub(super) fn cell(&mut self, id: Id, element: &Element) {
        self.taken_cells();
        let Some(table) = self.grid() else {
            self.out.space();
            return self.children(id);
        };
        let columns = columns(element).min(MOST_COLUMNS);
        let rows = element.number::<usize>("rowspan").unwrap_or(1);
        let end = table.cells + columns;
        if rows > 1 && end <= MOST_COLUMNS {
            table.taken.resize(table.taken.len().max(end), 0);
            table.taken[table.cells..end].fill(rows - 1);
        }
        table.more_columns = columns - 1;
        self.begin_cell();
        self.children_then(id, [End::Cell]);
    }

    /// Leaves the columns empty that cells of the rows above reach into.
    fn taken_cells(&mut self) {
        while let Some(table) = self.grid()
            && let Some(rows @ 1..) = table.taken.get_mut(table.cells)
        {
            *rows -= 1;
            self.empty_cell();
        }
    }

    fn empty_cell(&mut self) {
        self.begin_cell();
        self.finish_cell();
    }

    fn begin_cell(&mut self) {
        let is_first = self.grid().is_some_and(|table| {
            table.cells += 1;
            table.cells == 1
        });
        self.out.begin_cell();
        match self.style {
            Style::Markdown => self.out.space(),
            Style::Text if !is_first => self.out.tab(),
            Style::Text => {}
        }
    }

    fn finish_cell(&mut self) {
        self.out.end_cell();
        if self.style == Style::Markdown {
            self.out.glued(" |");
        }
    }

    pub(super) fn end_cell(&mut self) {
        self.finish_cell();
        let more = self.grid().map(|table| std::mem::take(&mut table.more_columns)).unwrap_or_default();
        for _ in 0..more {
            self.empty_cell();
        }
    }

    pub(super) fn end_row(&mut self) {
        let markdown = self.style == Style::Markdown;
        self.taken_cells();
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

fn columns(cell: &Element) -> usize {
    cell.number::<usize>("colspan").unwrap_or(1).clamp(1, MOST_COLUMNS)
}
