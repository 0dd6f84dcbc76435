package import Market
package import NIOCore

extension JSONText {
    /// Writes the members that only some trades have, each after a comma: `id`, the venue's number as a string of digits,
    /// and the marks that are set, each as `true`.
    ///
    /// Every JSON object of a trade ends with these, so that all outputs have the same names and order.
    package static func details(of trade: Trade, into buffer: inout ByteBuffer) {
        if let id = trade.id {
            buffer.writeStaticString(",\"id\":\"")
            Self.write(id, into: &buffer)
            buffer.writeStaticString("\"")
        }
        // Nearly every trade has no mark.
        if trade.marks.isEmpty { return }
        if trade.marks.contains(.ahead) { buffer.writeStaticString(",\"ahead\":true") }
        if trade.marks.contains(.possibleRepeat) { buffer.writeStaticString(",\"possibleRepeat\":true") }
        if trade.marks.contains(.filled) { buffer.writeStaticString(",\"filled\":true") }
    }
}

extension JSONWriter {
    /// Writes the members that only some trades have (``JSONText/details(of:into:)``); other members must precede them.
    package mutating func details(of trade: Trade) { self.append { JSONText.details(of: trade, into: &$0) } }
}
