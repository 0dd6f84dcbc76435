import NIOCore
import Wire

/// What a file says it is, in its first line.
enum FirstLine {
    /// Where the header must end, in bytes.
    private static let headerBytes = 256 << 10

    /// The header of a file that may be compressed; `nil` where the first line is none.
    static func header(of file: DiskFile) -> RecordingHeader? {
        guard let bytes = try? RecordingBytes(file: file) else { return nil }
        bytes.readsLittle = true
        var lines = RecordingReader()
        var count = 0
        while count < Self.headerBytes, let text = try? bytes.next() {
            count += text.readableBytes
            lines.feed(text)
            guard let line = lines.nextLine() else { continue }
            guard case .header(let header) = line.content else { return nil }
            return header
        }
        return nil
    }
}

extension RecordingHeader {
    /// Whether this program wrote it: every version names itself.
    var isOurs: Bool { (1...2).contains(self.version) && self.program != nil }
}
