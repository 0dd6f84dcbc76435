import Market
import NIOCore

/// One line of a recording.
enum RecordingLine {
    /// A frame, which was written to the caller's buffer.
    case frame(at: Int64, RecordedNumbers?)
    case gap(at: Int64, Gap)
    case header(RecordingHeader)
    case blank
    /// A JSON object with nothing in it that is known.
    case other
    case damaged(reason: String)

    /// Reads one line without its end.
    static func parse(_ line: UnsafeRawBufferPointer, frame: inout ByteBuffer) -> RecordingLine {
        var reader = JSONReader(line)
        if reader.isAtEnd() { return .blank }
        guard reader.take(UInt8(ascii: "{")) else { return .damaged(reason: "no JSON object") }
        var at: Int64?
        var text: JSONString?
        var gap: Gap?
        var header: RecordingHeader?
        var program: String?
        var start: Int64?
        var epoch: UInt64?
        var source: String?
        var first: UInt64?
        var count: UInt64?
        var leftOut: [Int] = []
        var symbols: [String] = []
        var isFirst = true
        members: while true {
            switch reader.nextMember(isFirst: &isFirst) {
            case .end: break members
            case .invalid: return .damaged(reason: "broken JSON object")
            case .key(let key):
                let kind = reader.kind()
                if key.equals("at"), kind == .number {
                    at = reader.integer()
                } else if key.equals("frame"), kind == .string {
                    text = reader.string()
                    if text == nil { return .damaged(reason: "broken string") }
                } else if key.equals("gap"), kind == .object {
                    gap = Self.gap(&reader)
                    if gap == nil { return .damaged(reason: "broken gap") }
                } else if key.equals("tickertape"), kind == .number {
                    header = reader.integer().flatMap { Int(exactly: $0) }.map { RecordingHeader(version: $0) }
                } else if key.equals("program"), kind == .string {
                    program = reader.string()?.text
                } else if key.equals("start"), kind == .number {
                    start = reader.integer()
                } else if key.equals("epoch"), kind == .number {
                    epoch = reader.natural()
                } else if key.equals("source"), kind == .string {
                    source = reader.string()?.text
                } else if key.equals("seq"), kind == .number {
                    first = reader.natural()
                } else if key.equals("trades"), kind == .number {
                    count = reader.natural()
                } else if key.equals("leftOut"), kind == .array {
                    guard let places = reader.places() else { return .damaged(reason: "broken list") }
                    leftOut = places
                } else if key.equals("symbols"), kind == .array {
                    guard let names = reader.strings(atMost: 4_096) else { return .damaged(reason: "broken list") }
                    symbols = names
                } else {
                    guard reader.skipValue() else { return .damaged(reason: "broken JSON value") }
                }
            }
        }
        guard reader.isAtEnd() else { return .damaged(reason: "bytes behind the JSON object") }
        if var header {
            header.program = program
            header.start = start
            header.symbols = symbols
            header.epoch = epoch
            header.source = source
            return .header(header)
        }
        if text == nil, let gap {
            guard let at, at >= 0 else { return .damaged(reason: "a gap without its time") }
            return .gap(at: at, gap)
        }
        guard let text else { return .other }
        guard let at, at >= 0 else { return .damaged(reason: "a frame without its time") }
        frame.clear(minimumCapacity: text.raw.count)
        frame.writeWithUnsafeMutableBytes(minimumWritableBytes: text.raw.count) {
            JSONString.unescape(text.raw, into: $0)
        }
        let numbers = first.flatMap { first in
            // What no program counts up to is no number of a trade.
            count.flatMap { Int32(exactly: $0) }.flatMap { count in
                first < 1 << 62 ? RecordedNumbers(first: first, count: Int(count), leftOut: leftOut) : nil
            }
        }
        return .frame(at: at, numbers)
    }

    /// Reads the object behind `gap`; keys that are not known are skipped.
    private static func gap(_ reader: inout JSONReader) -> Gap? {
        guard reader.take(UInt8(ascii: "{")) else { return nil }
        var gap = Gap(from: 0, to: 0, reason: "", nextSequence: 0)
        var isFirst = true
        while true {
            switch reader.nextMember(isFirst: &isFirst) {
            case .end: return gap
            case .invalid: return nil
            case .key(let key):
                let kind = reader.kind()
                if key.equals("reason"), kind == .string {
                    guard let reason = reader.string() else { return nil }
                    gap.reason = reason.text
                } else if key.equals("symbol"), kind == .string {
                    guard let symbol = reader.string() else { return nil }
                    gap.symbol = symbol.text
                } else if key.equals("from"), kind == .number, let from = reader.integer() {
                    gap.from = from
                } else if key.equals("to"), kind == .number, let to = reader.integer() {
                    gap.to = to
                } else if key.equals("nextSeq"), kind == .number, let number = reader.natural() {
                    gap.nextSequence = number
                } else if key.equals("epoch"), kind == .number, let number = reader.natural() {
                    gap.epoch = number
                } else if key.equals("overlap"), kind == .number, let number = reader.natural() {
                    gap.overlap = Int(exactly: number)
                } else {
                    guard reader.skipValue() else { return nil }
                }
            }
        }
    }
}

extension JSONReader {
    /// Reads a number of zero or more.
    fileprivate mutating func natural() -> UInt64? { self.integer().flatMap { UInt64(exactly: $0) } }

    /// Reads a list of places in another list, each behind the one before it; `nil` when it is anything else.
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
