import NIOCore
import Wire

extension String {
    /// Lines of a hand-written recording, with their checksums added; a line that is not a JSON object stays as it is.
    package var sealed: String {
        self.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.hasPrefix("{"), line.hasSuffix("}") else { return String(line) }
            var sealed = ByteBuffer(substring: line.dropLast())
            LineSeal.write(into: &sealed, from: 0)
            return String(String(buffer: sealed).dropLast())
        }.joined(separator: "\n")
    }
}
