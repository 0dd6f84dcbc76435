/// How far what was written to a peer has got, as far as this machine sees it.
///
/// A deadline for the peer's answer would say nothing while the question waits behind what a slow peer has not read: it moves
/// as long as bytes leave.
package struct Outflow: Sendable, Equatable {
    /// The bytes that the peer's machine has taken; where the kernel does not tell that, those that have left this program,
    /// of those that have waited in it.
    package var left: Int
    /// The bytes that wait: in this program, and in the kernel because the peer has no room for them.
    package var waiting: Int
    /// Whether the peer's machine answers, and who writes gives up a peer that takes nothing by a limit of its own.
    package var isWatched: Bool

    package init(left: Int = 0, waiting: Int = 0, isWatched: Bool = false) {
        self.left = left
        self.waiting = waiting
        self.isWatched = isWatched
    }

    /// Whether bytes have waited since an earlier moment and some of them have left: a peer that does not read soon takes
    /// none, and of one that keeps up none wait.
    func hasMoved(since earlier: Outflow) -> Bool {
        self.left > earlier.left && (self.waiting > 0 || earlier.waiting > 0)
    }
}

/// What is below a WebSocket's place in the pipeline, on its way to the peer.
package struct OutflowBelow: Sendable, Equatable {
    /// The bytes that wait there: held back by handlers (TLS), and in the kernel because the peer has no room for them.
    package var waiting: Int
    /// All bytes that the peer's machine has taken so far; nil where nobody tells.
    package var taken: Int?
    /// Whether the peer's machine answers, and who writes gives up a peer that takes nothing by a limit of its own.
    package var isWatched: Bool

    package init(waiting: Int, taken: Int? = nil, isWatched: Bool = false) {
        self.waiting = waiting
        self.taken = taken
        self.isWatched = isWatched
    }
}
