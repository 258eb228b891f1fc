/// LIMIT and OFFSET.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// How many rows are skipped.
    pub offset: u64,
    /// How many rows are returned; `None` means all.
    pub limit: Option<u64>,
}

impl Page {
    /// The limit that each node needs, so that the page can be cut from their merge: `offset` +
    /// `limit`. `None` if that is more rows than any database can count.
    pub fn node_limit(self) -> Option<u64> {
        const MOST: u64 = i64::MAX as u64;
        self.limit?
            .checked_add(self.offset)
            .filter(|rows| *rows <= MOST)
    }

    /// Whether every row is on the page.
    pub fn is_everything(self) -> bool {
        self.offset == 0 && self.limit.is_none()
    }
}
