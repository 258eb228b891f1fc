use chrono::FixedOffset;

use super::*;
use crate::key::{Comparison, Predicate};

const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
const YEAR: Monthly = Monthly::starting(2013, 1).through(2014, 1);

fn at(text: &str) -> KeyValue<'static> {
    KeyValue::Instant(text.parse::<DateTime<Utc>>().unwrap())
}

fn day(text: &str) -> KeyValue<'static> {
    KeyValue::Date(text.parse().unwrap())
}

#[track_caller]
#[allow(
    clippy::needless_pass_by_value,
    reason = "strategies are made for one check"
)]
fn check(strategy: impl Strategy, predicate: Predicate<'_>, tails: &[&str]) {
    assert_eq!(strategy.flaws(), []);
    let count = strategy.extent(DateTime::UNIX_EPOCH).count;
    let routed = strategy.route(&predicate.keys());
    let routed: Vec<_> = routed
        .below(count)
        .map(|n| strategy.name(n).into_owned())
        .collect();
    assert_eq!(routed, tails);
    for tail in tails {
        let number = strategy.number(tail).unwrap();
        assert_eq!(strategy.name(number), *tail);
    }
}

fn compare(comparison: Comparison, value: KeyValue<'static>) -> Predicate<'static> {
    Predicate::Compare(comparison, value)
}

#[test]
fn edges_are_exact() {
    let feb = || at("2013-02-01T00:00:00Z");
    check(YEAR, compare(Comparison::Less, feb()), &["201301"]);
    check(
        YEAR,
        compare(Comparison::LessOrEqual, feb()),
        &["201301", "201302"],
    );
    check(YEAR, compare(Comparison::Equal, feb()), &["201302"]);
    let december = at("2013-12-31T23:59:59.999999999Z");
    check(
        YEAR,
        compare(Comparison::Greater, december.clone()),
        &["201401"],
    );
    check(
        YEAR,
        compare(Comparison::GreaterOrEqual, december),
        &["201312", "201401"],
    );
    check(
        YEAR,
        compare(Comparison::Less, at("2013-01-01T00:00:00Z")),
        &[],
    );
    check(
        YEAR,
        compare(Comparison::GreaterOrEqual, at("2014-02-01T00:00:00Z")),
        &[],
    );
    check(
        YEAR,
        compare(Comparison::Less, day("2013-02-01")),
        &["201301"],
    );
    check(
        YEAR,
        compare(Comparison::Greater, day("2013-12-31")),
        &["201401"],
    );
}

#[test]
fn half_open_ranges_touch_their_months() {
    let spring = Predicate::And(vec![
        compare(Comparison::GreaterOrEqual, at("2013-03-01T00:00:00Z")),
        compare(Comparison::Less, at("2013-06-01T00:00:00Z")),
    ]);
    check(YEAR, spring, &["201303", "201304", "201305"]);
}

/// One time in slots of every unit; the names were looked up in a calendar.
#[test]
fn every_unit_names_its_slots() {
    let time = || compare(Comparison::Equal, at("2013-03-09T10:20:30Z"));
    check(
        Hourly::starting(2013, 1, 1, 0).through(2013, 12, 31, 23),
        time(),
        &["2013030910"],
    );
    check(
        Daily::starting(2013, 1, 1).through(2013, 12, 31),
        time(),
        &["20130309"],
    );
    check(
        Weekly::starting(2013, 1, 1).through(2013, 12, 31),
        time(),
        &["20130304"],
    );
    check(
        Quarterly::starting(2012, 1).through(2014, 4),
        time(),
        &["2013q1"],
    );
    check(Yearly::starting(2010).through(2014), time(), &["2013"]);
    let pairs = EveryDays::starting(2, 2013, 3, 2).through(2013, 12, 31);
    check(pairs, time(), &["20130308"]);
    let weeks = Weekly::starting(2012, 12, 31).through(2013, 1, 14);
    check(
        weeks,
        compare(Comparison::Less, at("2013-01-07T00:00:00Z")),
        &["20121231"],
    );
    let all = Predicate::Unknown;
    check(weeks, all, &["20121231", "20130107", "20130114"]);
}

#[test]
fn slots_begin_with_their_first_instant() {
    let quarters = Quarterly::starting(2012, 4).through(2013, 2);
    check(
        quarters,
        compare(Comparison::LessOrEqual, day("2013-01-01")),
        &["2012q4", "2013q1"],
    );
    check(
        quarters,
        compare(Comparison::Less, day("2013-01-01")),
        &["2012q4"],
    );
    let hours = Hourly::starting(2013, 1, 31, 23).through(2013, 2, 1, 1);
    let end = at("2013-01-31T23:59:59.999999999Z");
    check(
        hours,
        compare(Comparison::Greater, end.clone()),
        &["2013020100", "2013020101"],
    );
    check(
        hours,
        compare(Comparison::LessOrEqual, end),
        &["2013013123"],
    );
}

#[test]
fn integers_count_from_1970() {
    let may = Monthly::starting(2013, 4).through(2013, 6);
    let int = |n: i128| KeyValue::Int(n);
    // 2013-05-01T00:00:00Z
    const MAY: i128 = 1_367_366_400;
    for (unit, factor) in [
        (UnixTime::Seconds, 1),
        (UnixTime::Milliseconds, 1_000),
        (UnixTime::Microseconds, 1_000_000),
    ] {
        let months = may.unix(unit);
        check(
            months,
            compare(Comparison::Less, int(MAY * factor)),
            &["201304"],
        );
        check(
            months,
            compare(Comparison::Greater, int(MAY * factor - 1)),
            &["201305", "201306"],
        );
        check(
            months,
            compare(Comparison::Equal, int(MAY * factor)),
            &["201305"],
        );
        check(
            months,
            compare(Comparison::LessOrEqual, int(i128::MIN)),
            &["201304", "201305", "201306"],
        );
        assert_eq!(months.place(&int(i128::MAX)), Err(Misplaced::Outside));
        assert!(months.accepts(KeyKind::Integer) && !months.accepts(KeyKind::Instant));
    }
    let half = KeyValue::decimal(&"1367366399.5".parse().unwrap());
    check(
        may.unix(UnixTime::Seconds),
        compare(Comparison::Less, half.clone()),
        &["201304"],
    );
    check(
        may.unix(UnixTime::Seconds),
        compare(Comparison::Greater, half),
        &["201305", "201306"],
    );
}

#[test]
fn instants_are_read_in_the_zone() {
    let shanghai = YEAR.zone(FixedOffset::east_opt(8 * 3600).unwrap());
    let evening = at("2013-01-31T16:00:00Z");
    check(
        shanghai,
        compare(Comparison::Equal, evening.clone()),
        &["201302"],
    );
    check(shanghai, compare(Comparison::Less, evening), &["201301"]);
    let new_york = YEAR.zone(chrono_tz::America::New_York);
    check(
        new_york,
        compare(Comparison::Equal, at("2013-02-01T04:59:59Z")),
        &["201301"],
    );
    check(
        new_york,
        compare(Comparison::Equal, at("2013-07-01T04:00:00Z")),
        &["201307"],
    );
}

/// In New York, 2013-11-03 has 25 hours: 01:00 to 02:00 is shown twice, from 05:00 to 07:00 UTC.
#[test]
fn the_repeated_hour_is_one_slot() {
    let hours = Hourly::starting(2013, 11, 2, 20)
        .through(2013, 11, 3, 4)
        .zone(chrono_tz::America::New_York);
    for repeated in ["2013-11-03T05:30:00Z", "2013-11-03T06:30:00Z"] {
        check(
            hours,
            compare(Comparison::Equal, at(repeated)),
            &["2013110301"],
        );
    }
    let from = |text| compare(Comparison::GreaterOrEqual, at(text));
    check(
        hours,
        Predicate::And(vec![
            from("2013-11-03T05:30:00Z"),
            compare(Comparison::Less, at("2013-11-03T07:00:00Z")),
        ]),
        &["2013110301"],
    );
    let evening = Predicate::And(vec![
        from("2013-11-03T00:30:00Z"),
        compare(Comparison::Less, at("2013-11-03T02:00:00Z")),
    ]);
    check(hours, evening, &["2013110220", "2013110221"]);
}

/// On 1 November 2009, at 00:01, St. John's set its clocks back to 31 October, 23:01.
#[test]
fn clocks_set_back_over_midnight_lose_no_month() {
    let strategy = Monthly::starting(2009, 1)
        .through(2014, 1)
        .zone(chrono_tz::America::St_Johns);
    let place = |instant| strategy.place(&KeyValue::Instant(instant)).unwrap();
    let start = "2009-11-01T01:00:00Z".parse::<DateTime<Utc>>().unwrap();
    let minutes: Vec<_> = (0..240).map(|n| start + TimeDelta::minutes(n)).collect();
    let mut set_back = 0;
    for (at, earlier) in minutes.iter().enumerate() {
        let from = Predicate::Compare(Comparison::GreaterOrEqual, KeyValue::Instant(*earlier));
        let from = strategy.route(&from.keys());
        for later in &minutes[at..] {
            set_back += usize::from(place(*later) < place(*earlier));
            assert!(from.contains(place(*later)), "{earlier} <= {later}");
            let until = Predicate::Compare(Comparison::LessOrEqual, KeyValue::Instant(*later));
            let until = strategy.route(&until.keys());
            assert!(until.contains(place(*earlier)), "{earlier} <= {later}");
        }
        // Both months are shown soon before and after, but at one instant only one of them.
        let equal = Predicate::Compare(Comparison::Equal, KeyValue::Instant(*earlier));
        let month = [place(*earlier)].into_iter().collect();
        assert_eq!(strategy.route(&equal.keys()), month, "{earlier}");
    }
    assert!(
        set_back > 0,
        "the clocks are set back over the end of a month"
    );
}

#[test]
fn the_extent_grows_at_the_first_instant_of_a_slot() {
    let now = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
    let months = Monthly::starting(2013, 1);
    let extent = months.extent(now("2013-03-31T23:59:59Z"));
    assert_eq!(extent.count, 4);
    assert_eq!(extent.until, Some(now("2013-04-01T00:00:00Z")));
    assert_eq!(months.extent(now("2013-04-01T00:00:00Z")).count, 5);
    assert_eq!(
        months.ahead(12).extent(now("2013-03-01T00:00:00Z")).count,
        15
    );
    assert_eq!(months.extent(now("2001-01-01T00:00:00Z")).count, 1);
    assert_eq!(YEAR.extent(now("2030-01-01T00:00:00Z")), Extent::fixed(13));
    let shanghai = months.zone(FixedOffset::east_opt(8 * 3600).unwrap());
    let extent = shanghai.extent(now("2013-03-31T15:59:59Z"));
    assert_eq!(
        (extent.count, extent.until),
        (4, Some(now("2013-03-31T16:00:00Z")))
    );
    // Midnight of 2013-10-20 does not exist in São Paulo: the day begins at 01:00.
    let days = Daily::starting(2013, 10, 1).zone(chrono_tz::America::Sao_Paulo);
    let extent = days.extent(now("2013-10-20T02:59:59Z"));
    assert_eq!(
        (extent.count, extent.until),
        (20, Some(now("2013-10-20T03:00:00Z")))
    );
    assert_eq!(days.extent(now("2013-10-20T03:00:00Z")).count, 21);
}

/// Whatever the time, the extent lasts into the future, and never shrinks.
#[test]
fn extents_last_and_never_shrink() {
    let start = "2009-10-30T00:00:00Z".parse::<DateTime<Utc>>().unwrap();
    let days = Daily::starting(2009, 10, 1)
        .zone(chrono_tz::America::St_Johns)
        .ahead(0);
    let mut before = 0;
    for minutes in 0..3 * 24 * 60 {
        let now = start + TimeDelta::minutes(minutes);
        let extent = days.extent(now);
        assert!(extent.until > Some(now), "{now}");
        assert!(extent.count >= before, "{now}");
        assert!(days.place(&KeyValue::Instant(now)).unwrap() < extent.count);
        before = extent.count;
    }
}

#[test]
fn wrong_parameters_are_named() {
    let text = |flaws: Vec<Flaw>| {
        let texts: Vec<_> = flaws
            .into_iter()
            .map(|flaw| flaw.at + ": " + &flaw.why)
            .collect();
        texts.join("; ")
    };
    assert_eq!(
        text(Monthly::starting(2013, 13).through(0, 1).flaws()),
        "starting: year 2013, month 13, day 1, hour 0 is no time of the years 1 to 9999; \
         through: year 0, month 1, day 1, hour 0 is no time of the years 1 to 9999"
    );
    assert_eq!(
        text(YEAR.through(2012, 1).flaws()),
        "through: ends with 201201, before it starts with 201301"
    );
    assert!(text(Hourly::starting(1, 1, 1, 0).through(9999, 1, 1, 0).flaws()).contains("at most"));
    assert!(text(EveryDays::starting(0, 2013, 1, 1).flaws()).contains("days: is 0"));
    assert!(text(Quarterly::starting(2013, 5).flaws()).contains("starting"));
    assert_eq!(YEAR.number("201313"), None);
    assert_eq!(YEAR.number("2013-1"), None);
    assert_eq!(YEAR.number("201212"), None);
    // 5 March 2013 was a Tuesday.
    assert_eq!(Weekly::starting(2013, 1, 1).number("20130305"), None);
}

#[test]
fn only_the_end_may_change() {
    let open = Monthly::starting(2013, 1);
    assert!(
        YEAR.through(2015, 1).extends(&YEAR, NOW) && !YEAR.extends(&YEAR.through(2015, 1), NOW)
    );
    assert!(open.extends(&YEAR, NOW) && !YEAR.extends(&open, NOW));
    assert!(!Monthly::starting(2012, 1).extends(&open, NOW));
    assert!(!open.zone(chrono_tz::Asia::Tokyo).extends(&open, NOW));
    assert!(!open.extends(&Daily::starting(2013, 1, 1), NOW));
}
