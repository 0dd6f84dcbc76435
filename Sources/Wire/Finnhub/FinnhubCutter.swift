package import NIOCore

/// A frame split into its trades, so that some of them can be copied with the very bytes that Finnhub sent, including
/// conditions (`c`), the spelling of numbers and unknown keys.
package struct FinnhubCutter: Sendable {
    private let frame: ByteBuffer
    /// The ranges of the elements, in bytes from the start of the frame.
    private let elements: [Range<Int>]

    /// Splits a frame; `nil` if it is not a single object with a list of objects as its `data`.
    package init?(_ frame: ByteBuffer) {
        let found = frame.withUnsafeReadableBytes { bytes in
            Self.elements(of: bytes).map { elements in
                elements.map { element in
                    let start = bytes.baseAddress.flatMap { first in element.baseAddress.map { $0 - first } } ?? 0
                    return start..<start + element.count
                }
            }
        }
        guard let found else { return nil }
        self.frame = frame
        self.elements = found
    }

    /// The number of elements in the frame.
    package var count: Int { self.elements.count }

    /// Writes a trade message with some of the frame's elements.
    ///
    /// - Parameter isWanted: returns whether the element at a place is to be written; called once for each, in order.
    package func cut(into buffer: inout ByteBuffer, where isWanted: (Int) -> Bool) {
        self.frame.withUnsafeReadableBytes { bytes in
            buffer.writeStaticString("{\"data\":[")
            var isFirst = true
            for place in self.elements.indices where isWanted(place) {
                if !isFirst { buffer.writeStaticString(",") }
                isFirst = false
                buffer.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[self.elements[place]]))
            }
            buffer.writeStaticString("],\"type\":\"trade\"}")
        }
    }

    /// Returns the elements of a frame's `data`; of several such members the last counts, as for ``FinnhubParser``.
    /// `nil` if it is not a list of objects, or the frame is not an object.
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
