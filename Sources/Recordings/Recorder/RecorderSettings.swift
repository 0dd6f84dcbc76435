import NIOCore

/// How a recording is kept.
package struct RecorderSettings: Sendable, Equatable {
    /// How long a line may wait for the file, and how long for the disk itself, in ns.
    package var flushInterval: Int64 = 100_000_000
    package var syncInterval: Int64 = 1_000_000_000
    /// How large a file becomes before the next one begins, in bytes.
    package var segmentBytes: UInt64 = 256 << 20
    /// Whether files that are complete are compressed.
    package var compresses = true
    /// How long files are kept, ns, and how much of them in all, bytes; `nil` for ever.
    package var keepAge: Int64?
    package var keepBytes: Int64?
    /// What may wait for the disk, in bytes of memory.
    package var maximumWaitingBytes = 64 << 20

    package init() {}
}

/// The two clocks by which events without a time of their own are written down.
package struct RecorderClock: Sendable {
    /// ns since 1970.
    package var wall: @Sendable () -> Int64
    /// ns, as `NIODeadline` has it.
    package var monotonic: @Sendable () -> Int64

    package init(
        wall: @escaping @Sendable () -> Int64,
        monotonic: (@Sendable () -> Int64)? = nil
    ) {
        self.wall = wall
        self.monotonic = monotonic ?? { Int64(NIODeadline.now().uptimeNanoseconds) }
    }
}
