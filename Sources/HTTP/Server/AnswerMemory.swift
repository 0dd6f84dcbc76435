import NIOConcurrencyHelpers

/// The memory of all HTTP responses of a server, each from its request to the last byte that has left the program.
///
/// A response occupies memory until its peer has read it, and a peer may read slowly. So large responses have a lower
/// limit, which leaves memory for small ones: a request such as `/livez` is answered while large responses wait.
package final class AnswerMemory: Sendable {
    /// The limit for all responses together, in bytes.
    package static let maximumBytes = 32 << 20
    /// The limit for all responses together while a large one grows, in bytes.
    package static let maximumLargeBytes = 24 << 20
    /// The largest small response, in bytes. Each response reserves this much from its request on.
    package static let smallBytes = 64 << 10
    /// The memory of one trade or bar while its response is built, in bytes: the value, and twice its text.
    private static let itemBytes = 384

    private let taken = NIOLockedValueBox(0)
    private let heap: HeapTrim?

    /// - Parameter heap: receives the number of released bytes.
    package init(heap: HeapTrim? = nil) { self.heap = heap }

    /// The number of reserved bytes.
    package var bytes: Int { self.taken.withLockedValue { $0 } }

    /// Reserves memory for a small response, which may become a large one; `nil` at the limit.
    package func take() -> Reservation? {
        self.change(0, to: Self.smallBytes) ? Reservation(of: self, bytes: Self.smallBytes) : nil
    }

    /// Changes the size of a reservation, and returns whether the limits allow it; a smaller size is always allowed.
    private func change(_ before: Int, to bytes: Int) -> Bool {
        let most = bytes > Self.smallBytes ? Self.maximumLargeBytes : Self.maximumBytes
        return self.taken.withLockedValue { taken in
            guard bytes <= before || taken + bytes - before <= most else { return false }
            taken += bytes - before
            return true
        }
    }

    /// The reservation of one response, which is released with the last reference to it.
    package final class Reservation: Sendable {
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

        /// Changes the reservation to this many bytes.
        ///
        /// - Throws: ``HTTPServerFailure/answersTooLarge`` at the limit.
        package func hold(_ bytes: Int) throws(HTTPServerFailure) {
            let hasRoom = self.bytes.withLockedValue { held in
                guard self.memory.change(held, to: bytes) else { return false }
                held = bytes
                return true
            }
            guard hasRoom else { throw .answersTooLarge }
        }

        /// Changes the reservation to the memory for this many trades or bars, before the response is built.
        ///
        /// - Throws: ``HTTPServerFailure/answersTooLarge`` at the limit.
        package func hold(items count: Int) throws(HTTPServerFailure) {
            try self.hold(max(AnswerMemory.smallBytes, count * AnswerMemory.itemBytes))
        }
    }
}
