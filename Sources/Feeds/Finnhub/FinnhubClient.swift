package import Ingest
import Market
import NIOCore
import TLS
import Wire

/// The client of Finnhub's protocol.
///
/// Finnhub's service and the relay of a program like this one speak the same protocol, so ``FinnhubFeed`` and
/// ``RelayFeed`` share one client in turn, and the tape continues.
package final class FinnhubClient: FeedClient {
    private(set) var key: Secret
    /// The keys of this run, whose connections may still say something; the newest ones.
    private var knownKeys: [Secret]
    private static let mostKnownKeys = 8
    /// The status of the program whose relay sends the trades, while it says more than the arriving trades.
    private var ownerStatus: FeedStatus?

    /// Creates the client and its input on a tape.
    package init(_ settings: FinnhubSettings, _ tape: TapeWriter, _ context: FeedContext) {
        self.key = settings.key
        self.knownKeys = [settings.key]
        super.init(settings.client, name: "Finnhub", repeats: settings.client.repeats, tape, context)
    }

    override var overruling: FeedStatus? { self.ownerStatus }

    override func makeDialect() -> any ConnectionDialect {
        FinnhubDialect(key: self.key, isReplay: self.settings.marks != nil)
    }

    override func redacted(_ text: String) -> String {
        self.knownKeys.reduce(text) { text, key in key.redacted(text) }
    }

    /// Notes a key that a connection is opened with.
    func learn(_ key: Secret) {
        self.knownKeys.removeAll { $0 == key }
        self.knownKeys.append(key)
        if self.knownKeys.count > Self.mostKnownKeys { self.knownKeys.removeFirst() }
    }

    /// Notes the key of later connections.
    func keyChanged(to key: Secret) {
        self.learn(key)
        self.key = key
    }

    /// Notes that another program's relay no longer sends the trades.
    func relayLeft() {
        self.applyStatus()
        self.input.statusChanged()
    }

    override var wordsForNoSymbol: String {
        "the service knows none of the symbols: check their spelling, such as BINANCE:BTCUSDT "
            + "(`tickertape config` lists them)"
    }

    override var wordsForNotPermitted: String {
        "the key's plan covers none of the symbols: ask for others (`tickertape config` lists them)"
    }

    // MARK: Another program's relay

    /// Notes through whose relay the trades come from now on; `nil` for the service itself.
    func relayChanged(_ via: String?) {
        // The owner of the key takes the steps for quiet symbols; a second program must not repeat them.
        self.watch.takesSteps = via == nil && self.settings.takesSteps
        self.ownerStatus = nil
        self.input.status.via = via
        self.input.status.certificateChecked = self.settings.certificateIsChecked
    }

    /// Takes the status of the program whose relay sends the trades; `nil` while it is unknown.
    func ownerStatusChanged(_ status: FeedStatus?) {
        self.ownerStatus = status.flatMap { $0.phase.overrules ? $0 : nil }
        let before = self.input.status
        self.input.status.certificateChecked = status?.certificateChecked ?? self.settings.certificateIsChecked
        // Without it, the connection is about to report its own next status.
        guard status != nil else { return }
        self.applyStatus()
        if self.input.status != before { self.input.statusChanged() }
    }
}

extension FeedStatus.Phase {
    /// Whether the owner's status says more than the trades that arrive through its relay.
    fileprivate var overrules: Bool {
        switch self {
        // A program that stops is about to be replaced by this one.
        case .waiting, .live, .stopped: false
        case .connecting, .late, .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol,
            .notPermitted, .ended:
            true
        }
    }
}
