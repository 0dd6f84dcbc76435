import Market

/// When a slow or distant line delivers what it is given: a machine whose time and chance are arguments.
///
/// Bytes keep their order: what jitter delays holds up what is behind it.
struct LinePacer: Sendable {
    /// At most so many bytes a second; `nil` is as many as can be.
    var bytesPerSecond: Int?
    /// Nanoseconds that everything takes.
    let latency: Int64
    /// Nanoseconds that it takes at most beyond that.
    let jitter: Int64
    /// When the line is free again, nanoseconds.
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

    /// How many bytes to deliver in one piece: a tenth of a second's, at least one.
    var pieceBytes: Int { self.bytesPerSecond.map { max($0 / 10, 1) } ?? .max }

    /// When what is given at `now` comes to the line's narrow end; both in nanoseconds.
    mutating func arrival(now: Int64) -> Int64 {
        var arrival = now + self.latency
        if self.jitter > 0 { arrival += Int64.random(in: 0...self.jitter, using: &self.generator) }
        self.newestArrival = max(arrival, self.newestArrival)
        return self.newestArrival
    }

    /// When a piece that has arrived is through, behind the pieces before it.
    mutating func deliver(bytes: Int, arrived: Int64) -> Int64 {
        var due = max(arrived, self.free)
        if let rate = self.bytesPerSecond { due += Int64(Double(bytes) / Double(rate) * 1e9) }
        self.free = due
        return due
    }
}
