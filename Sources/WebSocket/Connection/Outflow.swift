/// How far what was written to a peer has got, as far as this program sees it.
///
/// A deadline for the peer's answer would say nothing while the question waits behind what a slow peer has not read: it moves
/// as long as bytes leave.
package struct Outflow: Sendable, Equatable {
    /// The bytes that have left this program, of those that have waited in it.
    package var left: Int
    /// The bytes that wait in it.
    package var waiting: Int

    package init(left: Int = 0, waiting: Int = 0) {
        self.left = left
        self.waiting = waiting
    }

    /// Whether bytes have waited since an earlier moment and some of them have left: a peer that does not read soon takes
    /// none, and of one that keeps up none wait.
    func hasMoved(since earlier: Outflow) -> Bool {
        self.left > earlier.left && (self.waiting > 0 || earlier.waiting > 0)
    }
}
