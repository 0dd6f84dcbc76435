internal import COpenSSL
internal import NIOCore

/// The two ends that OpenSSL reads ciphertext from and writes it to: NIO's own buffers, with no socket and no copy queue
/// between them.
///
/// A write never blocks, so OpenSSL never wants to write later. A read without input asks to be tried again, or is the
/// end of the stream once that was said.
final class ByteBufferBIO {
    /// What arrived and OpenSSL has not taken yet.
    private(set) var input = ByteBuffer()
    /// What OpenSSL wants sent.
    private var output = ByteBuffer()
    /// Whether `output` still refers to storage that was handed out; it is reused once it is ours alone again.
    private var isOutputHandedOut = false
    /// Whether no more input comes.
    var isInputEnded = false

    /// The most bytes of output storage that an idle connection keeps.
    private static let maximumIdleOutput = 32 << 10

    /// Takes arrived ciphertext.
    func receive(_ buffer: ByteBuffer) {
        if self.input.readableBytes == 0 {
            self.input = buffer
        } else {
            var buffer = buffer
            self.input.writeBuffer(&buffer)
        }
    }

    /// The ciphertext to send, which from now on is the caller's; `nil` where there is none.
    func takeOutput() -> ByteBuffer? {
        guard !self.isOutputHandedOut, self.output.readableBytes > 0 else { return nil }
        let taken = self.output
        if taken.capacity > Self.maximumIdleOutput {
            self.output = ByteBuffer()
        } else {
            self.isOutputHandedOut = true
        }
        return taken
    }

    /// Reads for OpenSSL; `nil` where nothing is there.
    fileprivate func read(into bytes: UnsafeMutableRawBufferPointer) -> Int? {
        let count = min(bytes.count, self.input.readableBytes)
        guard count > 0 else { return nil }
        self.input.readWithUnsafeReadableBytes { readable in
            bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: readable[..<count]))
            return count
        }
        // Lets go of the storage at once: the socket's reads may reuse it.
        if self.input.readableBytes == 0 { self.input = ByteBuffer() }
        return count
    }

    /// Writes for OpenSSL.
    fileprivate func write(_ bytes: UnsafeRawBufferPointer) {
        if self.isOutputHandedOut {
            self.isOutputHandedOut = false
            self.output.clear(minimumCapacity: bytes.count)
        }
        self.output.writeBytes(bytes)
    }

    /// Makes OpenSSL's object for this one, which must outlive it.
    func makeBIO() throws(TLSError) -> OpaquePointer {
        guard let method = BIOMethod.shared.pointer, let bio = BIO_new(method) else {
            throw OpenSSLErrors.library("BIO_new")
        }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }
}

/// OpenSSL's table of functions for our BIO, made once.
///
/// Unchecked, because the table is never changed after it is made.
private struct BIOMethod: @unchecked Sendable {
    static let shared = BIOMethod()

    let pointer: OpaquePointer?

    private init() {
        self.pointer = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "NIO ByteBuffer")
        BIO_meth_set_read(self.pointer) { bio, bytes, count in
            guard let bio, let bytes, count > 0, let end = ByteBufferBIO.behind(bio) else { return 0 }
            twin_BIO_clear_retry_flags(bio)
            if let read = end.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))) {
                return Int32(truncatingIfNeeded: read)
            }
            if end.isInputEnded { return 0 }
            twin_BIO_set_retry_read(bio)
            return -1
        }
        BIO_meth_set_write(self.pointer) { bio, bytes, count in
            guard let bio, let bytes, count > 0, let end = ByteBufferBIO.behind(bio) else { return 0 }
            twin_BIO_clear_retry_flags(bio)
            end.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            return count
        }
        BIO_meth_set_ctrl(self.pointer) { bio, command, _, _ in
            guard let bio, let end = ByteBufferBIO.behind(bio) else { return 0 }
            switch command {
            case Int32(BIO_CTRL_FLUSH): return 1
            case Int32(BIO_CTRL_PENDING): return end.input.readableBytes
            // Tells a stream that was cut from one that only has no bytes yet.
            case Int32(BIO_CTRL_EOF): return end.isInputEnded && end.input.readableBytes == 0 ? 1 : 0
            default: return 0
            }
        }
    }
}

extension ByteBufferBIO {
    /// The object that OpenSSL's object stands for; the connection that owns both keeps it alive.
    fileprivate static func behind(_ bio: OpaquePointer) -> ByteBufferBIO? {
        BIO_get_data(bio).map { Unmanaged<ByteBufferBIO>.fromOpaque($0).takeUnretainedValue() }
    }
}
