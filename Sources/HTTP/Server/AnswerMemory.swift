import NIOConcurrencyHelpers

/// The memory that answers over HTTP take together, from the question to the last byte that has left the program.
///
/// An answer is held until its peer has read it, and a peer may take its time. So large answers have a limit together, and a
/// part of the whole that they cannot take: a question such as `/livez` is answered however many of them wait.
package final class AnswerMemory: Sendable {
    /// The most bytes of all answers.
    package static let mostBytes = 32 << 20
    /// The most bytes of large ones.
    package static let mostLargeBytes = 24 << 20
    /// The most bytes of an answer that is not large. Each answer has so many from the question on.
    package static let smallBytes = 64 << 10
    /// What one trade or one bar of an answer takes while that is made, in bytes: itself, and twice its text.
    private static let itemBytes = 384

    private let taken = NIOLockedValueBox(0)
    private let heap: HeapTrim?

    /// - Parameter heap: hears of what is free again.
    package init(heap: HeapTrim? = nil) { self.heap = heap }

    /// The bytes that are taken.
    package var bytes: Int { self.taken.withLockedValue { $0 } }

    /// Takes room for a small answer, which may become a large one; `nil` where there is none.
    package func take() -> Room? { self.change(0, to: Self.smallBytes) ? Room(of: self, bytes: Self.smallBytes) : nil }

    /// Changes what an answer takes, and returns whether there is room; what takes less always has it.
    private func change(_ before: Int, to bytes: Int) -> Bool {
        let most = bytes > Self.smallBytes ? Self.mostLargeBytes : Self.mostBytes
        return self.taken.withLockedValue { taken in
            guard bytes <= before || taken + bytes - before <= most else { return false }
            taken += bytes - before
            return true
        }
    }

    /// The memory of one answer, which is given back with the last reference to it.
    package final class Room: Sendable {
        private let memory: AnswerMemory
        private let bytes: NIOLockedValueBox<Int>

        fileprivate init(of memory: AnswerMemory, bytes: Int) {
            self.memory = memory
            self.bytes = NIOLockedValueBox(bytes)
        }

        deinit {
            let bytes = self.bytes.withLockedValue { $0 }
            self.memory.taken.withLockedValue { $0 -= bytes }
            self.memory.heap?.freed(bytes)
        }

        /// The answer takes so many bytes from now on.
        ///
        /// - Throws: ``HTTPServerFailure/answersTooLarge`` where there is no room.
        package func hold(_ bytes: Int) throws(HTTPServerFailure) {
            let hasRoom = self.bytes.withLockedValue { held in
                guard self.memory.change(held, to: bytes) else { return false }
                held = bytes
                return true
            }
            guard hasRoom else { throw .answersTooLarge }
        }

        /// The answer is about to be made of so many trades or bars.
        ///
        /// - Throws: ``HTTPServerFailure/answersTooLarge`` where there is no room.
        package func hold(items count: Int) throws(HTTPServerFailure) {
            try self.hold(max(AnswerMemory.smallBytes, count * AnswerMemory.itemBytes))
        }
    }
}
