/// The frames in a peer's bytes, whatever the reads cut them into. Fragments do not occur: nobody here sends any.
struct FrameReader {
    /// The beginning of a frame whose end has not come.
    private var rest: [UInt8] = []

    /// Bytes that `take` needs in front of what is read.
    var waiting: Int { self.rest.count }

    /// Puts what waits at the start of `scratch`, so that the next read can follow it.
    func lay(into scratch: UnsafeMutableRawBufferPointer) { scratch.copyBytes(from: self.rest) }

    /// Takes the bytes at the start of `scratch`, those that waited first; a masked payload is unmasked in place.
    ///
    /// - Parameter frame: is given each whole frame's opcode and payload.
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

    /// The length of the header at `here`, that of its payload, and where its mask is; `nil` when it is not whole.
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
