import NIOCore

/// The lock of a key, as the feed uses it: questions and answers stay on the loop, the disk works elsewhere, and no
/// wait for it is unlimited.
///
/// If the disk does not answer within ``limit``, the last known owner stands, after one warning that names the
/// consequence. A late answer counts from then on. Belongs to one event loop.
final class KeyClaims {
    /// The longest wait for a disk before an attempt.
    static let limit: TimeAmount = .seconds(2)
    /// The longest wait at the end, first for the attempts and then for the lock. A takeover may take 2 s in all.
    static let closeLimit: TimeAmount = .milliseconds(500)

    private let ownership: any KeyOwnership
    private let holding: KeyHolding
    private let loop: any EventLoop
    private let warning: WarnOnce
    /// The newest answer of the lock.
    private var newest: KeyClaim?
    private var claims = DiskQuestions<KeyClaim>()

    init(_ holding: KeyHolding, loop: any EventLoop) {
        self.ownership = holding.ownership ?? UnsharedKey()
        self.holding = holding
        self.loop = loop
        self.warning = WarnOnce(holding.warn)
    }

    /// Whether the disk of the lock is being asked.
    var isClaiming: Bool { self.claims.isAsking }

    /// Takes the key if it is free, and answers with its owner. If the disk does not answer in time, the last answer
    /// stands, and before any answer `unknown`.
    func claim(unknown: KeyClaim = .mine, _ then: @escaping (KeyClaim) -> Void) {
        self.claims.add(then, on: self.loop, within: Self.limit) {
            self.warning.notify(
                "a second tickertape with this key may not be noticed: the disk of the lock has not answered for "
                    + "\(Self.limit.nanoseconds / 1_000_000_000) s (state.runtime-directory)"
            )
            return self.newest ?? unknown
        }
        guard self.claims.begin() else { return }
        let ownership = self.ownership
        self.holding.lockDisk.perform(on: self.loop, { ownership.claim() }) { claim in
            self.newest = claim
            self.claims.end(claim)
        }
    }

    /// Releases the key; calls `then` afterwards, or when ``closeLimit`` has passed.
    func release(_ then: @escaping () -> Void) {
        let releases = DiskQuestions<Void>()
        releases.add({ _ in then() }, on: self.loop, within: Self.closeLimit) { () }
        let isUnderWay = releases.begin()
        precondition(isUnderWay)
        let ownership = self.ownership
        self.holding.lockDisk.perform(on: self.loop, { ownership.release() }) { releases.end(()) }
    }
}

/// The ownership of a key for which there is no lock.
package struct UnsharedKey: KeyOwnership {
    package init() {}

    package func claim() -> KeyClaim { .mine }

    package func release() {}
}
