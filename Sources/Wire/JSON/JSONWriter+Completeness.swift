package import Market

extension JSONWriter {
    /// Writes the members of an hour. Ids are strings.
    ///
    /// - Parameter start: its beginning since 1970, in the unit of the object's other times.
    package mutating func fields(of hour: CompletenessHour, start: Int64) {
        self.field("symbol", hour.symbol)
        self.field("hour", start)
        self.field("first", hour.first.map { "\($0)" })
        self.field("last", hour.last.map { "\($0)" })
        self.field("count", hour.count)
        self.field("missing", hour.missing)
        self.field("repeated", hour.repeated)
        self.field("filled", hour.filled)
        self.field("whole", hour.isWhole)
        self.field("sha256", hour.sha256)
        self.field("reason", hour.reason)
    }
}
