package import NIOCore
package import NIOHTTP1

/// The strong entity tag of a response's body (RFC 9110, 8.8.3), a hash; different bodies have different tags in
/// practice.
package struct EntityTag: Equatable {
    /// The tag with its quotation marks.
    package let text: String

    package init(of body: ByteBuffer) {
        // FNV-1a with 64 bits: the tag protects no secret, it only detects changes.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in body.readableBytesView { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let digits = String(hash, radix: 16)
        self.text = "\"\(String(repeating: "0", count: 16 - digits.count))\(digits)\""
    }

    /// Whether `If-None-Match` contains the tag (RFC 9110, 13.1.2), by weak comparison.
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
