import NIOCore
import Wire

extension String {
    /// Lines of a recording that a test writes by hand, with their checksums; what is no JSON object is left as it is.
    package var sealed: String {
        self.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.hasPrefix("{"), line.hasSuffix("}") else { return String(line) }
            var sealed = ByteBuffer(substring: line.dropLast())
            LineSeal.write(into: &sealed, from: 0)
            return String(String(buffer: sealed).dropLast())
        }.joined(separator: "\n")
    }
}
