package import NIOCore
package import NIOHTTP1

/// The strong tag of an answer's bytes (RFC 9110, 8.8.3): equal tags mean equal bytes, for all that a cache here can meet.
package struct EntityTag: Equatable {
    /// With its quotation marks.
    package let text: String

    package init(of body: ByteBuffer) {
        // FNV-1a with 64 bits: no secret to keep, only changes to see.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in body.readableBytesView { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let digits = String(hash, radix: 16)
        self.text = "\"\(String(repeating: "0", count: 16 - digits.count))\(digits)\""
    }

    /// Whether `If-None-Match` names it (RFC 9110, 13.1.2), by weak comparison.
    package func isNamed(in head: HTTPRequestHead) -> Bool {
        head.headers["If-None-Match"].contains { self.isNamed(in: $0) }
    }

    private func isNamed(in condition: String) -> Bool {
        condition.split(separator: ",").contains { item in
            var tag = item.drop { $0 == " " || $0 == "\t" }
            while tag.last == " " || tag.last == "\t" { tag.removeLast() }
            if tag == "*" { return true }
            if tag.hasPrefix("W/") { tag = tag.dropFirst(2) }
            return tag == self.text
        }
    }
}
