import Market
import NIOCore
import Wire

/// What waits to be written into a recording, in order; bounded by its owner.
struct RecorderQueue {
    enum Entry {
        /// The bytes are among ``Waiting/frames``.
        case frame(length: Int, FrameDialect, Moment, RecordedNumbers, epoch: UInt64)
        case leftOut(LeftOut)
        case gap(Gap, Moment)
        // Apart, for it is rare, and would make every entry four times as large.
        indirect case note(RecordedNote, Moment)
    }

    /// What is written at once: some 1 MiB, so that what follows finds room again as the disk takes one after the other.
    struct Waiting {
        /// What it takes of the room.
        var bytes = 0
        var entries: [Entry] = []
        var frames = WaitingFrames()

        /// Is empty now, with memory for what comes next.
        mutating func clear() {
            self.bytes = 0
            self.frames.clear()
            if self.entries.capacity > RecorderQueue.keptEntries {
                self.entries = []
            } else {
                self.entries.removeAll(keepingCapacity: true)
            }
        }
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
    private var waiting = Waiting()
    /// What waits before that; there is none while the disk keeps up.
    private var earlier: [Waiting] = []
    /// The memory of those that were written last.
    private var spare: Waiting?
    /// Bytes that wait, all together.
    private(set) var bytes = 0
    /// Bytes that were taken out and are not written yet.
    private var bytesUnderWay = 0
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

    var isEmpty: Bool { self.waiting.entries.isEmpty && self.earlier.isEmpty }

    /// Takes out what waits first, if anything does.
    mutating func take() -> Waiting? {
        guard !self.isEmpty else { return nil }
        let taken = self.earlier.isEmpty ? self.takeNewest() : self.earlier.removeFirst()
        self.bytesUnderWay = taken.bytes
        self.bytes -= taken.bytes
        // What is left came before this was taken, and is due at once.
        self.isUrgent = !self.isEmpty
        return taken
    }

    private mutating func takeNewest() -> Waiting {
        var taken = self.spare ?? Waiting()
        self.spare = nil
        swap(&taken, &self.waiting)
        return taken
    }

    /// Counts what is appended next.
    private mutating func add(bytes: Int) {
        if self.waiting.bytes >= Self.urgentBytes {
            let whole = self.takeNewest()
            self.earlier.append(whole)
        }
        self.bytes += bytes
        self.waiting.bytes += bytes
    }

    /// Takes the memory of what was taken out and is written, emptied, for what comes next.
    mutating func takeBack(_ emptied: Waiting) {
        self.bytesUnderWay = 0
        self.spare = emptied
    }

    /// Appends a frame if there is room for it beside what waits; returns whether there was.
    mutating func append(
        _ frame: ByteBuffer,
        of dialect: FrameDialect,
        _ moment: Moment,
        _ numbers: RecordedNumbers,
        epoch: UInt64,
        atMost limit: Int
    ) -> Bool {
        let cost = frame.readableBytes + Self.entryBytes
        guard self.bytesUnderWay + self.bytes + cost <= limit else { return false }
        self.reportLeftOut()
        self.add(bytes: cost)
        self.waiting.frames.append(frame)
        self.waiting.entries.append(.frame(length: frame.readableBytes, dialect, moment, numbers, epoch: epoch))
        return true
    }

    /// Appends something else, which has so many bytes beside its own, likewise.
    mutating func append(_ entry: Entry, bytes: Int, atMost limit: Int) -> Bool {
        let cost = bytes + Self.entryBytes
        guard self.bytesUnderWay + self.bytes + cost <= limit else { return false }
        self.reportLeftOut()
        self.add(bytes: cost)
        self.waiting.entries.append(entry)
        return true
    }

    /// Leaves a frame out; returns whether that is news.
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
    mutating func reportLeftOut() {
        guard let leftOut else { return }
        self.leftOut = nil
        self.add(bytes: Self.entryBytes)
        self.waiting.entries.append(.leftOut(leftOut))
    }

    /// Whether the writer is to be woken: for the first that comes after a pause, and when much waits.
    mutating func wakes() -> Bool {
        if self.isAwaited, !self.isEmpty {
            self.isAwaited = false
            return true
        }
        guard !self.isUrgent, self.bytes >= Self.urgentBytes else { return false }
        self.isUrgent = true
        return true
    }

    /// Whether the writer may wait for a ring: nothing waits for it.
    mutating func await() -> Bool {
        self.isAwaited = self.isEmpty && !self.isFinished
        return self.isAwaited
    }
}
