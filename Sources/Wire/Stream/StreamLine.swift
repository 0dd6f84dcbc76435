package import Market
package import NIOCore

/// A message of `/v1/stream` as one line of text: of the program's own output, and of the relay's lines.
package enum StreamLine {
    /// Returns a JSON object as printable characters, without a line end.
    ///
    /// - Parameter source: the origin of the trades, for an object that does not state it.
    package static func text(of object: ByteBuffer, source: FeedStatus.Source? = nil) -> [UInt8] {
        guard let source else { return JSONText.printable(object.readableBytesView) }
        var object = object
        Self.add(source, toObjectIn: &object)
        return JSONText.printable(object.readableBytesView)
    }

    /// Adds the origin of the trades to the object at the end of a buffer.
    package static func add(_ source: FeedStatus.Source, toObjectIn buffer: inout ByteBuffer) {
        buffer.moveWriterIndex(to: buffer.writerIndex - 1)
        buffer.writeStaticString(",\"source\":\"")
        buffer.writeString(source.word)
        buffer.writeStaticString("\"}")
    }
}
