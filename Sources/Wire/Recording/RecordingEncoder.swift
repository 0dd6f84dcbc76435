package import NIOCore

/// The writer of a recording's lines.
package enum RecordingEncoder {
    /// Writes the header's line, which may only be the first.
    package static func header(_ header: RecordingHeader, into buffer: inout ByteBuffer) {
        buffer.writeStaticString("{\"tickertape\":")
        JSONText.write(header.version, into: &buffer)
        if let program = header.program {
            buffer.writeStaticString(",\"program\":")
            JSONText.escape(program, into: &buffer)
        }
        buffer.writeStaticString(",\"symbols\":[")
        for (index, symbol) in header.symbols.enumerated() {
            if index > 0 { buffer.writeStaticString(",") }
            JSONText.escape(symbol, into: &buffer)
        }
        buffer.writeStaticString("]")
        if let start = header.start {
            buffer.writeStaticString(",\"start\":")
            JSONText.write(start, into: &buffer)
        }
        buffer.writeStaticString("}\n")
    }

    /// Writes one frame's line: `{"at":<ns>,"frame":"<text>"}`.
    package static func frame(_ frame: ByteBuffer, at: Int64, into buffer: inout ByteBuffer) {
        buffer.writeStaticString("{\"at\":")
        JSONText.write(at, into: &buffer)
        buffer.writeStaticString(",\"frame\":")
        frame.withUnsafeReadableBytes { JSONText.escape($0, into: &buffer) }
        buffer.writeStaticString("}\n")
    }
}
