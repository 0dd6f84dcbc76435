import Market
import NIOCore

extension RecordedLine {
    /// Reads one line without its end; `nil` where it is blank. Its place in the file, and a header's version, are the caller's.
    ///
    /// - Parameters:
    ///   - isSealed: whether a line without a checksum is damaged, as behind a header; in the plain form none has one.
    ///   - wantsText: whether a frame's text is written to `frame`; if not, only its checksum is given where that is quicker.
    ///   - frame: the storage of a frame's text.
    static func parse(
        _ line: UnsafeRawBufferPointer,
        isSealed: Bool,
        wantsText: Bool,
        frame: inout ByteBuffer
    ) -> RecordedLine? {
        switch LineSeal.judge(line) {
        case .intact:
            if let usual = FrameTemplate(line) {
                var checksum: UInt64?
                if wantsText {
                    usual.write(to: &frame)
                } else {
                    frame.clear()
                    checksum = UInt64(usual.text.count) << 32 | UInt64(Checksum32C.of(usual.text))
                }
                return RecordedLine(
                    number: usual.number,
                    wall: usual.wall,
                    at: usual.at,
                    textChecksum: checksum,
                    content: .frame(frame, usual.numbers, usual.dialect)
                )
            }
        case .broken: return RecordedLine(content: .damaged(reason: "the checksum is wrong"))
        case .none:
            var reader = JSONReader(line)
            if reader.isAtEnd() { return nil }
            guard !isSealed, !FrameTemplate.isNumbered(line) else {
                return RecordedLine(content: .damaged(reason: "no checksum"))
            }
            let result = self.parseGenerally(line, frame: &frame)
            // Before the file's first line it is not known whether lines have checksums; a header says so itself.
            if case .header(let header) = result.content, header.version >= RecordingHeader.currentVersion {
                return RecordedLine(content: .damaged(reason: "no checksum"))
            }
            return result
        }
        return self.parseGenerally(line, frame: &frame)
    }

    private static func parseGenerally(_ line: UnsafeRawBufferPointer, frame: inout ByteBuffer) -> RecordedLine {
        var reader = JSONReader(line)
        guard case .object = reader.kind() else { return RecordedLine(content: .damaged(reason: "no JSON object")) }
        var members = LineMembers()
        var reason: String?
        let isWhole = reader.object { key, reader in
            reason = members.take(key, &reader)
            return reason == nil
        }
        guard isWhole else { return RecordedLine(content: .damaged(reason: reason ?? "broken JSON object")) }
        guard reader.isAtEnd() else {
            return RecordedLine(content: .damaged(reason: "bytes behind the JSON object"))
        }
        let content = members.content(&frame)
        return RecordedLine(number: members.number, wall: members.wall, at: members.at, content: content)
    }
}
