import Market

/// The delivery times of a slow or distant line: a state machine with time and chance as arguments.
///
/// Bytes keep their order, so jitter also delays the bytes after a delayed one.
struct LinePacer: Sendable {
    /// The most bytes per second; `nil` is unlimited.
    var bytesPerSecond: Int?
    /// The delay of all bytes, in nanoseconds.
    let latency: Int64
    /// The largest additional delay, in nanoseconds.
    let jitter: Int64
    /// The time at which the line is free again, in nanoseconds.
    private var free: Int64 = .min
    private var newestArrival: Int64 = .min
    private var generator: SeededGenerator

    init(bytesPerSecond: Int?, latency: Int64, jitter: Int64, seed: UInt64) {
        self.bytesPerSecond = bytesPerSecond
        self.latency = latency
        self.jitter = jitter
        self.generator = SeededGenerator(seed: seed)
    }

    /// Whether everything is delivered at once.
    var isImmediate: Bool { self.bytesPerSecond == nil && self.latency == 0 && self.jitter == 0 }

    /// The size of a delivered piece: the bytes of a tenth of a second, at least one.
    var pieceBytes: Int { self.bytesPerSecond.map { max($0 / 10, 1) } ?? .max }

    /// Returns when bytes written at `now` reach the line's bottleneck; both in nanoseconds.
    mutating func arrival(now: Int64) -> Int64 {
        var arrival = now + self.latency
        if self.jitter > 0 { arrival += Int64.random(in: 0...self.jitter, using: &self.generator) }
        self.newestArrival = max(arrival, self.newestArrival)
        return self.newestArrival
    }

    /// Returns when an arrived piece is delivered, after the pieces before it.
    mutating func deliver(bytes: Int, arrived: Int64) -> Int64 {
        var due = max(arrived, self.free)
        if let rate = self.bytesPerSecond { due += Int64(Double(bytes) / Double(rate) * 1e9) }
        self.free = due
        return due
    }
}
