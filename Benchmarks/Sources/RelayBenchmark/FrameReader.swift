/// The parser of a peer's frames, for any division of the bytes. It has no support for fragments, since no peer here
/// sends any.
struct FrameReader {
    /// The start of an incomplete frame.
    private var rest: [UInt8] = []

    /// The number of buffered bytes, which `take` needs before the newly read ones.
    var waiting: Int { self.rest.count }

    /// Copies the buffered bytes to the start of `scratch`, so that the next read can follow them.
    func lay(into scratch: UnsafeMutableRawBufferPointer) { scratch.copyBytes(from: self.rest) }

    /// Takes the bytes at the start of `scratch`, the buffered ones first, and unmasks payloads in place.
    ///
    /// - Parameter frame: receives the opcode and the payload of each complete frame.
    mutating func take(
        _ count: Int,
        of scratch: UnsafeMutableRawBufferPointer,
        frame: (_ opcode: UInt8, _ payload: UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        var here = 0
        while let (header, payload, mask) = Self.head(scratch, here, count) {
            let start = here + header
            guard start + payload <= count else { break }
            if mask != nil { Self.unmask(scratch, start: start, count: payload) }
            try frame(scratch[here] & 0xF, UnsafeRawBufferPointer(rebasing: scratch[start..<start + payload]))
            here = start + payload
        }
        if here < count {
            self.rest = Array(scratch[here..<count])
        } else if !self.rest.isEmpty {
            self.rest.removeAll(keepingCapacity: true)
        }
    }

    /// Returns the lengths of the header at `here` and of its payload, and the position of its mask; `nil` for an
    /// incomplete header.
    private static func head(
        _ bytes: UnsafeMutableRawBufferPointer,
        _ here: Int,
        _ end: Int
    ) -> (header: Int, payload: Int, mask: Int?)? {
        guard end - here >= 2 else { return nil }
        let short = Int(bytes[here + 1] & 0x7F)
        let lengthBytes = short < 126 ? 0 : short == 126 ? 2 : 8
        let isMasked = bytes[here + 1] & 0x80 != 0
        let header = 2 + lengthBytes + (isMasked ? 4 : 0)
        guard end - here >= header else { return nil }
        var payload = short
        if lengthBytes > 0 { payload = bytes[here + 2..<here + 2 + lengthBytes].reduce(0) { $0 << 8 | Int($1) } }
        return (header, payload, isMasked ? here + header - 4 : nil)
    }

    private static func unmask(_ bytes: UnsafeMutableRawBufferPointer, start: Int, count: Int) {
        for index in 0..<count { bytes[start + index] ^= bytes[start - 4 + index % 4] }
    }
}
