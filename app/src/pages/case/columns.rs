//! The column an agent has beside each sentence.

/// More columns are not shown; the runs page has them all.
pub const MOST: usize = 12;

/// The grid of a row: label, text, one column an agent. Written out, because the stylesheet is made from these words.
pub const fn row_grid(agents: usize) -> &'static str {
    match agents {
        0 => "grid-cols-[30px_minmax(0,1fr)]",
        1 => "grid-cols-[30px_minmax(0,1fr)] md:grid-cols-[30px_minmax(0,1fr)_repeat(1,124px)]",
        2 => "grid-cols-[30px_minmax(0,1fr)] md:grid-cols-[30px_minmax(0,1fr)_repeat(2,124px)]",
        3 => "grid-cols-[30px_minmax(0,1fr)] md:grid-cols-[30px_minmax(0,1fr)_repeat(3,108px)]",
        4 => "grid-cols-[30px_minmax(0,1fr)] md:grid-cols-[30px_minmax(0,1fr)_repeat(4,108px)]",
        5 => "grid-cols-[30px_minmax(0,1fr)] md:grid-cols-[30px_minmax(280px,1fr)_repeat(5,108px)]",
        6 => "grid-cols-[30px_minmax(0,1fr)] md:grid-cols-[30px_minmax(280px,1fr)_repeat(6,108px)]",
        7 => "grid-cols-[30px_minmax(0,1fr)] md:grid-cols-[30px_minmax(280px,1fr)_repeat(7,108px)]",
        8 => "grid-cols-[30px_minmax(0,1fr)] md:grid-cols-[30px_minmax(280px,1fr)_repeat(8,108px)]",
        9 => "grid-cols-[30px_minmax(0,1fr)] md:grid-cols-[30px_minmax(280px,1fr)_repeat(9,108px)]",
        10 => {
            "grid-cols-[30px_minmax(0,1fr)] md:grid-cols-[30px_minmax(280px,1fr)_repeat(10,108px)]"
        }
        11 => {
            "grid-cols-[30px_minmax(0,1fr)] md:grid-cols-[30px_minmax(280px,1fr)_repeat(11,108px)]"
        }
        _ => {
            "grid-cols-[30px_minmax(0,1fr)] md:grid-cols-[30px_minmax(280px,1fr)_repeat(12,108px)]"
        }
    }
}

/// Where the columns part company with the page's width: the table scrolls sideways, and its head no longer sticks.
pub const fn scrolls(agents: usize) -> bool {
    agents > 4
}

/// The grid of verdicts under a rubric on narrow pages.
pub const fn narrow_grid(agents: usize) -> &'static str {
    match agents {
        0 | 1 => "grid-cols-1",
        2 => "grid-cols-2",
        _ => "grid-cols-2 min-[420px]:grid-cols-3",
    }
}
