import Glibc
import Market
import NIOCore
package import Wire

/// A recording on disk: what is in it, and readers that each begin at its start.
package struct RecordingFile: Sendable {
    /// Why a file cannot be replayed, in one line.
    package struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
        package let description: String
    }

    /// How much of a file is looked through for its symbols when its header does not name them, in bytes.
    private static let searchedBytes = 64 << 20

    package let path: String
    /// The symbols that were found, in order of appearance.
    package let symbols: [String]
    /// The symbols, where it is certain that there are no others.
    package let allSymbols: Set<String>?
    /// Lines that cannot be read, among those looked through.
    package let damagedLines: Int

    /// Opens a recording and finds out which symbols it has.
    ///
    /// - Throws: ``Failure`` when it cannot be read, or holds no frame in its first 64 MiB.
    package init(path: String) throws(Failure) {
        self.path = path
        let reader = try Reader(path: path)
        var parser = FinnhubParser()
        var table = SymbolTable()
        var trades: [Trade] = []
        var frames = 0
        var isWhole = true
        while let frame = try reader.next() {
            frames += 1
            _ = parser.parse(frame.frame, symbols: &table, into: &trades)
            trades.removeAll(keepingCapacity: true)
            // The header's word is enough, once there is proof that frames follow it.
            if let header = reader.header, !header.symbols.isEmpty { break }
            if reader.bytesRead >= Self.searchedBytes {
                isWhole = false
                break
            }
        }
        guard frames > 0 else {
            throw Failure(
                description: "\(path) holds no recorded frame (one JSON object a line, with \"at\" and \"frame\")"
            )
        }
        let symbols = reader.header.map(\.symbols).flatMap { $0.isEmpty ? nil : $0 } ?? table.names
        self.symbols = symbols
        self.allSymbols = isWhole ? Set(symbols) : nil
        self.damagedLines = reader.damagedLines
    }

    /// Makes a reader at the start of the recording.
    package func makeReader() throws(Failure) -> Reader { try Reader(path: self.path) }

    /// A pass through the recording, from start to end, in chunks.
    ///
    /// Reading blocks for as long as the disk takes; the loop that uses it has nothing else to do.
    package final class Reader {
        private static let chunkBytes = 256 << 10

        private let path: String
        private let descriptor: Int32
        private var lines = RecordingReader()
        private var chunk: [UInt8]
        private var isAtEnd = false
        package private(set) var header: RecordingHeader?
        package private(set) var bytesRead = 0
        /// Lines that could not be read; a torn last line is normal and not counted.
        package private(set) var damagedLines = 0

        init(path: String) throws(Failure) {
            self.path = path
            // O_NONBLOCK: a named pipe without a writer must not hang the program; it has no effect on files.
            self.descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            self.chunk = []
            guard self.descriptor >= 0 else { throw Self.failure(path) }
            var status = stat()
            guard fstat(self.descriptor, &status) == 0 else { throw Self.failure(path) }
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
            while true {
                while let event = self.lines.next() {
                    switch event {
                    case .frame(let frame): return frame
                    case .header(let header): self.header = header
                    // A replay serves what came; what did not come is not played.
                    case .gap: break
                    case .damaged: self.damagedLines += 1
                    case .torn: break
                    }
                }
                if self.isAtEnd { return nil }
                try self.readChunk()
            }
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
            if result == 0 {
                self.isAtEnd = true
                self.lines.finish()
            } else {
                self.chunk.withUnsafeBytes { self.lines.feed(UnsafeRawBufferPointer(rebasing: $0[..<result])) }
            }
        }

        private static func failure(_ path: String) -> Failure {
            Failure(description: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
    }
}
