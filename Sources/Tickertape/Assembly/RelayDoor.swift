import Feeds
import Sinks
import NIOConcurrencyHelpers

/// The relay of a live program, which listens as soon as its address is free for it.
///
/// The program that holds the key listens at once. Another on the same address leaves that to it, and takes the address
/// over together with the key, so that clients find a relay where it always was.
final class RelayDoor: Sendable {
    /// How often to look whether the relay may listen by now; a takeover may take 2 s in all.
    private static let interval = Duration.milliseconds(250)

    /// After so many failures it is not a relay that is about to close.
    private static let patience = 8

    let relay: Relay
    /// Where it is to listen; port 0 takes any.
    let listen: Endpoint
    private let lock: KeyLock?
    private let opened = NIOLockedValueBox<Endpoint?>(nil)
    /// The file of the socket that it listens on, where it does not listen by TCP.
    private let file = NIOLockedValueBox<String?>(nil)
    /// Tells the person where the relay is; nobody where there is a picture.
    private let tell = NIOLockedValueBox<@Sendable (String) -> Void>({ _ in })

    init(relay: Relay, listen: Endpoint, lock: KeyLock?) {
        self.relay = relay
        self.listen = listen
        self.lock = lock
    }

    /// Where it listens, or will.
    var endpoint: Endpoint { self.opened.withLockedValue { $0 } ?? self.listen }

    /// Listens at once, unless another program holds the key.
    ///
    /// - Throws: ``OperatorError`` when the address cannot be used.
    func open() async throws {
        if let lock, case .others = lock.claim() { return }
        do {
            try await self.listenNow()
        } catch let error as RelayError {
            throw OperatorError(error.description, status: error.isAddressTaken ? .addressInUse : .configuration)
        }
    }

    /// Says where the relay is, now or when it listens.
    func announce(_ tell: @escaping @Sendable (String) -> Void) {
        self.tell.withLockedValue { $0 = tell }
        if let endpoint = self.opened.withLockedValue({ $0 }) { tell(self.words(for: endpoint)) }
    }

    private func words(for endpoint: Endpoint) -> String {
        if let file = self.file.withLockedValue({ $0 }) { return "the relay is on the socket \(file)" }
        return "the relay is on ws://\(endpoint)/ (Finnhub's protocol) and /v1/stream"
    }

    /// Listens as soon as it may, and returns then; for a task that is cancelled at the program's end.
    func openLater() async {
        guard let lock, self.opened.withLockedValue({ $0 == nil }) else { return }
        var told: String?
        var failures = 0
        while !Task.isCancelled {
            switch lock.claim() {
            case .others(let owner) where !self.mayListen(beside: owner):
                if case .at(let address)? = owner?.relay, let pid = owner?.pid {
                    let words = "the relay on \(address) is that of another tickertape (pid \(pid))"
                    if told != words { self.tell.withLockedValue { $0 }(words) }
                    told = words
                }
            case .mine, .others:
                do {
                    try await self.listenNow()
                    self.announce(self.tell.withLockedValue { $0 })
                    return
                } catch {
                    // The other program's relay, which is about to close, or somebody else's.
                    failures += 1
                    if failures == Self.patience { self.tell.withLockedValue { $0 }("warning: \(error)") }
                }
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Whether the address is another one than that of the program that holds the key.
    private func mayListen(beside owner: KeyOwner?) -> Bool {
        switch owner?.relay {
        case .unknown?, nil: false
        case .off?: true
        case .at(let address)?: self.listen.port == 0 || self.listen.port != address.port
        }
    }

    private func listenNow() async throws {
        let address = try await self.relay.start()
        let endpoint = Endpoint(host: self.listen.host, port: address.port ?? self.listen.port)
        let file = if case .unixDomainSocket = address { address.pathname } else { String?.none }
        self.file.withLockedValue { $0 = file }
        self.opened.withLockedValue { $0 = endpoint }
        // Programs with the same key find each other's relays by TCP.
        if file != nil { self.lock?.announce(.off) }
        guard file == nil else { return }
        self.lock?.announce(.at(UpstreamAddress(isEncrypted: false, host: endpoint.host, port: endpoint.port)))
    }
}
