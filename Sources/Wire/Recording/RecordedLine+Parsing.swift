import Market
import NIOCore

extension RecordedLine {
    /// Parses one line without its newline; `nil` where it is blank. The caller sets its place and checks a header's
    /// version.
    ///
    /// - Parameters:
    ///   - isSealed: whether a line without a checksum is damaged, as after a header; lines of the plain form have
    ///     none.
    ///   - wantsText: whether a frame's text is written to `frame`; if not, only its checksum is returned where that is
    ///     faster.
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
            let result = self.parseGenerally(line, isPlain: true, frame: &frame)
            // Before the file's first line it is unknown whether lines have checksums; a header shows it by its
            // version.
            if case .header(let header) = result.content, header.version >= RecordingHeader.currentVersion {
                return RecordedLine(content: .damaged(reason: "no checksum"))
            }
            return result
        }
        return self.parseGenerally(line, isPlain: false, frame: &frame)
    }

    private static func parseGenerally(
        _ line: UnsafeRawBufferPointer,
        isPlain: Bool,
        frame: inout ByteBuffer
    ) -> RecordedLine {
        var reader = JSONReader(line)
        guard case .object = reader.kind() else { return RecordedLine(content: .damaged(reason: "no JSON object")) }
        var members = LineMembers(isPlain: isPlain)
        var reason: String?
        let isWhole = reader.object { key, reader in
            reason = members.take(key, &reader)
            return reason == nil
        }
        guard isWhole else { return RecordedLine(content: .damaged(reason: reason ?? "broken JSON object")) }
        guard reader.isAtEnd() else {
            return RecordedLine(content: .damaged(reason: "bytes after the JSON object"))
        }
        let content = members.content(&frame)
        return RecordedLine(number: members.number, wall: members.wall, at: members.at, content: content)
    }
}
