//! Calendars of the model.

use serde::Deserialize;
use sharding_core::strategy::{
    Calendar, Daily, Day, Days, EveryDays, Hour, Hourly, Month, Monthly, Quarter, Quarterly, Slot,
    UnixTime, Week, Weekly, Year, Yearly,
};

use super::context::Context;
use super::field::Field;
use super::scalar::{Count, Raw, Zone};
use super::time;

/// One partition for each slot of time.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Calendar"))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("not" = serde_json::json!({ "required": ["through", "ahead"] })))
)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct CalendarSection {
    /// The first slot, which is fixed for ever; a row before it is refused.
    starting: Field<Moment>,
    /// The last slot, included. Without it slots are added as time goes by.
    #[serde(default)]
    through: Field<Option<Moment>>,
    /// How many slots exist after the current one: 1 unless given. Not beside `through`.
    #[serde(default)]
    ahead: Field<Option<Count>>,
    /// The zone in which instants are read: UTC unless given.
    #[serde(default)]
    zone: Field<Option<Zone>>,
    /// Keys are integers that count time since 1970 in this unit.
    #[serde(default)]
    unix: Field<Option<Unix>>,
}

/// One partition for each run of so many days.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "EveryDays"))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("not" = serde_json::json!({ "required": ["through", "ahead"] })))
)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct EveryDaysSection {
    /// How many days a slot has: 1 to 36,525.
    days: Field<Count>,
    /// The day with which the first slot begins; a row before it is refused.
    starting: Field<Moment>,
    /// A day of the last slot. Without it slots are added as time goes by.
    #[serde(default)]
    through: Field<Option<Moment>>,
    /// How many slots exist after the current one: 1 unless given. Not beside `through`.
    #[serde(default)]
    ahead: Field<Option<Count>>,
    /// The zone in which instants are read: UTC unless given.
    #[serde(default)]
    zone: Field<Option<Zone>>,
    /// Keys are integers that count time since 1970 in this unit.
    #[serde(default)]
    unix: Field<Option<Unix>>,
}

/// A slot, written as fits the unit.
#[derive(Clone, Deserialize)]
pub(super) struct Moment(Raw);

/// What an integer counts since 1970-01-01 00:00 UTC.
#[derive(Clone, Copy, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    rename_all = "snake_case",
    expecting = "`seconds`, `milliseconds` or `microseconds`"
)]
pub(super) enum Unix {
    Seconds,
    Milliseconds,
    Microseconds,
}

/// A slot that can be written down.
pub(super) trait Unit: Slot + Copy {
    /// What the first and the last slot have to be.
    const WHAT: &'static str;

    /// The calendar through the slot of this moment; `None` if that is not fine enough.
    fn through(calendar: Calendar<Self>, last: time::Moment) -> Option<Calendar<Self>>;
}

/// A unit that needs no other parameter.
pub(super) trait PlainUnit: Unit {
    /// The calendar from the slot of this moment on; `None` if that is not fine enough.
    fn starting(first: time::Moment) -> Option<Calendar<Self>>;
}

macro_rules! units {
    ($($slot:ty, $calendar:ty, $what:literal, $moment:ident => ($($part:expr),+);)+) => {
        $(
            impl Unit for $slot {
                const WHAT: &'static str = $what;

                fn through(calendar: $calendar, $moment: time::Moment) -> Option<$calendar> {
                    Some(calendar.through($($part),+))
                }
            }

            impl PlainUnit for $slot {
                fn starting($moment: time::Moment) -> Option<$calendar> {
                    Some(<$calendar>::starting($($part),+))
                }
            }
        )+
    };
}

units! {
    Hour, Hourly, "an hour such as 2013-01-31T05",
        at => (at.year(), at.month()?, at.day()?, at.hour()?);
    Day, Daily, "a day such as 2013-01-31", at => (at.year(), at.month()?, at.day()?);
    Week, Weekly, "a day such as 2013-01-31", at => (at.year(), at.month()?, at.day()?);
    Month, Monthly, "a month such as 2013-01", at => (at.year(), at.month()?);
    Quarter, Quarterly, "a quarter such as 2013-q1", at => (at.year(), at.quarter()?);
    Year, Yearly, "a year such as 2013", at => (at.year());
}

impl Unit for Days {
    const WHAT: &'static str = "a day such as 2013-01-31";

    fn through(calendar: EveryDays, last: time::Moment) -> Option<EveryDays> {
        Some(calendar.through(last.year(), last.month()?, last.day()?))
    }
}

impl CalendarSection {
    /// `None` if something is wrong, which is reported then.
    pub(super) fn build<S: PlainUnit>(&self, context: &Context<'_>) -> Option<Calendar<S>> {
        let options = Options {
            starting: &self.starting,
            through: &self.through,
            ahead: &self.ahead,
            zone: &self.zone,
            unix: &self.unix,
        };
        options.build(context, S::starting)
    }
}

impl EveryDaysSection {
    /// `None` if something is wrong, which is reported then.
    pub(super) fn build(&self, context: &Context<'_>) -> Option<EveryDays> {
        // The rest is checked although the calendar cannot be made.
        let days = self.days.get().map(|days| days.0);
        let options = Options {
            starting: &self.starting,
            through: &self.through,
            ahead: &self.ahead,
            zone: &self.zone,
            unix: &self.unix,
        };
        let calendar = options.build(context, |first: time::Moment| {
            let (month, day) = (first.month()?, first.day()?);
            Some(EveryDays::starting(
                days.unwrap_or(1),
                first.year(),
                month,
                day,
            ))
        });
        days.and(calendar)
    }
}

/// What all calendars have.
struct Options<'a> {
    starting: &'a Field<Moment>,
    through: &'a Field<Option<Moment>>,
    ahead: &'a Field<Option<Count>>,
    zone: &'a Field<Option<Zone>>,
    unix: &'a Field<Option<Unix>>,
}

impl Options<'_> {
    fn build<S: Unit>(
        &self,
        context: &Context<'_>,
        starting: impl Fn(time::Moment) -> Option<Calendar<S>>,
    ) -> Option<Calendar<S>> {
        let has_two_ends = self.through.is_given() && self.ahead.is_given();
        if has_two_ends {
            let why = "is given beside `through`; they exclude each other, so remove one";
            context.wrong(self.ahead, why);
        }
        let read = |moment: &Moment| time::Moment::parse(&moment.0.text);
        let from = |moment: &Moment| read(moment).and_then(&starting);
        let mut calendar = self.starting.get().and_then(|first| {
            let calendar = from(first);
            if calendar.is_none() {
                context.wrong(self.starting, first.0.has_to_be(S::WHAT));
            }
            calendar
        });
        if let Some(last) = self.through.given() {
            // What a calendar can start with, it can end with.
            if from(last).is_none() {
                context.wrong(self.through, last.0.has_to_be(S::WHAT));
            }
            calendar = calendar.and_then(|calendar| S::through(calendar, read(last)?));
        }
        let mut calendar = calendar?;
        // Each of them is there and right, or not there.
        if let Some(ahead) = self.ahead.value? {
            calendar = calendar.ahead(ahead.0);
        }
        if let Some(zone) = self.zone.value? {
            calendar = calendar.zone(zone.0);
        }
        if let Some(unix) = self.unix.value? {
            calendar = calendar.unix(match unix {
                Unix::Seconds => UnixTime::Seconds,
                Unix::Milliseconds => UnixTime::Milliseconds,
                Unix::Microseconds => UnixTime::Microseconds,
            });
        }
        (self.through.value.is_some() && !has_two_ends).then_some(calendar)
    }
}
