use crate::plan::Page;

/// Cuts a page from merged rows.
#[derive(Clone, Copy, Debug)]
pub struct PageCutter {
    skip: u64,
    take: Option<u64>,
}

impl PageCutter {
    /// For one page.
    pub fn new(page: Page) -> Self {
        Self {
            skip: page.offset,
            take: page.limit,
        }
    }

    /// Whether the next row is on the page.
    pub fn admit(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        match &mut self.take {
            Some(0) => false,
            Some(take) => {
                *take -= 1;
                true
            }
            None => true,
        }
    }

    /// Whether no further row can be on the page.
    pub fn is_full(&self) -> bool {
        self.take == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_agree_with_skip_and_take() {
        for offset in 0..4 {
            for limit in [None, Some(0), Some(1), Some(3), Some(u64::MAX)] {
                let mut cutter = PageCutter::new(Page { offset, limit });
                let mut cut = Vec::new();
                for row in 0..6_u64 {
                    if !cutter.is_full() && cutter.admit() {
                        cut.push(row);
                    }
                }
                let take = usize::try_from(limit.unwrap_or(u64::MAX)).unwrap();
                let expected: Vec<u64> = (0..6).skip(offset as usize).take(take).collect();
                assert_eq!(cut, expected, "{offset} {limit:?}");
            }
        }
    }
}
