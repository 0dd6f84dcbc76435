import NIOCore
import Wire

/// What a file says it is, in its first line.
enum FirstLine {
    /// The header of a file; `nil` where the first line is none.
    ///
    /// - Parameter bytes: the file's, at its start.
    /// - Throws: ``RecordingFailure`` where the header is of a version that is not read.
    static func header(of bytes: RecordingBytes) throws(RecordingFailure) -> RecordingHeader? {
        bytes.readsLittle = true
        var lines = RecordingReader()
        var count = 0
        while count < RecordingReader.maximumLineBytes, let text = try bytes.next() {
            count += text.readableBytes
            lines.feed(text)
            guard let line = lines.nextLine() else { continue }
            if let version = lines.refusedVersion { throw .version(version, of: bytes.path) }
            guard case .header(let header) = line.content else { return nil }
            return header
        }
        return nil
    }

    /// The header of a file that may be compressed; `nil` where the first line is none that is read.
    static func header(of file: DiskFile) -> RecordingHeader? {
        do throws(RecordingFailure) {
            return try self.header(of: try RecordingBytes(file: file))
        } catch {
            return nil
        }
    }
}

extension RecordingHeader {
    /// Whether this program wrote it: every version names itself.
    var isOurs: Bool { self.program != nil }
}
