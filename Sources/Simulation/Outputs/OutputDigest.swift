package import NIOCore
import TLS

/// The digest of one output on virtual time.
package struct HarnessOutput: Sendable, Equatable {
    /// The output's name as one word, such as `relay-stream-all`.
    package var name: String
    /// The number of bytes.
    package var count: UInt64
    /// The SHA-256 of the bytes, as lower-case hexadecimal.
    package var digest: String
    /// The bytes, if they were kept.
    package var bytes: [UInt8]?
}

/// A consumer of bytes that counts and digests them, and keeps them on request.
package final class OutputDigest {
    private let name: String
    private var digest = RunningSHA256()
    private var kept: [UInt8]?

    package init(_ name: String, keepsBytes: Bool) {
        self.name = name
        self.kept = keepsBytes ? [] : nil
    }

    package func take(_ bytes: UnsafeRawBufferPointer) {
        self.digest.take(bytes)
        self.kept?.append(contentsOf: bytes)
    }

    package func take(_ bytes: [UInt8]) { bytes.withUnsafeBytes { self.take($0) } }

    package func take(_ bytes: ByteBuffer) { bytes.withUnsafeReadableBytes { self.take($0) } }

    package func take(_ text: String) { self.take(Array(text.utf8)) }

    /// Returns the digest of all bytes; called once.
    package func finish() -> HarnessOutput {
        HarnessOutput(name: self.name, count: self.digest.count, digest: self.digest.finish(), bytes: self.kept)
    }
}
