package import NIOCore
import TLS

/// What became of one output of a rehearsal.
package struct RehearsedOutput: Sendable, Equatable {
    /// One word, as `relay-stream-all`.
    package var name: String
    /// How many bytes there were.
    package var count: UInt64
    /// SHA-256 of them, lower-case hexadecimal.
    package var digest: String
    /// The bytes themselves, where they were to be kept.
    package var bytes: [UInt8]?
}

/// A place for bytes that are counted and digested, and kept only if somebody wants to look at them.
package final class OutputDigest {
    private let name: String
    private let digest = RunningSHA256()
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

    /// What was taken; to be asked for once.
    package func finish() -> RehearsedOutput {
        RehearsedOutput(name: self.name, count: self.digest.count, digest: self.digest.finish(), bytes: self.kept)
    }
}
