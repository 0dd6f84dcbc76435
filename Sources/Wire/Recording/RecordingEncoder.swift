package import Market
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
        if let epoch = header.epoch {
            buffer.writeStaticString(",\"epoch\":")
            JSONText.write(epoch, into: &buffer)
        }
        if let source = header.source {
            buffer.writeStaticString(",\"source\":")
            JSONText.escape(source, into: &buffer)
        }
        buffer.writeStaticString("}\n")
    }

    /// Writes a gap's line: `{"at":<ns>,"gap":{"from":<ns>,"to":<ns>,"reason":"…","nextSeq":…,"epoch":…,"overlap":…}}`.
    ///
    /// `from` and `to` are wall clock, ns since 1970; `overlap` is null where nothing could be compared; `"symbol":"…"`
    /// behind it names the only one concerned, and is not there for all. Who knows only
    /// frames leaves the line out.
    package static func gap(_ gap: Gap, at: Int64, into buffer: inout ByteBuffer) {
        buffer.writeStaticString("{\"at\":")
        JSONText.write(at, into: &buffer)
        buffer.writeStaticString(",\"gap\":{\"from\":")
        JSONText.write(gap.from, into: &buffer)
        buffer.writeStaticString(",\"to\":")
        JSONText.write(gap.to, into: &buffer)
        buffer.writeStaticString(",\"reason\":")
        JSONText.escape(gap.reason, into: &buffer)
        buffer.writeStaticString(",\"nextSeq\":")
        JSONText.write(gap.nextSequence, into: &buffer)
        buffer.writeStaticString(",\"epoch\":")
        JSONText.write(gap.epoch, into: &buffer)
        buffer.writeStaticString(",\"overlap\":")
        if let overlap = gap.overlap {
            JSONText.write(overlap, into: &buffer)
        } else {
            buffer.writeStaticString("null")
        }
        if let symbol = gap.symbol {
            buffer.writeStaticString(",\"symbol\":")
            JSONText.escape(symbol, into: &buffer)
        }
        buffer.writeStaticString("}}\n")
    }

    /// Writes one frame's line: `{"at":<ns>,"frame":"<text>"}`, or with the numbers of its trades
    /// `{"at":<ns>,"seq":<first>,"trades":<count>,"frame":"<text>"}`.
    ///
    /// `"leftOut":[…]` behind the count names the places of trades in the text that are not on the tape.
    package static func frame(
        _ frame: ByteBuffer,
        at: Int64,
        numbers: RecordedNumbers? = nil,
        into buffer: inout ByteBuffer
    ) {
        buffer.writeStaticString("{\"at\":")
        JSONText.write(at, into: &buffer)
        if let numbers {
            buffer.writeStaticString(",\"seq\":")
            JSONText.write(numbers.first, into: &buffer)
            buffer.writeStaticString(",\"trades\":")
            JSONText.write(numbers.count, into: &buffer)
            if !numbers.leftOut.isEmpty {
                buffer.writeStaticString(",\"leftOut\":[")
                for (index, place) in numbers.leftOut.enumerated() {
                    if index > 0 { buffer.writeStaticString(",") }
                    JSONText.write(place, into: &buffer)
                }
                buffer.writeStaticString("]")
            }
        }
        buffer.writeStaticString(",\"frame\":")
        frame.withUnsafeReadableBytes { JSONText.escape($0, into: &buffer) }
        buffer.writeStaticString("}\n")
    }
}
