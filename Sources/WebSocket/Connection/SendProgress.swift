/// The progress of written bytes towards a peer, as this host sees it.
///
/// While a question waits behind bytes that a slow peer has not read, a deadline for its answer says nothing. The
/// deadline therefore moves while bytes leave.
package struct SendProgress: Sendable, Equatable {
    /// The bytes that the peer's kernel has acknowledged. Where the kernel does not report them, the bytes that have
    /// left the queues of this program.
    package var left: Int
    /// The bytes that wait in this program, and in the kernel because the peer has no buffer space for them.
    package var waiting: Int
    /// Whether the peer's kernel answers, and the writer has its own time limit for a peer that takes nothing.
    package var isWatched: Bool

    package init(left: Int = 0, waiting: Int = 0, isWatched: Bool = false) {
        self.left = left
        self.waiting = waiting
        self.isWatched = isWatched
    }

    /// Whether bytes have waited since an earlier moment and some of them have left. A peer that does not read soon
    /// takes none, and for a peer that keeps up none wait.
    func hasMoved(since earlier: SendProgress) -> Bool {
        self.left > earlier.left && (self.waiting > 0 || earlier.waiting > 0)
    }
}

/// The state of the layers below the WebSocket handlers on the way to the peer.
package struct TransportProgress: Sendable, Equatable {
    /// The bytes that wait there: held back by handlers (TLS), and in the kernel because the peer has no buffer space.
    package var waiting: Int
    /// All bytes that the peer's kernel has acknowledged; `nil` where the kernel does not report them.
    package var taken: Int?
    /// Whether the peer's kernel answers, and the writer has its own time limit for a peer that takes nothing.
    package var isWatched: Bool

    package init(waiting: Int, taken: Int? = nil, isWatched: Bool = false) {
        self.waiting = waiting
        self.taken = taken
        self.isWatched = isWatched
    }
}
