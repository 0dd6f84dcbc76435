import HTTP
import NIOCore

/// The bound on how often an address may show wrong tokens; time is an argument.
///
/// Each address has a store of guesses that fills up again. Who has used it up is refused without a look at the token, or
/// guessing would go on. Only this machine's own programs, which are one address, are let in with the right one
/// (``TokenGate``).
struct GuessLimit {
    /// How many wrong tokens may come at once ...
    static let burst = 60
    /// ... and how long one of them takes to come back.
    static let interval: TimeAmount = .seconds(1)
    /// The most addresses that are remembered; 24 KiB.
    static let maximumAddresses = 1_024

    /// When each address will have its whole store again.
    private var fullAt: [PeerAddress: NIODeadline] = [:]

    /// How many addresses are remembered.
    var count: Int { self.fullAt.count }

    /// How long the address must wait for its next guess; `nil` when it need not.
    func wait(of address: PeerAddress, now: NIODeadline) -> TimeAmount? {
        guard let full = self.fullAt[address] else { return nil }
        let debt = full - now
        let most = TimeAmount.nanoseconds(Self.interval.nanoseconds * Int64(Self.burst - 1))
        return debt > most ? debt - most : nil
    }

    /// Notes that an address has shown a wrong token.
    mutating func wrong(from address: PeerAddress, now: NIODeadline) {
        if self.fullAt[address] == nil, self.fullAt.count >= Self.maximumAddresses { self.forget(now: now) }
        self.fullAt[address] = max(self.fullAt[address] ?? now, now) + Self.interval
    }

    /// Makes room: forgets those who have their store again, or else the half that has used least of it.
    private mutating func forget(now: NIODeadline) {
        self.fullAt = self.fullAt.filter { $0.value > now }
        guard self.fullAt.count >= Self.maximumAddresses else { return }
        let kept = self.fullAt.sorted { $0.value > $1.value }.prefix(Self.maximumAddresses / 2)
        self.fullAt = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
