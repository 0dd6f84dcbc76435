package import NIOCore
package import Recordings
package import Wire

/// What a recording holds, without the places of its lines and without notes, for comparisons.
package enum RecordingEvent: Sendable, Equatable {
    case header(RecordingHeader)
    case frame(RecordedFrame)
    case gap(RecordedGap)
    case damaged(line: Int, reason: String)
    case torn(line: Int, offset: Int64)
}

extension RecordedLine {
    /// The event; `nil` for notes and lines of unknown kinds.
    package var event: RecordingEvent? {
        switch self.content {
        case .frame: self.frame.map { .frame($0) }
        case .gap(let gap, let dropped):
            .gap(RecordedGap(line: self.line, at: self.at ?? 0, gap: gap, dropped: dropped, wall: self.wall))
        case .header(let header): .header(header)
        case .note, .unknown, .unreadable: nil
        case .damaged(let reason): .damaged(line: self.line, reason: reason)
        case .torn: .torn(line: self.line, offset: self.offset)
        }
    }
}

extension RecordingParser {
    /// Returns the next event, without the lines that are none; `nil` as `nextLine()` does.
    package mutating func nextEvent() -> RecordingEvent? {
        while let line = self.nextLine() {
            if let event = line.event { return event }
        }
        return nil
    }
}

extension RecordingBytes {
    /// Returns the rest of the text, and the parts that could not be read.
    package func rest() throws -> (text: ByteBuffer, unreadable: [RecordedLine.UnreadablePart]) {
        var text = ByteBuffer()
        var unreadable: [RecordedLine.UnreadablePart] = []
        while let part = try self.next() {
            switch part {
            case .text(let chunk): text.writeImmutableBuffer(chunk)
            case .unreadable(let part): unreadable.append(part)
            }
        }
        return (text, unreadable)
    }
}
