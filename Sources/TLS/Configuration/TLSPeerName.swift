internal import COpenSSL

/// The server that a client expects.
package enum TLSPeerName: Sendable, Equatable, Hashable {
    /// A DNS name: it is sent as SNI, and one of the certificate's names must match it.
    case host(String)
    /// An IP address as text: one of the certificate's addresses must equal it. It is never sent as SNI (RFC 6066, 3).
    case address(String)

    /// Takes the host of a URL: a name, an IPv4 address, or an IPv6 address with or without brackets.
    package init(_ text: String) {
        var inner = Substring(text)
        if inner.hasPrefix("["), inner.hasSuffix("]") { inner = inner.dropFirst().dropLast() }
        self = Self.isAddress(String(inner)) ? .address(String(inner)) : .host(text)
    }

    /// Returns the form that is checked: an address given as a host becomes an address, a name loses its final dot.
    ///
    /// It rejects names that would weaken OpenSSL's check. An empty name turns the check off. A name that begins with a
    /// dot matches every name below it.
    func validated() throws(TLSError) -> TLSPeerName {
        switch self {
        case .address(let text):
            guard Self.isAddress(text) else {
                throw TLSError(kind: .configuration, reason: "\"\(text)\" is not an IP address")
            }
            return self
        case .host(let text):
            if Self.isAddress(text) { return .address(text) }
            let name = text.hasSuffix(".") ? String(text.dropLast()) : text
            let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            let isName =
                name.utf8.count <= 253
                && labels.allSatisfy { label in
                    !label.isEmpty && label.count <= 63 && label.allSatisfy(Self.isNameByte)
                }
            guard isName else {
                throw TLSError(kind: .configuration, reason: "\"\(text)\" is not a host name that can be checked")
            }
            return .host(name)
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default:
            false
        }
    }

    private static func isAddress(_ text: String) -> Bool {
        guard !text.utf8.contains(0), let parsed = a2i_IPADDRESS(text) else {
            OpenSSLErrors.clear()
            return false
        }
        ASN1_OCTET_STRING_free(parsed)
        return true
    }
}

extension TLSPeerName: CustomStringConvertible {
    package var description: String {
        switch self {
        case .host(let name): name
        case .address(let address): address
        }
    }
}
