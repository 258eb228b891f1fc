//! Tables whose tails follow the order of a column.

use super::Table;
use super::table::Layout;

impl Table {
    /// Whether rows with greater values of this column are never in earlier tails, whatever data
    /// source they are in. The second part of [`Table::coordinates`] numbers the tails.
    ///
    /// Values are compared as numbers and times are; text, whose order is the database's, is never
    /// said to be in order.
    pub fn keeps_order_of(&self, column: &str) -> bool {
        let (Layout::Grid {
            table_rule: Some(rule),
            ..
        }
        | Layout::Spread { rule, .. }) = &self.layout
        else {
            return false;
        };
        let key = rule.key();
        match key.columns() {
            [only] => {
                only.name() == column && only.kind().is_ordered() && key.strategy().keeps_order()
            }
            _ => false,
        }
    }
}
