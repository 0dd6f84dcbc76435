/// The count of messages that still wait for a client in this program, derived from the number of waiting bytes.
///
/// Bytes leave in the order in which they were written, so the count follows from marks of the written totals. There is
/// one mark every few KiB. A message that has left partly, and the other messages of its mark, count as waiting.
struct PendingMessages: Equatable {
    /// Bytes between two marks. A mark costs two words and a few instructions.
    private static let grain = 4 << 10

    private struct Mark: Equatable {
        /// The totals of bytes and messages written up to here.
        var bytes: Int
        var messages: Int
    }

    private(set) var bytes = 0
    private var messages = 0
    /// The oldest first; those before `first` are no longer needed.
    private var marks: [Mark] = []
    private var first = 0

    init() {}

    /// Counts messages that were written.
    ///
    /// - Parameters:
    ///   - bytes: the total of bytes of all writes.
    ///   - atMost: the largest number of bytes that can ever wait.
    mutating func wrote(messages: Int, bytes: Int, atMost: Int) {
        self.messages += messages
        self.bytes = bytes
        if let last = self.marks.last, bytes - last.bytes < Self.grain { return }
        self.marks.append(Mark(bytes: bytes, messages: self.messages))
        self.forget(upTo: bytes - atMost)
    }

    /// Returns how many messages the given number of waiting bytes makes up.
    mutating func count(waiting: Int) -> Int {
        guard waiting > 0 else { return 0 }
        let left = self.bytes - waiting
        self.forget(upTo: left)
        guard self.first < self.marks.count, self.marks[self.first].bytes <= left else { return self.messages }
        return self.messages - self.marks[self.first].messages
    }

    /// Drops the marks before the last one that is at or before a place.
    private mutating func forget(upTo place: Int) {
        while self.first + 1 < self.marks.count, self.marks[self.first + 1].bytes <= place { self.first += 1 }
        guard self.first > 32, self.first * 2 > self.marks.count else { return }
        self.marks.removeFirst(self.first)
        self.first = 0
    }
}
