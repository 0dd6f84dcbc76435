/// The fields of comma-separated values (RFC 4180).
package enum CSVText {
    /// Returns a field as a record needs it, quoted where necessary.
    ///
    /// - Parameter text: must have no line breaks, so that a record is one line.
    package static func field(_ text: String) -> String {
        let needsQuotes =
            text.utf8.contains { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") } || text.hasPrefix(" ")
            || text.hasSuffix(" ")
        return needsQuotes ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
    }
}
