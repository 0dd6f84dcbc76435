/// What a record of comma-separated values is made of (RFC 4180).
package enum CSVText {
    /// A field as it may stand in a record.
    ///
    /// - Parameter text: without line breaks, so that a record is a line.
    package static func field(_ text: String) -> String {
        let needsQuotes =
            text.utf8.contains { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") } || text.hasPrefix(" ")
            || text.hasSuffix(" ")
        return needsQuotes ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
    }
}
