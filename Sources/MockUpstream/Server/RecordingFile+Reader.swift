package import Recordings
package import Wire

extension RecordingFile {
    /// What stands in a recording, in order.
    package enum Item {
        case frame(RecordedFrame)
        /// Trades may be missing between the frames around it.
        case gap(RecordedGap)
        /// Something of the connection itself.
        case signal(RecordedSignal)
        /// The service closed the connection.
        case closing(RecordedClosing)
        /// A connection was open, ns since the recording's start.
        case connected(at: Int64)
    }

    /// A pass through the recording, from its start or from any time.
    ///
    /// Reading blocks for as long as the disk takes; the loop that uses it has nothing else to do.
    package final class Reader {
        private let stream: RecordingStream
        private let damage: RecordingDamage
        private let beforeRead: (@Sendable () -> Void)?
        /// What was recorded before this time is left out, after a seek.
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

        /// From the disk, bytes.
        package var bytesRead: Int { Int(self.stream.diskBytesRead) }
        /// Of the text, bytes: what was looked through line by line.
        package var textBytesRead: Int { Int(self.stream.bytesRead) }

        /// The next frame, or `nil` at the end.
        package func next() throws(RecordingFailure) -> RecordedFrame? {
            while let item = try self.nextItem() {
                if case .frame(let frame) = item { return frame }
            }
            return nil
        }

        /// What comes next, or `nil` at the end.
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

        /// A frame or a gap.
        private func item(_ line: RecordedLine) throws(RecordingFailure) -> Item? {
            switch line.event {
            case .frame(let frame):
                guard frame.dialect == .finnhub else { throw .foreign(self.stream.segments[self.stream.segment].path) }
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

        /// Goes to the first frame that was recorded at this time or later: ``nextItem()`` answers with it, or with what
        /// stands before it and is not earlier.
        ///
        /// In a compressed file by its index, in one that is not by halving: little of it is read, however long it is.
        package func seek(to time: Int64) throws(RecordingFailure) {
            try self.stream.seek(at: time)
            self.earliest = time
        }

        /// The time of the last frame, as far as the files' ends tell.
        func lastFrame() throws(RecordingFailure) -> Int64? {
            try self.stream.last { if case .frame = $0.content { true } else { false } }
        }
    }
}
