package import Market
package import NIOCore

/// The writer of a recording's lines (docs/recording-format.md).
///
/// No number exceeds 2^53, so that every JSON reader has it exactly: wall clocks are in µs, the monotonic clock counts
/// from the file's beginning, and possibly larger values are strings of digits.
package enum RecordingSyntax {
    /// The number and the times of an event.
    package struct Stamp: Sendable, Equatable {
        package var number: UInt64
        /// Wall clock, ns since 1970.
        package var wall: Int64
        /// Monotonic clock, ns since the file's beginning.
        package var at: Int64

        package init(number: UInt64, wall: Int64, at: Int64) {
            self.number = number
            self.wall = wall
            self.at = at
        }
    }

    /// The beginning of a header.
    package static let headerStart: StaticString = "{\"tickertape\":"

    /// Writes the header, which must be a file's first line.
    package static func header(_ header: RecordingHeader, into buffer: inout ByteBuffer) {
        let start = buffer.writerIndex
        buffer.writeStaticString(Self.headerStart)
        JSONText.write(max(header.version, RecordingHeader.currentVersion), into: &buffer)
        Self.text("program", header.program, into: &buffer)
        buffer.writeStaticString(",\"symbols\":[")
        for (index, symbol) in header.symbols.enumerated() {
            if index > 0 { buffer.writeStaticString(",") }
            JSONText.escape(symbol, into: &buffer)
        }
        buffer.writeStaticString("]")
        Self.text("address", header.address, into: &buffer)
        Self.text("source", header.source, into: &buffer)
        Self.number("epoch", header.epoch, into: &buffer)
        Self.number("run", header.writerRun, into: &buffer)
        Self.number("wall", header.start.map(Self.microseconds), into: &buffer)
        Self.text("monotonic", header.monotonic.map { "\($0)" }, into: &buffer)
        Self.number("segment", header.segment, into: &buffer)
        Self.text("previous", header.previous, into: &buffer)
        Self.number("first", header.first, into: &buffer)
        LineSeal.write(into: &buffer, from: start)
    }

    /// Writes a frame of the service, with its dialect unless that is Finnhub's.
    package static func frame(
        _ frame: ByteBuffer,
        of dialect: FrameDialect = .finnhub,
        _ stamp: Stamp,
        numbers: RecordedNumbers? = nil,
        into buffer: inout ByteBuffer
    ) {
        let start = Self.begin(stamp, into: &buffer)
        let hasAll = numbers.map { !$0.hasPlaces } ?? true
        LineWriter.write(into: &buffer, atMost: 160) { pen in
            pen.write(",\"dir\":\"in\"")
            if dialect != .finnhub {
                pen.write(",\"dialect\":\"")
                pen.write(dialect.name)
                pen.write("\"")
            }
            if let numbers {
                pen.write(",\"seq\":")
                pen.write(numbers.first)
                pen.write(",\"trades\":")
                pen.write(Int64(numbers.count))
            }
            if hasAll { pen.write(",\"frame\":") }
        }
        if let numbers, !hasAll {
            Self.places("leftOut", numbers.leftOut, into: &buffer)
            Self.places("possibleRepeats", numbers.possibleRepeats, into: &buffer)
            Self.places("ahead", numbers.ahead, into: &buffer)
            Self.places("filled", numbers.filled, into: &buffer)
            buffer.writeStaticString(",\"frame\":")
        }
        frame.withUnsafeReadableBytes { JSONText.escape($0, into: &buffer) }
        LineSeal.write(into: &buffer, from: start)
    }

    /// Writes a frame's line of the plain form, `{"at":<ns>,"frame":"<text>"}`.
    ///
    /// - Parameter at: the time of its arrival, ns since the recording's start.
    package static func plainFrame(_ frame: ByteBuffer, at: Int64, into buffer: inout ByteBuffer) {
        buffer.writeStaticString("{\"at\":")
        JSONText.write(at, into: &buffer)
        Self.frame(frame, into: &buffer)
        buffer.writeStaticString("}\n")
    }

    /// Writes a gap of the feed, or with `dropped` the number of frames missing in the file.
    package static func gap(_ gap: Gap, dropped: UInt64? = nil, _ stamp: Stamp, into buffer: inout ByteBuffer) {
        let start = Self.begin(stamp, into: &buffer)
        if let dropped {
            buffer.writeStaticString(",\"event\":\"dropped\"")
            Self.number("frames", dropped, into: &buffer)
        } else {
            buffer.writeStaticString(",\"event\":\"gap\"")
        }
        Self.number("from", Self.microseconds(gap.from), into: &buffer)
        Self.number("to", Self.microseconds(gap.to), into: &buffer)
        Self.text("reason", gap.reason, into: &buffer)
        Self.number("nextSeq", gap.nextSequence, into: &buffer)
        Self.number("epoch", gap.epoch, into: &buffer)
        Self.number("overlap", gap.overlap, into: &buffer)
        Self.number("overlapLeast", gap.overlapBounds?.least, into: &buffer)
        Self.number("overlapMost", gap.overlapBounds?.most, into: &buffer)
        Self.text("symbol", gap.symbol, into: &buffer)
        Self.missing(gap.missing, into: &buffer)
        LineSeal.write(into: &buffer, from: start)
    }

    /// Writes a note.
    package static func note(_ note: RecordedNote, _ stamp: Stamp, into buffer: inout ByteBuffer) {
        let start = Self.begin(stamp, into: &buffer)
        Self.text("dir", note.direction?.rawValue, into: &buffer)
        Self.text("event", note.kind.rawValue, into: &buffer)
        Self.text(note.kind.wordKey, note.word, into: &buffer)
        Self.text("symbol", note.symbol, into: &buffer)
        Self.number("code", note.code, into: &buffer)
        Self.number("frames", note.frames, into: &buffer)
        Self.number("from", note.from.map(Self.microseconds), into: &buffer)
        Self.number("to", note.to.map(Self.microseconds), into: &buffer)
        Self.number("stops", note.stops?.count, into: &buffer)
        Self.number("traded", note.stops?.lastTrade, into: &buffer)
        Self.number("latest", note.wallClocks?.latest, into: &buffer)
        Self.number("back", note.wallClocks?.back, into: &buffer)
        Self.number("offset", note.offset, into: &buffer)
        Self.text("reason", note.reason, into: &buffer)
        Self.text("cause", note.cause, into: &buffer)
        Self.missing(note.missing, into: &buffer)
        Self.lost(note.lost, into: &buffer)
        if let frame = note.frame { Self.frame(frame, into: &buffer) }
        if let hour = note.hour {
            Self.key("hour", into: &buffer)
            buffer.writeImmutableBuffer(JSONWriter.object { $0.fields(of: hour, start: Self.microseconds(hour.start)) })
        }
        LineSeal.write(into: &buffer, from: start)
    }

    /// Converts nanoseconds to microseconds, rounded down, also before 1970.
    package static func microseconds(_ nanoseconds: Int64) -> Int64 {
        nanoseconds / 1_000 - (nanoseconds % 1_000 < 0 ? 1 : 0)
    }

    private static func begin(_ stamp: Stamp, into buffer: inout ByteBuffer) -> Int {
        let start = buffer.writerIndex
        LineWriter.write(into: &buffer, atMost: 96) { pen in
            pen.write("{\"n\":")
            pen.write(stamp.number)
            pen.write(",\"wall\":")
            pen.write(Self.microseconds(stamp.wall))
            pen.write(",\"mono\":")
            pen.write(stamp.at)
        }
        return start
    }

    private static func frame(_ frame: ByteBuffer, into buffer: inout ByteBuffer) {
        buffer.writeStaticString(",\"frame\":")
        frame.withUnsafeReadableBytes { JSONText.escape($0, into: &buffer) }
    }

    private static func text(_ key: StaticString, _ value: String?, into buffer: inout ByteBuffer) {
        guard let value else { return }
        Self.key(key, into: &buffer)
        JSONText.escape(value, into: &buffer)
    }

    private static func missing(_ ids: ClosedRange<UInt64>?, into buffer: inout ByteBuffer) {
        Self.text("missingFirst", ids.map { "\($0.lowerBound)" }, into: &buffer)
        Self.text("missingLast", ids.map { "\($0.upperBound)" }, into: &buffer)
    }

    /// Writes ranges of ids, such as `["2-4","9-9"]`; nothing for an empty list.
    private static func lost(_ ranges: [ClosedRange<UInt64>], into buffer: inout ByteBuffer) {
        guard !ranges.isEmpty else { return }
        Self.key("lost", into: &buffer)
        let texts = ranges.map { "\"\($0.lowerBound)-\($0.upperBound)\"" }
        buffer.writeString("[\(texts.joined(separator: ","))]")
    }

    private static func number(_ key: StaticString, _ value: (some FixedWidthInteger)?, into buffer: inout ByteBuffer) {
        guard let value else { return }
        Self.key(key, into: &buffer)
        JSONText.write(value, into: &buffer)
    }

    /// Writes the indices of trades in a frame's text; nothing for an empty list.
    private static func places(_ key: StaticString, _ places: [Int], into buffer: inout ByteBuffer) {
        guard !places.isEmpty else { return }
        Self.key(key, into: &buffer)
        buffer.writeStaticString("[")
        for (index, place) in places.enumerated() {
            if index > 0 { buffer.writeStaticString(",") }
            JSONText.write(place, into: &buffer)
        }
        buffer.writeStaticString("]")
    }

    private static func key(_ key: StaticString, into buffer: inout ByteBuffer) {
        buffer.writeStaticString(",\"")
        buffer.writeStaticString(key)
        buffer.writeStaticString("\":")
    }
}

extension RecordedNote.Kind {
    /// The key of ``RecordedNote/word``.
    var wordKey: StaticString {
        switch self {
        case .hour: "word"
        case .connect: "address"
        case .state: "state"
        case .end: "next"
        case .subscribe, .unsubscribe, .request, .ping, .pong, .disconnect, .unsynced, .settled, .mark: "word"
        }
    }
}
