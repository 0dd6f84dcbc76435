internal import COpenSSL

/// The OCSP response that a server staples to its certificate, in DER, at a fixed address.
///
/// Unchecked, because only `init` writes the memory.
final class ServerStaple: @unchecked Sendable {
    private let bytes: UnsafeMutableBufferPointer<UInt8>

    init(_ answer: [UInt8]) {
        self.bytes = .allocate(capacity: answer.count)
        _ = self.bytes.initialize(from: answer)
    }

    deinit {
        self.bytes.deallocate()
    }

    /// Makes the context staple the response for every client that requests it. This object must outlive the context.
    func apply(to context: OpaquePointer) {
        _ = twin_SSL_CTX_set_tlsext_status_cb(context) { ssl, argument in
            guard let ssl, let argument else { return SSL_TLSEXT_ERR_NOACK }
            let bytes = Unmanaged<ServerStaple>.fromOpaque(argument).takeUnretainedValue().bytes
            // OpenSSL takes ownership of the bytes and frees them.
            guard let copy = twin_OPENSSL_memdup(bytes.baseAddress, bytes.count) else { return SSL_TLSEXT_ERR_NOACK }
            let start = copy.assumingMemoryBound(to: UInt8.self)
            _ = twin_SSL_set_tlsext_status_ocsp_resp(ssl, start, bytes.count)
            return SSL_TLSEXT_ERR_OK
        }
        _ = twin_SSL_CTX_set_tlsext_status_arg(context, Unmanaged.passUnretained(self).toOpaque())
    }
}
