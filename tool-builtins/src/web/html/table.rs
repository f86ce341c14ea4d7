//! Rendering of tables.

use super::RenderStyle;
use super::dom::{Element, NodeId};
use super::render::{ClosingStep, Renderer};

/// The maximum number of columns. Each column is written in every row, so the number must be limited.
const MAX_COLUMNS: usize = 100;

/// The number of nodes of a table that are searched for line numbers.
const FIRST_NODES: usize = 20;

/// State of a table that is being rendered.
pub(super) struct TableState {
    /// `true` for a data table, whose rows are lines with separate cells. Otherwise the table is only used for layout.
    is_grid: bool,
    /// `true` if the first row contains headings.
    has_heading: bool,
    /// The number of cells in the current row so far.
    cells: usize,
    rows: usize,
    /// For each column, the number of following rows covered by a cell above.
    taken: Vec<usize>,
    /// The number of further columns that the current cell spans.
    more_columns: usize,
}

impl Renderer<'_> {
    pub(super) fn table(&mut self, id: NodeId, element: &Element) {
        self.out.gap(2);
        let is_layout = matches!(element.attribute("role"), Some("none" | "presentation")) || self.has_line_numbers(id);
        let has_heading = self.has_heading(id);
        let is_inside = self.tables.iter().any(|table| table.is_grid);
        let is_grid = !is_layout && !is_inside && (has_heading || self.is_data(id));
        let (taken, more_columns) = (Vec::new(), 0);
        self.tables.push(TableState { is_grid, has_heading, cells: 0, rows: 0, taken, more_columns });
        self.children_then(id, [ClosingStep::Gap(2), ClosingStep::Table]);
    }

    /// Returns `true` for a table of code with line numbers.
    fn has_line_numbers(&self, table: NodeId) -> bool {
        let mut first =
            self.dom.descendants(table, |_| true).take(FIRST_NODES).filter_map(|id| Some((id, self.dom.element(id)?)));
        first.any(|(id, element)| element.tag() == "td" && self.dom.is_line_numbers(id, element))
    }

    /// Returns `true` if the first row of a table contains headings.
    fn has_heading(&self, table: NodeId) -> bool {
        let is = |id: NodeId, tags: &[&str]| self.dom.tag(id).is_some_and(|tag| tags.contains(&tag));
        let first = self.dom.children(table).find(|&id| is(id, &["thead", "tbody", "tr"]));
        let row = first
            .and_then(|id| if is(id, &["tr"]) { Some(id) } else { self.dom.children(id).find(|&id| is(id, &["tr"])) });
        row.is_some_and(|row| is(first.unwrap_or(row), &["thead"]) || self.dom.children(row).any(|id| is(id, &["th"])))
    }

    /// Returns `true` for a table with at least two rows of several cells that contain only inline content. Cells of
    /// layout tables contain headings, lists, forms or other tables.
    fn is_data(&self, table: NodeId) -> bool {
        let mut rows_of_cells = 0;
        let mut cells = 0;
        for id in self.dom.descendants(table, |id| self.dom.is_shown(id)) {
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

    /// Returns the current table if it is a data table.
    fn grid(&mut self) -> Option<&mut TableState> {
        self.tables.last_mut().filter(|table| table.is_grid)
    }

    pub(super) fn row(&mut self, id: NodeId) {
        let markdown = self.style == RenderStyle::Markdown;
        self.out.gap(1);
        let columns = self.columns_of(id);
        let Some(table) = self.grid() else { return self.children_then(id, [ClosingStep::Gap(1)]) };
        table.cells = 0;
        if markdown {
            // Markdown tables require a heading row.
            if table.rows == 0 && !table.has_heading {
                table.rows = 1;
                self.out.lines(&format!("|{}\n|{}", " |".repeat(columns), " --- |".repeat(columns)));
                self.out.gap(1);
            }
            self.out.raw("|");
        }
        self.children_then(id, [ClosingStep::Row]);
    }

    /// Returns the number of columns that the cells of a row span.
    fn columns_of(&self, row: NodeId) -> usize {
        let cells = self.dom.children(row).filter(|&id| matches!(self.dom.tag(id), Some("td" | "th")));
        let columns = cells.filter_map(|id| self.dom.element(id)).map(columns).sum::<usize>();
        columns.min(MAX_COLUMNS)
    }

    pub(super) fn cell(&mut self, id: NodeId, element: &Element) {
        self.skip_covered_cells();
        let Some(table) = self.grid() else {
            self.out.space();
            return self.children(id);
        };
        let columns = columns(element).min(MAX_COLUMNS);
        let rows = element.number::<usize>("rowspan").unwrap_or(1);
        let end = table.cells + columns;
        if rows > 1 && end <= MAX_COLUMNS {
            table.taken.resize(table.taken.len().max(end), 0);
            table.taken[table.cells..end].fill(rows - 1);
        }
        table.more_columns = columns - 1;
        self.begin_cell();
        self.children_then(id, [ClosingStep::Cell]);
    }

    /// Writes empty cells for columns covered by cells of rows above.
    fn skip_covered_cells(&mut self) {
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
            RenderStyle::Markdown => self.out.space(),
            RenderStyle::Text if !is_first => self.out.tab(),
            RenderStyle::Text => {}
        }
    }

    fn finish_cell(&mut self) {
        self.out.end_cell();
        if self.style == RenderStyle::Markdown {
            self.out.append(" |");
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
        let markdown = self.style == RenderStyle::Markdown;
        self.skip_covered_cells();
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
    cell.number::<usize>("colspan").unwrap_or(1).clamp(1, MAX_COLUMNS)
}
