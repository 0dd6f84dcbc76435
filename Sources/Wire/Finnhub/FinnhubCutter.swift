package import NIOCore

/// The cutting of single trades out of a frame, each with the very bytes that Finnhub sent: its conditions (`c`), its spelling
/// of numbers, keys that nobody here knows.
package enum FinnhubCutter {
    /// Writes a trade message of some of a frame's elements; writes nothing and answers false where the frame is not one
    /// object with as many elements as are expected.
    ///
    /// - Parameters:
    ///   - count: the elements that the frame must have.
    ///   - isWanted: tells by an element's place whether it is to be in the message; asked once for each, in order.
    package static func cut(
        _ frame: ByteBuffer,
        elements count: Int,
        into buffer: inout ByteBuffer,
        where isWanted: (Int) -> Bool
    ) -> Bool {
        frame.withUnsafeReadableBytes { bytes in
            guard let elements = Self.elements(of: bytes), elements.count == count else { return false }
            buffer.writeStaticString("{\"data\":[")
            var isFirst = true
            for (place, element) in elements.enumerated() where isWanted(place) {
                if !isFirst { buffer.writeStaticString(",") }
                isFirst = false
                buffer.writeBytes(element)
            }
            buffer.writeStaticString("],\"type\":\"trade\"}")
            return true
        }
    }

    /// The elements of a frame's `data`, of which the last counts as for ``FinnhubParser``; `nil` where it is no list of
    /// objects, or the frame is no object.
    private static func elements(of frame: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer]? {
        var reader = JSONReader(frame)
        var elements: [UnsafeRawBufferPointer]?
        guard reader.take(UInt8(ascii: "{")) else { return nil }
        var isFirst = true
        while true {
            switch reader.nextMember(isFirst: &isFirst) {
            case .invalid:
                return nil
            case .end:
                return reader.isAtEnd() ? elements : nil
            case .key(let key):
                guard key.equals("data") else {
                    guard reader.skipValue() else { return nil }
                    continue
                }
                guard let found = Self.list(&reader) else { return nil }
                elements = found
            }
        }
    }

    private static func list(_ reader: inout JSONReader) -> [UnsafeRawBufferPointer]? {
        guard reader.take(UInt8(ascii: "[")) else { return nil }
        if reader.take(UInt8(ascii: "]")) { return [] }
        var elements: [UnsafeRawBufferPointer] = []
        repeat {
            guard case .object = reader.kind(), let element = reader.rawValue() else { return nil }
            elements.append(element)
        } while reader.take(UInt8(ascii: ","))
        return reader.take(UInt8(ascii: "]")) ? elements : nil
    }
}
