import Market
import NIOCore

/// One line of a recording, taken apart.
struct RecordingLine {
    enum Content {
        /// A frame of the service, which was written to the caller's buffer.
        case frame(RecordedNumbers?, FrameDialect)
        case gap(Gap, dropped: UInt64?)
        case note(RecordedNote)
        case header(RecordingHeader)
        case blank
        /// A JSON object with nothing in it that is known.
        case other
        case damaged(reason: String)
    }

    var number: UInt64?
    /// Wall clock, µs since 1970.
    var wall: Int64?
    /// ns since the file's beginning.
    var at: Int64?
    /// The length and the checksum of a text that was not wanted.
    var textChecksum: UInt64?
    var content: Content

    private init(_ content: Content) { self.content = content }

    private static func damaged(_ reason: String) -> RecordingLine { RecordingLine(.damaged(reason: reason)) }

    /// Reads one line without its end.
    ///
    /// - Parameters:
    ///   - isSealed: whether a line without a checksum is damaged, as behind a header; in the plain form none has one.
    ///   - wantsText: whether a frame's text is written to `frame`; if not, only its checksum is given where that is quicker.
    static func parse(
        _ line: UnsafeRawBufferPointer,
        isSealed: Bool,
        wantsText: Bool,
        frame: inout ByteBuffer
    ) -> RecordingLine {
        switch LineSeal.judge(line) {
        case .intact:
            if let usual = FrameTemplate(line) {
                var result = RecordingLine(.frame(usual.numbers, usual.dialect))
                if wantsText {
                    usual.write(to: &frame)
                } else {
                    frame.clear()
                    result.textChecksum = UInt64(usual.text.count) << 32 | UInt64(Checksum32C.of(usual.text))
                }
                result.number = usual.number
                result.wall = usual.wall
                result.at = usual.at
                return result
            }
        case .broken: return self.damaged("the checksum is wrong")
        case .none:
            var reader = JSONReader(line)
            if reader.isAtEnd() { return RecordingLine(.blank) }
            guard !isSealed, !FrameTemplate.isNumbered(line) else { return self.damaged("no checksum") }
            let result = self.parseGenerally(line, frame: &frame)
            // Before the file's first line it is not known whether lines have checksums; a header says so itself.
            if case .header(let header) = result.content, header.version >= RecordingHeader.currentVersion {
                return self.damaged("no checksum")
            }
            return result
        }
        return self.parseGenerally(line, frame: &frame)
    }

    private static func parseGenerally(_ line: UnsafeRawBufferPointer, frame: inout ByteBuffer) -> RecordingLine {
        var reader = JSONReader(line)
        guard case .object = reader.kind() else { return self.damaged("no JSON object") }
        var members = LineMembers()
        var reason: String?
        let isWhole = reader.object { key, reader in
            reason = members.take(key, &reader)
            return reason == nil
        }
        guard isWhole else { return self.damaged(reason ?? "broken JSON object") }
        guard reader.isAtEnd() else { return self.damaged("bytes behind the JSON object") }
        var result = RecordingLine(members.content(&frame))
        result.number = members.number
        result.wall = members.wall
        result.at = members.at
        return result
    }
}
