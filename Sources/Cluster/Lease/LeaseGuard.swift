/// The answer to: may this program read from the upstream, and publish, now?
///
/// It is asked before each read and each publish, not once a turn of the loop: a program that was stopped goes on in
/// the middle of one. An old copy only forbids earlier.
package struct LeaseGuard: Sendable, Equatable {
    /// ns of `CLOCK_BOOTTIME`, from which on nothing is allowed.
    package let until: Int64

    package init(until: Int64) { self.until = until }

    /// The guard of a program that holds nothing.
    package static let closed = LeaseGuard(until: .min)

    /// Returns whether a read or a publish may begin.
    ///
    /// - Parameter boottime: the present `CLOCK_BOOTTIME`, ns; read after all that the act needs is ready.
    package func allows(at boottime: Int64) -> Bool { boottime < self.until }
}

/// The right to open the upstream and to publish.
package struct LeaseGrant: Sendable, Equatable {
    /// The epoch of all that is published.
    package let epoch: UInt64
    package let guarding: LeaseGuard

    package init(epoch: UInt64, guarding: LeaseGuard) {
        self.epoch = epoch
        self.guarding = guarding
    }
}
