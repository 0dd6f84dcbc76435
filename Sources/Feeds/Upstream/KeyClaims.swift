import NIOCore

/// The lock of a key as the feed has it: asked and answered on the loop, while the disk is waited for elsewhere, and not for
/// ever.
///
/// Where the disk does not answer within ``limit`` the key is whose it was, after one line that says what that costs; what the
/// disk says later counts from then on. Belongs to one event loop.
final class KeyClaims {
    /// How long a disk is waited for before an attempt.
    static let limit: TimeAmount = .seconds(2)
    /// How long the end waits for the attempts, and then for the lock; a takeover may take 2 s in all.
    static let closeLimit: TimeAmount = .milliseconds(500)

    private let ownership: any KeyOwnership
    private let holding: KeyHolding
    private let loop: any EventLoop
    private let warning: WarnOnce
    /// What the lock said last.
    private var newest: KeyClaim?
    private var claims = DiskQuestions<KeyClaim>()

    init(_ ownership: any KeyOwnership, _ holding: KeyHolding, loop: any EventLoop) {
        self.ownership = ownership
        self.holding = holding
        self.loop = loop
        self.warning = WarnOnce(holding.warn)
    }

    /// Whether the lock's disk is being waited for.
    var isClaiming: Bool { self.claims.isAsking }

    /// Takes the key if it is free, and says whose it is; where the disk does not say, it is as it was.
    func claim(_ then: @escaping (KeyClaim) -> Void) {
        self.claims.add(then, on: self.loop, within: Self.limit) {
            self.warning.notify(
                "a second tickertape with this key may not be noticed: the disk of the lock has not answered for "
                    + "\(Self.limit.nanoseconds / 1_000_000_000) s (state.runtime-directory)"
            )
            return self.newest ?? .mine
        }
        guard self.claims.begin() else { return }
        let ownership = self.ownership
        self.holding.lockDisk.perform(on: self.loop, { ownership.claim() }) { claim in
            self.newest = claim
            self.claims.end(claim)
        }
    }

    /// Gives the key up.
    func release(_ then: @escaping () -> Void) {
        let releases = DiskQuestions<Void>()
        releases.add({ _ in then() }, on: self.loop, within: Self.closeLimit) { () }
        let isUnderWay = releases.begin()
        precondition(isUnderWay)
        let ownership = self.ownership
        self.holding.lockDisk.perform(on: self.loop, { ownership.release() }) { releases.end(()) }
    }
}
