import NIOCore
import Wire

/// The newest file of a recording: whole lines on a disk that may fail.
///
/// After a partial write the file is truncated to its last whole line; where that fails too, a newline ends the torn
/// one.
struct SegmentOutput: Sendable {
    private let output: any RecordingOutput
    let path: String
    /// The header, until it is written.
    private var header: RecordingHeader?
    /// The bytes written.
    private(set) var bytes: UInt64 = 0
    /// Whether a failed write may have left a torn line at the file's end.
    private var mustEndLine = false
    private var isCuttable = true

    init(_ output: any RecordingOutput, path: String, header: RecordingHeader) {
        self.output = output
        self.path = path
        self.header = header
    }

    /// Gives a blank file the fields that all files of the recording share.
    mutating func correct(_ shared: RecordingHeader) {
        self.header?.version = shared.version
        self.header?.epoch = shared.epoch
        self.header?.writerRun = shared.writerRun
    }

    /// Whether not even the header is written.
    var isBlank: Bool { self.header != nil }

    /// Writes whole lines.
    mutating func write(_ lines: ByteBuffer) throws(DiskFailure) {
        do throws(DiskFailure) {
            if self.mustEndLine {
                try self.writeAll(ByteBuffer(string: "\n"))
                self.mustEndLine = false
            }
            if let header {
                var line = ByteBuffer()
                RecordingSyntax.header(header, into: &line)
                try self.writeAll(line)
                self.header = nil
            }
            try self.writeAll(lines)
        } catch {
            // Where this fails too, a newline ends the torn line, which a reader reports as damage. From then on the
            // file's length is unknown, and truncating it could remove whole lines.
            self.isCuttable = self.isCuttable && self.output.truncate(to: self.bytes)
            self.mustEndLine = !self.isCuttable
            throw error
        }
    }

    private mutating func writeAll(_ bytes: ByteBuffer) throws(DiskFailure) {
        guard bytes.readableBytes > 0 else { return }
        let output = self.output
        let result: Result<Void, DiskFailure> = bytes.withUnsafeReadableBytes { bytes in
            do throws(DiskFailure) {
                try output.write(bytes)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
        self.bytes += UInt64(bytes.readableBytes)
    }

    func sync() throws(DiskFailure) { try self.output.sync() }

    func close() { self.output.close() }
}
