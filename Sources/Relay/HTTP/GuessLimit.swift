import HTTP
import NIOCore

/// The rate limit of wrong tokens from one address, with time as an argument.
///
/// Each address has a budget of guesses that refills over time. Beyond it a request is refused without a check of the
/// token; otherwise guessing could go on. Only programs of this machine, which share one address, may still use the
/// right token (``TokenGate``).
struct GuessLimit {
    /// How many wrong tokens may come at once.
    static let burst = 60
    /// The time in which one guess is refilled.
    static let interval: TimeAmount = .seconds(1)
    /// The most addresses that are stored; 24 KiB.
    static let maximumAddresses = 1_024

    /// The time at which each address's budget is full again.
    private var fullAt: [PeerAddress: NIODeadline] = [:]

    /// The number of stored addresses.
    var count: Int { self.fullAt.count }

    /// Returns how long the address must wait for its next guess; `nil` if it need not.
    func wait(of address: PeerAddress, now: NIODeadline) -> TimeAmount? {
        guard let full = self.fullAt[address] else { return nil }
        let debt = full - now
        let most = TimeAmount.nanoseconds(Self.interval.nanoseconds * Int64(Self.burst - 1))
        return debt > most ? debt - most : nil
    }

    /// Counts a wrong token of an address.
    mutating func wrong(from address: PeerAddress, now: NIODeadline) {
        if self.fullAt[address] == nil, self.fullAt.count >= Self.maximumAddresses { self.forget(now: now) }
        self.fullAt[address] = max(self.fullAt[address] ?? now, now) + Self.interval
    }

    /// Removes the addresses with a full budget, or else the half with the fullest ones.
    private mutating func forget(now: NIODeadline) {
        self.fullAt = self.fullAt.filter { $0.value > now }
        guard self.fullAt.count >= Self.maximumAddresses else { return }
        let kept = self.fullAt.sorted { $0.value > $1.value }.prefix(Self.maximumAddresses / 2)
        self.fullAt = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
