/// How many of the messages written to a client still wait in this program, found from the bytes that do.
///
/// Bytes leave in the order in which they were written, so the count follows from marks of what had been written when. A
/// mark stands every few KiB; a message that has only partly left, and the others of its mark, count as waiting.
struct PendingMessages: Equatable {
    /// Bytes between two marks. The price of a mark is two words and a few instructions.
    private static let grain = 4 << 10

    private struct Mark: Equatable {
        /// All bytes and messages written up to here.
        var bytes: Int
        var messages: Int
    }

    private(set) var bytes = 0
    private var messages = 0
    /// The older ones first; those before `first` are of no use any more.
    private var marks: [Mark] = []
    private var first = 0

    init() {}

    /// Something was written.
    ///
    /// - Parameters:
    ///   - bytes: what all writes together have come to.
    ///   - atMost: the most of them that can ever wait.
    mutating func wrote(messages: Int, bytes: Int, atMost: Int) {
        self.messages += messages
        self.bytes = bytes
        if let last = self.marks.last, bytes - last.bytes < Self.grain { return }
        self.marks.append(Mark(bytes: bytes, messages: self.messages))
        self.forget(upTo: bytes - atMost)
    }

    /// How many messages wait when so many bytes do.
    mutating func count(waiting: Int) -> Int {
        guard waiting > 0 else { return 0 }
        let left = self.bytes - waiting
        self.forget(upTo: left)
        guard self.first < self.marks.count, self.marks[self.first].bytes <= left else { return self.messages }
        return self.messages - self.marks[self.first].messages
    }

    /// Drops the marks before the last one that is at or before that place.
    private mutating func forget(upTo place: Int) {
        while self.first + 1 < self.marks.count, self.marks[self.first + 1].bytes <= place { self.first += 1 }
        guard self.first > 32, self.first * 2 > self.marks.count else { return }
        self.marks.removeFirst(self.first)
        self.first = 0
    }
}
