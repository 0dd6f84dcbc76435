internal import COpenSSL

/// A list of application protocols in ALPN's wire format (RFC 7301, 3.1), at a fixed address.
///
/// Unchecked, because only `init` writes the memory.
final class ProtocolList: @unchecked Sendable {
    /// The length and the address of the bytes, the argument of OpenSSL's callback.
    struct Header {
        var count: Int
        var bytes: UnsafeMutablePointer<UInt8>
    }

    let header: UnsafeMutablePointer<Header>

    /// Takes names of 1 to 255 bytes. Throws ``TLSError/Kind/configuration`` for others.
    init(_ names: [String]) throws(TLSError) {
        var wire: [UInt8] = []
        for name in names {
            guard (1...255).contains(name.utf8.count) else {
                throw TLSError(kind: .configuration, reason: "\"\(name)\" is not an application protocol")
            }
            wire.append(UInt8(name.utf8.count))
            wire.append(contentsOf: name.utf8)
        }
        guard wire.count <= Int(UInt16.max) else {
            throw TLSError(kind: .configuration, reason: "too many application protocols")
        }
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: max(wire.count, 1))
        bytes.update(from: wire, count: wire.count)
        self.header = .allocate(capacity: 1)
        self.header.initialize(to: Header(count: wire.count, bytes: bytes))
    }

    deinit {
        self.header.pointee.bytes.deallocate()
        self.header.deallocate()
    }

    var count: Int { self.header.pointee.count }
    var bytes: UnsafeMutablePointer<UInt8> { self.header.pointee.bytes }
}

/// Chooses the server's most preferred protocol among those that the client offers. Without a common protocol the
/// handshake ends with the alert `no application protocol`.
func selectProtocol(
    _ ssl: OpaquePointer?,
    _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ selectedCount: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?,
    _ offeredCount: UInt32,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let list = argument?.assumingMemoryBound(to: ProtocolList.Header.self).pointee, let selected else {
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }
    var match: UnsafeMutablePointer<UInt8>?
    let outcome = SSL_select_next_proto(&match, selectedCount, list.bytes, UInt32(list.count), offered, offeredCount)
    guard outcome == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    selected.pointee = UnsafePointer(match)
    return SSL_TLSEXT_ERR_OK
}
