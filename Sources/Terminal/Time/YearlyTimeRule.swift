import Market

/// The offset of a time zone, and of its summer time if it has one, as the variable `TZ` has them (POSIX.1-2024, 8.3;
/// RFC 9636, 3.3.1): `CET-1CEST,M3.5.0,M10.5.0/3`. All numbers are seconds.
struct YearlyTimeRule: Sendable, Equatable {
    /// A day of each year.
    private enum Day: Equatable {
        /// The day of the year, from 1, without 29 February.
        case withoutLeapDay(Int64)
        /// The day of the year, from 0.
        case ofYear(Int64)
        /// A weekday (0 is Sunday) in a week of a month; week 5 is the last.
        case weekday(month: Int64, week: Int64, day: Int64)
    }

    /// The change to an offset, by the clocks before it.
    private struct Change: Equatable {
        var day: Day
        var time: Int64
    }

    private var standard: Int64
    private var summer: (offset: Int64, begins: Change, ends: Change)?

    static func == (left: YearlyTimeRule, right: YearlyTimeRule) -> Bool {
        left.standard == right.standard && left.summer?.offset == right.summer?.offset
            && left.summer?.begins == right.summer?.begins && left.summer?.ends == right.summer?.ends
    }

    /// Reads a rule; `nil` if the text is not one.
    init?(_ text: String) {
        var input = Input(rest: text[...])
        // The numbers of hours count to the west.
        guard input.name(), let west = input.span() else { return nil }
        self.standard = -west
        guard !input.rest.isEmpty else { return }
        guard input.name() else { return nil }
        let offset = input.rest.first == "," ? self.standard + 3_600 : input.span().map { -$0 }
        guard let offset, input.take(","), let begins = input.change(), input.take(","), let ends = input.change(),
            input.rest.isEmpty
        else { return nil }
        self.summer = (offset, begins, ends)
    }

    /// Returns how far the zone is ahead of UTC at a time, s since 1970.
    func offset(at time: Int64) -> Int64 {
        guard let summer else { return self.standard }
        let year = Self.year(of: time + self.standard)
        let begins = Self.time(of: summer.begins, in: year) - self.standard
        let ends = Self.time(of: summer.ends, in: year) - summer.offset
        let isSummer = begins < ends ? begins <= time && time < ends : !(ends <= time && time < begins)
        return isSummer ? summer.offset : self.standard
    }

    private static func year(of time: Int64) -> Int64 {
        let day = time / 86_400 - (time % 86_400 < 0 ? 1 : 0)
        var year = 1970 + day * 400 / 146_097
        while day < UTCText.days(year: year, month: 1, day: 1) { year -= 1 }
        while day >= UTCText.days(year: year + 1, month: 1, day: 1) { year += 1 }
        return year
    }

    private static func time(of change: Change, in year: Int64) -> Int64 {
        let first = UTCText.days(year: year, month: 1, day: 1)
        let day: Int64
        switch change.day {
        case .ofYear(let place): day = first + place
        case .withoutLeapDay(let place):
            let isLeap = UTCText.days(year: year + 1, month: 1, day: 1) - first == 366
            day = first + place - (isLeap && place >= 60 ? 0 : 1)
        case .weekday(let month, let week, let weekday):
            let start = UTCText.days(year: year, month: month, day: 1)
            let end = UTCText.days(year: month == 12 ? year + 1 : year, month: month == 12 ? 1 : month + 1, day: 1)
            // 1970-01-01 was a Thursday.
            let startsOn = ((start + 4) % 7 + 7) % 7
            let found = start + (weekday - startsOn + 7) % 7 + (week - 1) * 7
            day = found >= end ? found - 7 : found
        }
        return day * 86_400 + change.time
    }

    /// The text that is still to be read.
    private struct Input {
        var rest: Substring

        mutating func take(_ character: Character) -> Bool {
            guard self.rest.first == character else { return false }
            self.rest.removeFirst()
            return true
        }

        /// Reads a name: letters, or `<+03>`.
        mutating func name() -> Bool {
            if self.take("<") {
                guard let end = self.rest.firstIndex(of: ">") else { return false }
                self.rest = self.rest[self.rest.index(after: end)...]
                return true
            }
            let length = self.rest.prefix { $0.isASCII && $0.isLetter }.count
            self.rest = self.rest.dropFirst(length)
            return length >= 3
        }

        mutating func number(_ range: ClosedRange<Int64>) -> Int64? {
            let digits = self.rest.prefix { $0.isASCII && $0.isNumber }
            guard digits.count <= 3, let number = Int64(digits), range.contains(number) else { return nil }
            self.rest = self.rest.dropFirst(digits.count)
            return number
        }

        /// Reads hours with a sign, minutes and seconds.
        mutating func span() -> Int64? {
            let isNegative = self.take("-")
            if !isNegative { _ = self.take("+") }
            guard var span = self.number(0...167).map({ $0 * 3_600 }) else { return nil }
            for unit in [60, 1] as [Int64] where self.take(":") {
                guard let number = self.number(0...59) else { return nil }
                span += number * unit
            }
            return isNegative ? -span : span
        }

        mutating func change() -> Change? {
            var day: Day?
            if self.take("J") {
                day = self.number(1...365).map { .withoutLeapDay($0) }
            } else if self.take("M") {
                guard let month = self.number(1...12), self.take("."), let week = self.number(1...5), self.take("."),
                    let weekday = self.number(0...6)
                else { return nil }
                day = .weekday(month: month, week: week, day: weekday)
            } else {
                day = self.number(0...365).map { .ofYear($0) }
            }
            guard let day else { return nil }
            guard self.take("/") else { return Change(day: day, time: 7_200) }
            return self.span().map { Change(day: day, time: $0) }
        }
    }
}
