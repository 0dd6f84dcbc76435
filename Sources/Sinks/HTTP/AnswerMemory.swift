import Synchronization

/// The memory that answers over HTTP take together, from the question to the last byte that has left the program.
///
/// An answer is held until its peer has read it, and a peer may take its time. So large answers have a limit together, and a
/// part of the whole that they cannot take: a question such as `/livez` is answered however many of them wait.
final class AnswerMemory: Sendable {
    /// The most bytes of all answers.
    static let mostBytes = 32 << 20
    /// The most bytes of large ones.
    static let mostLargeBytes = 24 << 20
    /// The most bytes of an answer that is not large.
    static let smallBytes = 64 << 10

    private let taken = Mutex(0)
    private let heap: HeapTrim?

    /// - Parameter heap: hears of what is free again.
    init(heap: HeapTrim? = nil) { self.heap = heap }

    /// The bytes that are taken.
    var bytes: Int { self.taken.withLock { $0 } }

    /// Takes room for an answer; `nil` where there is none.
    ///
    /// - Parameter bytes: what it takes at most.
    func take(_ bytes: Int) -> Room? {
        let most = bytes > Self.smallBytes ? Self.mostLargeBytes : Self.mostBytes
        let hasRoom = self.taken.withLock { taken in
            guard taken + bytes <= most else { return false }
            taken += bytes
            return true
        }
        return hasRoom ? Room(of: self, bytes: bytes) : nil
    }

    /// The memory of one answer, which is given back with the last reference to it.
    final class Room: Sendable {
        private let memory: AnswerMemory
        private let bytes: Mutex<Int>

        fileprivate init(of memory: AnswerMemory, bytes: Int) {
            self.memory = memory
            self.bytes = Mutex(bytes)
        }

        deinit {
            let bytes = self.bytes.withLock { $0 }
            self.memory.taken.withLock { $0 -= bytes }
            self.memory.heap?.freed(bytes)
        }

        /// The answer is made, and takes so many bytes from now on.
        func shrink(to bytes: Int) {
            let before = self.bytes.withLock { before in
                defer { before = bytes }
                return before
            }
            self.memory.taken.withLock { $0 += bytes - before }
        }
    }
}
