import Glibc
package import Wire

extension RecordingFile {
    /// What stands in a recording, in order.
    package enum Item {
        case frame(RecordedFrame)
        /// Trades may be missing between the frames around it.
        case gap(RecordedGap)
    }

    /// A pass through the recording in chunks, from its start or from any time.
    ///
    /// Reading blocks for as long as the disk takes; the loop that uses it has nothing else to do.
    package final class Reader {
        private static let chunkBytes = 256 << 10

        private let path: String
        private let descriptor: Int32
        let fileBytes: Int64
        private var lines = RecordingReader()
        private var chunk: [UInt8]
        private var isAtEnd = false
        /// Whether what comes is the rest of a line whose beginning was left out.
        private var isInsideLine = false
        /// Frames and gaps before this time are left out, after a seek.
        var earliest: Int64?
        package private(set) var header: RecordingHeader?
        package private(set) var bytesRead = 0
        /// Lines that could not be read; a torn last line is normal and not counted.
        package private(set) var damagedLines = 0

        init(path: String) throws(Failure) {
            self.path = path
            // O_NONBLOCK: a named pipe without a writer must not hang the program; it has no effect on files.
            self.descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            self.chunk = []
            var status = stat()
            let isOpen = self.descriptor >= 0 && fstat(self.descriptor, &status) == 0
            self.fileBytes = Int64(status.st_size)
            guard isOpen else { throw Self.failure(path) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw Failure(description: "\(path) is not a file: name a recording")
            }
            self.chunk = [UInt8](repeating: 0, count: min(Self.chunkBytes, max(Int(status.st_size), 4_096)))
        }

        deinit {
            if self.descriptor >= 0 { close(self.descriptor) }
        }

        /// The next frame, or `nil` at the end.
        package func next() throws(Failure) -> RecordedFrame? {
            while let item = try self.nextItem() {
                if case .frame(let frame) = item { return frame }
            }
            return nil
        }

        /// The next frame or gap, or `nil` at the end.
        package func nextItem() throws(Failure) -> Item? {
            while true {
                while let event = self.lines.next() {
                    switch event {
                    case .frame(let frame):
                        if let earliest, frame.at < earliest { continue }
                        self.earliest = nil
                        return .frame(frame)
                    case .header(let header): self.header = header
                    case .gap(let gap):
                        if let earliest, gap.at < earliest { continue }
                        return .gap(gap)
                    case .damaged: self.damagedLines += 1
                    case .torn: break
                    }
                }
                if self.isAtEnd { return nil }
                try self.readChunk()
            }
        }

        /// Goes to the first line that begins at that offset or behind it.
        func seek(toByte offset: Int64) throws(Failure) {
            // The byte before tells whether a line begins here.
            guard lseek(self.descriptor, Int(max(offset - 1, 0)), SEEK_SET) >= 0 else { throw Self.failure(self.path) }
            self.lines = RecordingReader()
            self.isAtEnd = false
            self.earliest = nil
            self.isInsideLine = offset > 0
        }

        private func readChunk() throws(Failure) {
            let path = self.path
            let descriptor = self.descriptor
            let result: Int = self.chunk.withUnsafeMutableBytes { bytes in
                while true {
                    let count = read(descriptor, bytes.baseAddress, bytes.count)
                    if count >= 0 || errno != EINTR { return count }
                }
            }
            guard result >= 0 else { throw Self.failure(path) }
            self.bytesRead += result
            guard result > 0 else {
                self.isAtEnd = true
                self.lines.finish()
                return
            }
            self.chunk.withUnsafeBytes { chunk in
                var bytes = UnsafeRawBufferPointer(rebasing: chunk[..<result])
                if self.isInsideLine {
                    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return }
                    self.isInsideLine = false
                    bytes = UnsafeRawBufferPointer(rebasing: bytes[(end + 1)...])
                }
                self.lines.feed(bytes)
            }
        }

        private static func failure(_ path: String) -> Failure {
            Failure(description: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
    }
}
