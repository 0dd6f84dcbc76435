package import Recordings
package import Wire

extension RecordingFile {
    /// One item of a recording, in order.
    package enum Item {
        case frame(RecordedFrame)
        /// Trades may be missing between the frames before and after it.
        case gap(RecordedGap)
        /// A control frame of the connection.
        case signal(RecordedSignal)
        /// The service closed the connection.
        case closing(RecordedClosing)
        /// A connection was opened; ns since the recording's start.
        case connected(at: Int64)
    }

    /// A reader of the recording, from its start or from any time.
    ///
    /// Reading blocks while the disk works; the loop that uses it has nothing else to do.
    package final class Reader {
        private let stream: RecordingStream
        private let damage: RecordingDamage
        private let beforeRead: (@Sendable () -> Void)?
        /// The time before which items are skipped, after a seek.
        private var earliest: Int64?
        package private(set) var header: RecordingHeader?

        init(_ stream: RecordingStream, damage: RecordingDamage, beforeRead: (@Sendable () -> Void)? = nil) {
            self.stream = stream
            self.damage = damage
            self.beforeRead = beforeRead
            let paths = stream.segments.map(\.path)
            stream.damageFound = { segment, found in
                damage.found(part: found.bytes, isTail: found.isTail, in: segment, path: paths[segment])
            }
        }

        /// The bytes read from the disk.
        package var bytesRead: Int { Int(self.stream.diskBytesRead) }
        /// The bytes of the text, which is read line by line.
        package var textBytesRead: Int { Int(self.stream.bytesRead) }

        /// Returns the next frame, or `nil` at the end.
        package func next() throws(RecordingFailure) -> RecordedFrame? {
            while let item = try self.nextItem() {
                if case .frame(let frame) = item { return frame }
            }
            return nil
        }

        /// Returns the next item, or `nil` at the end.
        package func nextItem() throws(RecordingFailure) -> Item? {
            self.beforeRead?()
            while let line = try self.stream.next() {
                if let earliest, let at = line.at, at < earliest { continue }
                switch line.content {
                case .frame, .gap:
                    guard let item = try self.item(line) else { continue }
                    return item
                case .header(let header): self.header = self.header ?? header
                case .note(let note):
                    if let signal = RecordedSignal(note, at: line.at ?? 0) { return .signal(signal) }
                    if let closing = RecordedClosing(note, at: line.at ?? 0, wall: line.wall) {
                        return .closing(closing)
                    }
                    if note.kind == .connect { return .connected(at: line.at ?? 0) }
                case .damaged(let reason): self.note(line, reason)
                case .unknown, .torn: break
                }
            }
            return nil
        }

        /// Returns the frame or gap of a line.
        private func item(_ line: RecordedLine) throws(RecordingFailure) -> Item? {
            switch line.event {
            case .frame(let frame):
                guard frame.dialect == .finnhub else {
                    let segments = self.stream.segments
                    throw RecordingFile.foreign(segments[self.stream.segment].path, in: segments)
                }
                self.earliest = nil
                return .frame(frame)
            case .gap(let gap): return .gap(gap)
            case .header, .damaged, .torn, nil: return nil
            }
        }

        private func note(_ line: RecordedLine, _ reason: String) {
            let segment = self.stream.segment
            self.damage.found(
                line: line.offset,
                reason: reason,
                in: segment,
                path: self.stream.segments[segment].path
            )
        }

        /// Seeks the first frame at or after a time. ``nextItem()`` then returns it, or an item before it that is not
        /// earlier than the time.
        ///
        /// A compressed file is searched by its index, another one by bisection, so little of it is read.
        package func seek(to time: Int64) throws(RecordingFailure) {
            try self.stream.seek(at: time)
            self.earliest = time
        }

        /// Returns the time of the last frame, as far as the files' ends show it.
        func lastFrame() throws(RecordingFailure) -> Int64? {
            try self.stream.last { if case .frame = $0.content { true } else { false } }
        }
    }
}
