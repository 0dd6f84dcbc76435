internal import COpenSSL
internal import NIOCore

/// The source and destination of OpenSSL's ciphertext: NIO's own buffers, without a socket or an intermediate copy.
///
/// A write never blocks, so OpenSSL never reports that it must write later. A read without input asks for a retry, or
/// reports the end of the stream after ``isInputEnded`` is set.
final class ByteBufferBIO {
    /// The received bytes that OpenSSL has not read yet.
    private(set) var input = ByteBuffer()
    /// The bytes that OpenSSL has written and that are not sent yet.
    private var output = ByteBuffer()
    /// Whether `output` still shares storage with a buffer that was handed out. The storage is reused once the other
    /// owner has released it.
    private var isOutputHandedOut = false
    /// Whether no more input will arrive.
    var isInputEnded = false

    /// The largest output storage that an idle connection keeps, in bytes.
    private static let maximumIdleOutput = 32 << 10

    /// Appends received ciphertext to the input.
    func receive(_ buffer: ByteBuffer) {
        if self.input.readableBytes == 0 {
            self.input = buffer
        } else {
            var buffer = buffer
            self.input.writeBuffer(&buffer)
        }
    }

    /// Returns the ciphertext to send and passes its ownership to the caller; `nil` without output.
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

    /// Reads for OpenSSL; `nil` without input.
    fileprivate func read(into bytes: UnsafeMutableRawBufferPointer) -> Int? {
        let count = min(bytes.count, self.input.readableBytes)
        guard count > 0 else { return nil }
        self.input.readWithUnsafeReadableBytes { readable in
            bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: readable[..<count]))
            return count
        }
        // Releases the storage at once, so that the socket's reads can reuse it.
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

    /// Makes the OpenSSL object for this object, which must outlive it.
    func makeBIO() throws(TLSError) -> OpaquePointer {
        guard let method = BIOMethod.shared.pointer, let bio = BIO_new(method) else {
            throw OpenSSLErrors.library("BIO_new")
        }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }
}

/// The table of functions of this BIO, made once.
///
/// Unchecked, because the table does not change after `init`.
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
            // Distinguishes a truncated stream from one without bytes at the moment.
            case Int32(BIO_CTRL_EOF): return end.isInputEnded && end.input.readableBytes == 0 ? 1 : 0
            default: return 0
            }
        }
    }
}

extension ByteBufferBIO {
    /// Returns the object behind an OpenSSL object. The connection owns both and keeps them alive.
    fileprivate static func behind(_ bio: OpaquePointer) -> ByteBufferBIO? {
        BIO_get_data(bio).map { Unmanaged<ByteBufferBIO>.fromOpaque($0).takeUnretainedValue() }
    }
}
