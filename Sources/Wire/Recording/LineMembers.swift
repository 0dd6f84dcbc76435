import Market
import NIOCore

/// The known members of a line's object.
struct LineMembers {
    /// Whether the line is of the plain form, whose frames do not name their dialect.
    let isPlain: Bool
    var number: UInt64?
    var wall: Int64?
    var at: Int64?
    private var text: JSONString?
    private var dialect: String?
    private var version: Int?
    private var numbers = (
        first: UInt64?.none, count: UInt64?.none, leftOut: [Int](), possibleRepeats: [Int](), ahead: [Int](),
        filled: [Int]()
    )
    private var event: String?
    private var isOutgoing = false
    private var note = RecordedNote(.state)
    private var from: Int64?
    private var to: Int64?
    private var dropped: UInt64?
    private var nextSequence: UInt64?
    private var epoch: UInt64?
    private var overlap: Int?
    private var overlapBounds = OverlapNumbers()
    private var missing = (first: UInt64?.none, last: UInt64?.none)
    private var lost: [String] = []
    private var stops: UInt64?
    private var traded: Int64?
    private var latest: Int64?
    private var back: Int64?
    private var offset: Int64?
    private var details = RecordingHeader()

    init(isPlain: Bool) { self.isPlain = isPlain }

    /// Takes the member whose key was read; returns a description of the error, if any.
    mutating func take(_ key: JSONString, _ reader: inout JSONReader) -> String? {
        switch reader.kind() {
        case .string:
            guard let value = reader.string() else { return "broken string" }
            self.take(key, value)
        case .number: self.takeNumber(key, &reader)
        case .array where key.equals("leftOut"):
            guard let places = reader.places() else { return "broken list" }
            self.numbers.leftOut = places
        case .array where key.equals("possibleRepeats"):
            guard let places = reader.places() else { return "broken list" }
            self.numbers.possibleRepeats = places
        case .array where key.equals("ahead"):
            guard let places = reader.places() else { return "broken list" }
            self.numbers.ahead = places
        case .array where key.equals("filled"):
            guard let places = reader.places() else { return "broken list" }
            self.numbers.filled = places
        case .array where key.equals("lost"):
            guard let ids = reader.strings(atMost: RecordedNote.maximumLost) else { return "broken list" }
            self.lost = ids
        case .array where key.equals("symbols"):
            guard let names = reader.strings(atMost: 4_096) else { return "broken list" }
            self.details.symbols = names
        case .object where key.equals("hour"):
            let value = reader
            guard reader.skipValue() else { return "broken JSON value" }
            var whole = value
            self.note.hour = CompletenessHour(&whole)
        case .object, .array, .literal, .invalid: guard reader.skipValue() else { return "broken JSON value" }
        }
        return nil
    }

    private mutating func take(_ key: JSONString, _ value: JSONString) {
        if key.equals("frame") {
            self.text = value
        } else if key.equals("dialect") {
            self.dialect = value.text
        } else if key.equals("event") {
            self.event = value.text
        } else if key.equals("dir") {
            self.note.direction = ConnectionEvent.Direction(rawValue: value.text)
            self.isOutgoing = value.equals("out")
        } else if key.equals("reason") {
            self.note.reason = value.text
        } else if key.equals("cause") {
            self.note.cause = value.text
        } else if key.equals("symbol") {
            self.note.symbol = value.text
        } else if key.equals("state") || key.equals("next") || key.equals("word") {
            self.note.word = value.text
        } else if key.equals("address") {
            self.note.word = value.text
            self.details.address = value.text
        } else if key.equals("program") {
            self.details.program = value.text
        } else if key.equals("source") {
            self.details.source = value.text
        } else if key.equals("monotonic") {
            self.details.monotonic = Int64(value.text)
        } else if key.equals("previous") {
            self.details.previous = value.text
        } else if key.equals("missingFirst") {
            self.missing.first = TradeID.parse(value.text)
        } else if key.equals("missingLast") {
            self.missing.last = TradeID.parse(value.text)
        }
    }

    private mutating func takeNumber(_ key: JSONString, _ reader: inout JSONReader) {
        guard let value = reader.integer() else { return }
        if key.equals("at") || key.equals("mono") {
            self.at = value
        } else if key.equals("n") {
            self.number = UInt64(exactly: value)
        } else if key.equals("wall") {
            self.wall = value
        } else if key.equals("seq") {
            self.numbers.first = UInt64(exactly: value)
        } else if key.equals("trades") {
            self.numbers.count = UInt64(exactly: value)
        } else if key.equals("from") {
            self.from = value
        } else if key.equals("to") {
            self.to = value
        } else if key.equals("frames") {
            self.dropped = UInt64(exactly: value)
        } else if key.equals("nextSeq") {
            self.nextSequence = UInt64(exactly: value)
        } else if key.equals("epoch") {
            self.epoch = UInt64(exactly: value)
        } else if key.equals("run") {
            self.details.writerRun = UInt64(exactly: value)
        } else if key.equals("overlap") {
            self.overlap = Int(exactly: value).flatMap { $0 >= 0 ? $0 : nil }
        } else if self.overlapBounds.take(key, value) {
            return
        } else if key.equals("stops") {
            self.stops = UInt64(exactly: value)
        } else if key.equals("traded") {
            self.traded = value
        } else if key.equals("latest") {
            self.latest = value
        } else if key.equals("back") {
            self.back = value
        } else if key.equals("offset") {
            self.offset = value
        } else if key.equals("code") {
            self.note.code = UInt16(exactly: value)
        } else if key.equals("tickertape") {
            self.version = Int(exactly: value)
        } else if key.equals("segment") {
            self.details.segment = Int(exactly: value)
        } else if key.equals("first") {
            self.details.first = UInt64(exactly: value)
        }
    }

    /// Returns the line's content, as its members imply it.
    mutating func content(_ frame: inout ByteBuffer) -> RecordedLine.Content {
        if let version {
            self.details.version = version
            self.details.epoch = self.epoch
            self.details.start = self.wall.flatMap(Self.nanoseconds)
            self.wall = nil
            return .header(self.details)
        }
        if let event { return self.content(of: event) }
        guard let text else { return .unknown }
        guard let at, at >= 0 else { return .damaged(reason: "a frame without its time") }
        guard !self.isOutgoing else {
            self.note.kind = .request
            self.note.frame = text.buffer
            return .note(self.note)
        }
        guard let named = self.dialect.map({ FrameDialect(name: $0) }) ?? .finnhub else {
            return .damaged(
                reason: "a frame of a dialect that this program does not know: a newer tickertape is needed"
            )
        }
        frame.clear(minimumCapacity: text.raw.count)
        frame.writeWithUnsafeMutableBytes(minimumWritableBytes: text.raw.count) {
            JSONString.unescape(text.raw, into: $0)
        }
        let dialect = self.isPlain && self.dialect == nil ? FrameDialect.recognised(in: frame) ?? named : named
        return .frame(frame, RecordedNumbers(self.numbers), dialect)
    }

    private func content(of event: String) -> RecordedLine.Content {
        if event == "gap" || event == "dropped" {
            guard let at, at >= 0, let from = self.from.flatMap(Self.nanoseconds),
                let to = self.to.flatMap(Self.nanoseconds)
            else { return .damaged(reason: "a gap without its times") }
            let gap = Gap(
                from: from,
                to: to,
                reason: self.note.reason ?? "",
                nextSequence: self.nextSequence ?? 0,
                epoch: self.epoch ?? 0,
                overlap: self.overlap,
                overlapBounds: self.overlapBounds.bounds,
                symbol: self.note.symbol,
                missing: TradeID.range(first: self.missing.first, last: self.missing.last)
            )
            return .gap(gap, dropped: event == "dropped" ? self.dropped ?? 0 : nil)
        }
        guard let kind = RecordedNote.Kind(rawValue: event), let at, at >= 0 else { return .unknown }
        var note = self.note
        note.kind = kind
        note.frame = self.text?.buffer
        if kind == .hour, note.hour == nil { return .damaged(reason: "an hour without its members") }
        if kind == .mark {
            note.stops = self.stops.map { GapMarkers(count: $0, lastTrade: self.traded) }
            if let latest, let back, back >= 0 { note.wallClocks = WallClockMarks(latest: latest, back: back) }
            note.offset = self.offset
        }
        if kind == .unsynced || kind == .settled {
            note.frames = self.dropped
            note.from = self.from.flatMap(Self.nanoseconds)
            note.to = self.to.flatMap(Self.nanoseconds)
        }
        if kind == .settled {
            note.missing = TradeID.range(first: self.missing.first, last: self.missing.last)
            guard note.missing != nil || self.missing == (nil, nil),
                let lost = RecordedNote.lost(self.lost, among: note.missing)
            else {
                return .damaged(reason: "an outcome without its ids")
            }
            note.lost = lost
            guard note.outcome != nil else { return .damaged(reason: "an outcome without its symbol or its times") }
        }
        return .note(note)
    }

    private static func nanoseconds(_ microseconds: Int64) -> Int64? {
        let (product, isOut) = microseconds.multipliedReportingOverflow(by: 1_000)
        return isOut ? nil : product
    }
}

/// The members with the bounds of the overlap behind a gap, used by every format that writes a gap as a flat object.
struct OverlapNumbers {
    private var least: Int?
    private var most: Int?

    /// Takes a member of an object; returns whether it is one of these.
    mutating func take(_ key: JSONString, _ value: Int64) -> Bool {
        if key.equals("overlapLeast") {
            self.least = Int(exactly: value)
        } else if key.equals("overlapMost") {
            self.most = Int(exactly: value)
        } else {
            return false
        }
        return true
    }

    /// The bounds; `nil` where one is missing, or they contradict each other.
    var bounds: OverlapBounds? {
        guard let least, let most, least >= 0, least <= most else { return nil }
        return OverlapBounds(least: least, most: most)
    }
}

extension RecordedNumbers {
    fileprivate init?(
        _ read: (
            first: UInt64?, count: UInt64?, leftOut: [Int], possibleRepeats: [Int], ahead: [Int], filled: [Int]
        )
    ) {
        // Beyond this limit, it cannot be a number that a program assigned.
        guard let first = read.first, first < 1 << 62, let count = read.count.flatMap({ Int32(exactly: $0) }) else {
            return nil
        }
        self.init(
            first: first,
            count: Int(count),
            leftOut: read.leftOut,
            possibleRepeats: read.possibleRepeats,
            ahead: read.ahead,
            filled: read.filled
        )
    }
}

extension JSONString {
    /// The string's bytes, unescaped, in a new buffer.
    fileprivate var buffer: ByteBuffer { self.withUnescaped { ByteBuffer(bytes: $0) } }
}

extension JSONReader {
    /// Reads a number of zero or more.
    fileprivate mutating func natural() -> UInt64? { self.integer().flatMap { UInt64(exactly: $0) } }

    /// Reads a list of indices in strictly ascending order; `nil` where it is anything else.
    fileprivate mutating func places() -> [Int]? {
        guard self.take(UInt8(ascii: "[")) else { return nil }
        if self.take(UInt8(ascii: "]")) { return [] }
        var places: [Int] = []
        repeat {
            guard let place = self.natural().flatMap({ Int32(exactly: $0) }), Int(place) > places.last ?? -1 else {
                return nil
            }
            places.append(Int(place))
        } while self.take(UInt8(ascii: ","))
        return self.take(UInt8(ascii: "]")) ? places : nil
    }
}
