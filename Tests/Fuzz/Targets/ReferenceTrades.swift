import Market
import Wire

/// The trades in an answer of a venue's REST service, read from a ``JSONTree`` by the words of the venue's documentation.
struct ReferenceTrades: Equatable {
    struct Entry: Equatable {
        var id: UInt64
        var time: Int64
        var price: ExactDecimal
        var size: ExactDecimal
    }

    var entries: [Entry] = []
    var skipped = 0

    /// - Returns: `nil` for what is no list of trades.
    init?(_ tree: JSONTree, of venue: Venue) {
        guard let rows = Self.rows(of: tree, venue) else { return nil }
        var all: [Entry] = []
        for (place, row) in rows.enumerated() {
            if place < VenueTradesRequest.maximumCount, let entry = Self.entry(row, venue) {
                all.append(entry)
            } else {
                self.skipped += 1
            }
        }
        // In the order of the ids, of each id the first.
        for (_, entry) in all.enumerated().sorted(by: { ($0.element.id, $0.offset) < ($1.element.id, $1.offset) })
        where self.entries.last?.id != entry.id { self.entries.append(entry) }
    }

    private static func rows(of tree: JSONTree, _ venue: Venue) -> [JSONTree]? {
        guard venue == .kraken else {
            if case .array(let rows) = tree { return rows }
            return nil
        }
        guard case .object(let members) = tree else { return nil }
        var lists: [[JSONTree]] = []
        for member in members {
            switch (member.key, member.value) {
            case ("error", .array(let errors)):
                let isWarning = errors.allSatisfy { error in
                    if case .string(let text) = error { text.hasPrefix("W") } else { false }
                }
                guard isWarning else { return nil }
            case ("result", .object(let pairs)):
                for pair in pairs where pair.key != "last" {
                    if case .array(let rows) = pair.value { lists.append(rows) }
                }
            default: break
            }
        }
        return lists.count == 1 ? lists[0] : nil
    }

    private static func entry(_ row: JSONTree, _ venue: Venue) -> Entry? {
        let fields: (id: JSONTree?, time: Int64?, price: JSONTree?, size: JSONTree?)
        switch venue {
        case .binance:
            guard case .object = row else { return nil }
            fields = (row["id"], row["time"].flatMap(self.milliseconds), row["price"], row["qty"])
        case .coinbase:
            guard case .object = row else { return nil }
            fields = (row["trade_id"], row["time"].flatMap(self.stamp), row["price"], row["size"])
        case .kraken:
            guard case .array(let columns) = row, columns.count > 6 else { return nil }
            fields = (columns[6], self.seconds(columns[2]), columns[0], columns[1])
        }
        guard let id = fields.id.flatMap(self.id), let time = fields.time,
            let price = fields.price.flatMap(self.quoted), price > .zero, self.isBelow(price, decimals: 30),
            let size = fields.size.flatMap(self.quoted), size > .zero, self.isBelow(size, decimals: 18)
        else { return nil }
        return Entry(id: id, time: time, price: price, size: size)
    }

    private static func quoted(_ value: JSONTree) -> ExactDecimal? {
        guard case .string(let text) = value else { return nil }
        return ReferenceNumber(text)?.decimal
    }

    /// Whether a number is below 10^18 and has at most this many decimals.
    private static func isBelow(_ number: ExactDecimal, decimals: Int) -> Bool {
        let digits = String(number.significand.magnitude).count
        return digits + Int(number.exponent) <= 18 && Int(number.exponent) >= -decimals
    }

    /// Ids are whole numbers; one above 18 digits is written with digits alone. The largest number stands for no id.
    private static func id(_ value: JSONTree) -> UInt64? {
        guard case .number(let text) = value, let number = ReferenceNumber(text) else { return nil }
        if number.decimal != nil { return number.whole().flatMap { UInt64(exactly: $0) } }
        return UInt64(text).flatMap { $0 == .max ? nil : $0 }
    }

    // MARK: Times, ns since 1970

    private static func milliseconds(_ value: JSONTree) -> Int64? {
        guard case .number(let text) = value, let number = self.integer(text), number > 0 else { return nil }
        let (time, isOut) = number.multipliedReportingOverflow(by: number < 1_000_000_000_000_000 ? 1_000_000 : 1_000)
        return isOut ? nil : time
    }

    private static func integer(_ text: String) -> Int64? {
        guard let number = ReferenceNumber(text) else { return nil }
        return number.decimal != nil ? number.whole() : Int64(text)
    }

    /// Seconds with a fraction, of which nine digits count.
    private static func seconds(_ value: JSONTree) -> Int64? {
        guard case .number(let text) = value else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let isPlain = text.allSatisfy { $0.isNumber || $0 == "." }
        guard isPlain, parts.count == 2, parts[0].count <= 10 else {
            return ReferenceNumber(text)?.whole(times: 9).flatMap { $0 > 0 ? $0 : nil }
        }
        let fraction = parts[1].prefix(9) + String(repeating: "0", count: max(0, 9 - parts[1].count))
        return Int64("\(parts[0])\(fraction)").flatMap { $0 > 0 ? $0 : nil }
    }

    /// RFC 3339 in UTC, with at most nine decimals.
    private static func stamp(_ value: JSONTree) -> Int64? {
        guard case .string(let text) = value, text.utf8.count >= 20, text.utf8.allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        let bytes = Array(text.utf8)
        let form = Array("0000-00-00T00:00:00".utf8)
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        for (byte, wanted) in zip(bytes, form) where wanted == UInt8(ascii: "0") ? !isDigit(byte) : byte != wanted {
            return nil
        }
        guard bytes.last == UInt8(ascii: "Z") else { return nil }
        var fraction = bytes[19..<(bytes.count - 1)]
        if let point = fraction.popFirst() {
            guard point == UInt8(ascii: "."), (1...9).contains(fraction.count), fraction.allSatisfy(isDigit) else {
                return nil
            }
        }
        func number(_ range: Range<Int>) -> Int64 { Int64(String(decoding: bytes[range], as: UTF8.self)) ?? 0 }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        guard year >= 1_970, (1...12).contains(month), day >= 1, day <= self.days(of: month, year),
            number(11..<13) < 24, number(14..<16) < 60, number(17..<19) < 60
        else { return nil }
        var days = day - 1
        for earlier in 1_970..<year { days += self.isLeap(earlier) ? 366 : 365 }
        for earlier in 1..<month { days += self.days(of: earlier, year) }
        let seconds = days * 86_400 + number(11..<13) * 3_600 + number(14..<16) * 60 + number(17..<19)
        let part = String(decoding: fraction, as: UTF8.self)
        let digits = part + String(repeating: "0", count: 9 - part.count)
        return Int64("\(seconds)\(digits)").flatMap { $0 > 0 ? $0 : nil }
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func days(of month: Int64, _ year: Int64) -> Int64 {
        month == 2 ? (self.isLeap(year) ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }
}
