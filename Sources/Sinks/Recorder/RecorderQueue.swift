import Market
import NIOCore
import Wire

/// What waits to be written into a recording, in order; bounded by its owner.
struct RecorderQueue {
    enum Entry {
        case frame(ByteBuffer, Moment, RecordedNumbers, epoch: UInt64)
        case leftOut(LeftOut)
        case gap(Gap, Moment)
        // Apart, for it is rare, and would make every entry four times as large.
        indirect case note(RecordedNote, Moment)
    }

    /// Both clocks, ns.
    struct Moment {
        var wall: Int64
        var monotonic: Int64
    }

    /// Frames that found no room in the queue, with the arrivals of the first and the last.
    struct LeftOut {
        var count: UInt64 = 0
        var from: Int64
        var to: Int64
    }

    /// What an entry costs beside its bytes.
    static let entryBytes = 96
    /// How much may wait until it is written at once.
    private static let urgentBytes = 1 << 20
    /// How long the disk must have been quick enough before a slow one is news again, ns.
    private static let quietInterval: Int64 = 60_000_000_000

    /// More than these no memory is kept for, when they have been written.
    private static let keptEntries = 8_192

    /// What the file must be told before the next frame.
    var leftOut: LeftOut?
    var entries: [Entry] = []
    /// The memory of those that were written last.
    private var spare: [Entry] = []
    var bytes = 0
    var dropped: UInt64 = 0
    /// Frames that the disk did not take, and that it may not keep, as of the last write.
    var failed: UInt64 = 0
    var doubted: UInt64 = 0
    /// When a frame found no room last, monotonic ns.
    var lastLeftOut: Int64?
    /// Whether the writer was told that much waits.
    var isUrgent = false
    /// Whether the writer waits for the first entry, and has to be woken for it; else it looks by itself soon.
    var isAwaited = false
    var isFinished = false

    /// Takes out what waits.
    mutating func take() -> [Entry] {
        self.bytes = 0
        self.isUrgent = false
        var taken = self.spare
        self.spare = []
        swap(&taken, &self.entries)
        return taken
    }

    /// Takes the memory of what was taken out, and is empty now, for what comes next.
    mutating func takeBack(_ empty: inout [Entry]) {
        guard empty.capacity <= Self.keptEntries, self.spare.capacity == 0 else { return }
        swap(&self.spare, &empty)
    }

    /// Leaves a frame out; answers whether that is news.
    mutating func leaveOut(received: Int64, monotonic: Int64) -> Bool {
        self.dropped += 1
        var leftOut = self.leftOut ?? LeftOut(from: received, to: received)
        leftOut.count += 1
        leftOut.to = received
        self.leftOut = leftOut
        defer { self.lastLeftOut = monotonic }
        return self.lastLeftOut.map { monotonic - $0 >= Self.quietInterval } ?? true
    }

    /// Puts what was left out into its place.
    mutating func tellLeftOut() {
        guard let leftOut else { return }
        self.leftOut = nil
        self.bytes += Self.entryBytes
        self.entries.append(.leftOut(leftOut))
    }

    /// Whether the writer is to be woken: for the first that comes after a pause, and when much waits.
    mutating func wakes() -> Bool {
        if self.isAwaited, !self.entries.isEmpty {
            self.isAwaited = false
            return true
        }
        guard !self.isUrgent, self.bytes >= Self.urgentBytes else { return false }
        self.isUrgent = true
        return true
    }

    /// Whether the writer may wait for a ring: nothing waits for it.
    mutating func await() -> Bool {
        self.isAwaited = self.entries.isEmpty && !self.isFinished
        return self.isAwaited
    }
}
