import Market
import NIOCore
import Wire

/// The entries that wait to be written into a recording, in order. Its owner states the bound.
struct RecorderQueue {
    enum Entry {
        /// The bytes are in ``Waiting/frames``.
        case frame(length: Int, FrameDialect, Moment, RecordedNumbers, epoch: UInt64)
        case leftOut(LeftOut)
        case gap(Gap, Moment)
        // Indirect, because a note is rare and would make every entry four times as large.
        indirect case note(RecordedNote, Moment)
    }

    /// The entries of one write: about 1 MiB, so that the disk's progress soon frees buffer space.
    struct Waiting {
        /// The bytes that count towards the queue's bound.
        var bytes = 0
        var entries: [Entry] = []
        var frames = WaitingFrames()

        /// Removes everything, and keeps a usual amount of memory for reuse.
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

    /// Frames for which the queue had no space, with the arrivals of the first and the last.
    struct LeftOut {
        var count: UInt64 = 0
        var from: Int64
        var to: Int64
    }

    /// The cost of an entry beside its bytes.
    static let entryBytes = 96
    /// How many bytes may wait before the writer is woken at once.
    private static let urgentBytes = 1 << 20
    /// How long the disk must have kept up before another warning, ns.
    private static let quietInterval: Int64 = 60_000_000_000

    /// The most entries for which memory is kept after a write.
    private static let keptEntries = 8_192

    /// The loss that the file must report before the next frame.
    var leftOut: LeftOut?
    private var waiting = Waiting()
    /// The full parts before ``waiting``; empty while the disk keeps up.
    private var earlier: [Waiting] = []
    /// The memory of the last part written, for reuse.
    private var spare: Waiting?
    /// Bytes in the queue.
    private(set) var bytes = 0
    /// Bytes taken out and not written yet.
    private var bytesUnderWay = 0
    var dropped: UInt64 = 0
    /// Frames that the disk did not take, and those that may not survive a power cut, as of the last write.
    var failed: UInt64 = 0
    var doubted: UInt64 = 0
    /// The newest file and its length, bytes, and whether the disk took the last write.
    var newest: (path: String, bytes: UInt64, isTaken: Bool)?
    /// When a frame was last left out, monotonic ns.
    var lastLeftOut: Int64?
    /// Whether the writer was woken because much waits.
    var isUrgent = false
    /// Whether the writer waits to be woken for the first entry; otherwise it soon checks by itself.
    var isAwaited = false
    var isFinished = false

    var isEmpty: Bool { self.waiting.entries.isEmpty && self.earlier.isEmpty }

    /// Takes out the oldest part; `nil` where the queue is empty.
    mutating func take() -> Waiting? {
        guard !self.isEmpty else { return nil }
        let taken = self.earlier.isEmpty ? self.takeNewest() : self.earlier.removeFirst()
        self.bytesUnderWay = taken.bytes
        self.bytes -= taken.bytes
        // The rest is older than this call, and due at once.
        self.isUrgent = !self.isEmpty
        return taken
    }

    private mutating func takeNewest() -> Waiting {
        var taken = self.spare ?? Waiting()
        self.spare = nil
        swap(&taken, &self.waiting)
        return taken
    }

    /// Counts the next entry, and begins a new part where the current one is full.
    private mutating func add(bytes: Int) {
        if self.waiting.bytes >= Self.urgentBytes {
            let whole = self.takeNewest()
            self.earlier.append(whole)
        }
        self.bytes += bytes
        self.waiting.bytes += bytes
    }

    /// Takes back the emptied part, for reuse of its memory.
    mutating func takeBack(_ emptied: Waiting) {
        self.bytesUnderWay = 0
        self.spare = emptied
    }

    /// Appends a frame if the bound allows it; returns whether it did.
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

    /// Appends another entry, whose variable part has `bytes` bytes, under the same bound.
    mutating func append(_ entry: Entry, bytes: Int, atMost limit: Int) -> Bool {
        let cost = bytes + Self.entryBytes
        guard self.bytesUnderWay + self.bytes + cost <= limit else { return false }
        self.reportLeftOut()
        self.add(bytes: cost)
        self.waiting.entries.append(entry)
        return true
    }

    /// Leaves a frame out; returns whether a warning is due.
    mutating func leaveOut(received: Int64, monotonic: Int64) -> Bool {
        self.dropped += 1
        var leftOut = self.leftOut ?? LeftOut(from: received, to: received)
        leftOut.count += 1
        leftOut.to = received
        self.leftOut = leftOut
        defer { self.lastLeftOut = monotonic }
        return self.lastLeftOut.map { monotonic - $0 >= Self.quietInterval } ?? true
    }

    /// Puts the loss into its place in the queue.
    mutating func reportLeftOut() {
        guard let leftOut else { return }
        self.leftOut = nil
        self.add(bytes: Self.entryBytes)
        self.waiting.entries.append(.leftOut(leftOut))
    }

    /// Whether the writer is to be woken: for the first entry after a pause, and when much waits.
    mutating func wakes() -> Bool {
        if self.isAwaited, !self.isEmpty {
            self.isAwaited = false
            return true
        }
        guard !self.isUrgent, self.bytes >= Self.urgentBytes else { return false }
        self.isUrgent = true
        return true
    }

    /// Whether the writer may wait to be woken, because the queue is empty.
    mutating func await() -> Bool {
        self.isAwaited = self.isEmpty && !self.isFinished
        return self.isAwaited
    }
}
