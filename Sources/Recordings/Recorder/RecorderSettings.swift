import Platform

/// The settings of a recording.
package struct RecorderSettings: Sendable, Equatable {
    /// How long a line may wait for the write, and how long for the sync, in ns.
    package var flushInterval: Int64 = 100_000_000
    package var syncInterval: Int64 = 1_000_000_000
    /// The size at which the next file begins, in bytes.
    package var segmentBytes: UInt64 = 256 << 20
    /// Whether complete files are compressed.
    package var compresses = true
    /// How long files are kept, ns, and their total size, bytes; `nil` for no limit.
    package var keepAge: Int64?
    package var keepBytes: Int64?
    /// The bound of the queue, in bytes of memory.
    package var maximumWaitingBytes = 64 << 20

    package init() {}
}

/// The clocks for events that carry no time.
package struct RecorderClock: Sendable {
    /// ns since 1970.
    package var wall: @Sendable () -> Int64
    /// ns, as in `NIODeadline`.
    package var monotonic: @Sendable () -> Int64

    package init(
        wall: @escaping @Sendable () -> Int64,
        monotonic: (@Sendable () -> Int64)? = nil
    ) {
        self.wall = wall
        self.monotonic = monotonic ?? SystemClock.monotonic
    }
}
